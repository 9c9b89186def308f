"""What all shapes share: strictness, and the limits on names, numbers and texts."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Annotated, Literal, overload

from pydantic import BaseModel, ConfigDict, Field

from driftjudge.service.values import LONGEST_ID, LONGEST_NAME, MOST_FIELDS, MOST_TEXT

NO_NUL = r"^[^\x00]*$"
NO_CONTROLS = r"^[^\x00-\x1f\x7f]+$"

MonitorName = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
        max_length=LONGEST_NAME,
        description="Letters, digits, dots, dashes and underscores, at most 100.",
        examples=["support-bot"],
    ),
]
Id = Annotated[
    str,
    Field(min_length=1, max_length=LONGEST_ID, pattern=NO_CONTROLS, description="Yours; at most 255 characters."),
]
Name = Annotated[str, Field(min_length=1, max_length=120, pattern=NO_CONTROLS)]
Line = Annotated[str, Field(max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")]
Text = Annotated[str, Field(max_length=MOST_TEXT, pattern=NO_NUL)]
Score = Annotated[float, Field(ge=0.0, le=1.0, description="A score, mapped to [0, 1].")]
Count = Annotated[int, Field(ge=0, le=2**53)]

Texts = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$")], Text],
    Field(
        min_length=1,
        max_length=MOST_FIELDS,
        description="Named texts for a judge, for example prompt and response.",
        examples=[{"prompt": "How do I undo a commit?", "response": "Use git revert."}],
    ),
]


class Taken(BaseModel):
    """A shape the service takes in: unknown fields and other types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Given(BaseModel):
    """A shape the service gives out; a client ignores fields it does not know yet."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class FailureShape(Taken):
    """A judge call that gave no scores. `unscored` is a state, never a score."""

    failure: Literal["transport", "refusal", "unparsable", "out_of_range"] = Field(
        description="transport: the call failed; the others are the judge's own behaviour."
    )
    detail: Line = Field(default="", description="For people; no secrets here.")


Scores = Annotated[
    Annotated[list[Score], Field(min_length=1, max_length=200)]
    | FailureShape
    | Annotated[dict[Name, Score], Field(min_length=1, max_length=200)],
    Field(
        union_mode="left_to_right",
        description="Scores in rubric order, or by rubric name, or a failure.",
        examples=[[0.75, 1.0], {"helpfulness": 0.75, "correctness": 1.0}, {"failure": "refusal"}],
    ),
]


class ProblemShape(Given):
    """Every error looks like this (RFC 9457)."""

    type: str = Field(examples=["urn:driftjudge:problem:conflict"])
    title: str
    status: int
    detail: str = Field(description="One sentence: what was wrong and what to do.")
    errors: list[dict[str, str]] | None = Field(default=None, description="Where a request has several faults.")
    incident: str | None = Field(default=None, description="Stands in the service's log too, where the fault is ours.")


@overload
def moment(at: float) -> datetime: ...
@overload
def moment(at: float | None) -> datetime | None: ...
def moment(at: float | None) -> datetime | None:
    """Seconds since the epoch as a moment in UTC."""
    return None if at is None else datetime.fromtimestamp(at, UTC)


def finite(value: float) -> float | None:
    """The number, or None where there is none yet: JSON has no NaN.

    >>> finite(0.5), finite(float("nan"))
    (0.5, None)
    """
    return value if math.isfinite(value) else None


def dumped(shape: BaseModel) -> str:
    """The shape as JSON text, without the fields that say nothing."""
    return shape.model_dump_json(exclude_none=True)
