"""A monitor's statistics, as they travel: derived from `MonitorConfig`, so that there is one list of settings."""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import fields
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import Field, create_model

from driftjudge.monitor.config import MonitorConfig
from driftjudge.service.wire.shapes import Name, Taken

MOST_RUBRICS = 200
MOST_STRATA = 1_000
MOST_GRID = 32
"""Entries of any other list among the settings."""
LARGEST = 1e15


class ConfigStem(Taken):
    """The statistics of a monitor, fixed for its life. What is left out takes the preset's value."""

    rubrics: list[Name] = Field(
        min_length=1,
        max_length=MOST_RUBRICS,
        description="What is scored; scores come in this order.",
        examples=[["helpfulness", "correctness"]],
    )
    strata: list[Name] = Field(
        min_length=1,
        max_length=MOST_STRATA,
        description="The segments of the stream that are watched one by one.",
        examples=[["coding", "creative"]],
    )

    def settings(self) -> dict[str, Any]:
        """What was given, for `MonitorConfig.from_json`."""
        return self.model_dump(exclude_none=True)


@cache
def descriptions() -> dict[str, str]:
    """What the source says below each field of `MonitorConfig`."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(MonitorConfig))).body[0]
    assert isinstance(tree, ast.ClassDef)
    found: dict[str, str] = {}
    for field, below in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            found[field.target.id] = " ".join(str(ast.literal_eval(below.value)).split())
    return found


def _wire_type(hint: Any) -> Any:
    """The type as JSON has it: lists for tuples, bounded numbers."""
    if get_origin(hint) is Literal:
        return hint
    if get_origin(hint) in (Union, UnionType):
        return Union[tuple(_wire_type(part) for part in get_args(hint))]  # noqa: UP007
    if get_origin(hint) is tuple:
        return Annotated[list[_wire_type(get_args(hint)[0])], Field(min_length=1, max_length=MOST_GRID)]  # type: ignore[misc]
    if hint is float:
        return Annotated[float, Field(ge=0.0, le=LARGEST)]
    if hint is int:
        return Annotated[int, Field(ge=0, le=2**63 - 1)]
    return hint


def _optional_settings() -> dict[str, Any]:
    hints = get_type_hints(MonitorConfig)
    told = descriptions()
    return {
        field.name: (_wire_type(hints[field.name]) | None, Field(default=None, description=told.get(field.name)))
        for field in fields(MonitorConfig)
        if field.name not in ConfigStem.model_fields
    }


if TYPE_CHECKING:
    ConfigShape = ConfigStem
else:
    ConfigShape = create_model(
        "ConfigShape", __base__=ConfigStem, __doc__=ConfigStem.__doc__, __module__=__name__, **_optional_settings()
    )
