"""From what a model wrote to scores, or to the reason why there are none.

A number off the scale and an answer without a rubric are different failures, which a schema library would report as
one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from driftjudge.judges.rubrics import Rubric, Scale
from driftjudge.monitor.scores import Failure

LONGEST_REPLY = 100_000
_FENCED = re.compile(r"```(?:json)?\s*(\{.*\})\s*```", re.DOTALL)
_SHOWN = 80


class _AmbiguousError(ValueError):
    pass


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _AmbiguousError
    return found


def _no_number(name: str) -> float:
    raise ValueError(name)


def read_answer(text: str, rubrics: Sequence[Rubric], scale: Scale) -> tuple[float, ...] | Failure:
    """The numbers a model gave, on its scale and in rubric order.

    >>> read_answer('{"tone": 3}', [Rubric("tone")], Scale(0, 4))
    (3.0,)
    >>> read_answer('{"tone": 7}', [Rubric("tone")], Scale(0, 4)).reason
    'out_of_range'
    """
    if len(text) > LONGEST_REPLY:
        return Failure("unparsable", f"a reply of {len(text)} characters")
    body = text.strip()
    if (fenced := _FENCED.fullmatch(body)) is not None:
        body = fenced[1]
    try:
        found = json.loads(body, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return Failure("unparsable", f"no JSON object: {shown(text)}")
    if not isinstance(found, dict):
        return Failure("unparsable", f"no JSON object: {shown(text)}")
    values: list[float] = []
    for rubric in rubrics:
        value = found.get(rubric.name)
        if rubric.name not in found:
            return Failure("unparsable", f"no score for '{rubric.name}'")
        if isinstance(value, bool) or not isinstance(value, int | float):
            return Failure("unparsable", f"no number for '{rubric.name}': {shown(repr(value))}")
        if not scale.holds(value):
            return Failure("out_of_range", f"'{rubric.name}' is {shown(repr(value))}, not on the scale {scale}")
        values.append(float(value))
    return tuple(values)


def shown(text: str) -> str:
    """The beginning of a text, on one line, for an error message."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
