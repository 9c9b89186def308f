"""Rubrics and the scale they are scored on: what a structured answer must look like."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from driftjudge.judges.errors import RubricError

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
MOST_RUBRICS = 64
MOST_LEVELS = 101
"""An integer scale with more levels is a continuous one in disguise."""


@dataclass(frozen=True)
class Rubric:
    """One thing that is scored; its text, if any, is shown to the judge and part of its fingerprint."""

    name: str
    text: str = ""

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            fixed = re.sub(r"\W+", "_", self.name, flags=re.ASCII).strip("_")[:64]
            hint = f"; call it '{fixed}'" if NAME.fullmatch(fixed) else ""
            raise RubricError(
                f"The rubric name {self.name!r} cannot be a field of a JSON answer: use letters, digits and _, "
                "starting "
                f"with a letter, at most 64 of them{hint}."
            )


def as_rubrics(given: Iterable[str | Rubric] | Mapping[str, str]) -> tuple[Rubric, ...]:
    """Rubrics from names, from a mapping of name to text, or as they are.

    >>> as_rubrics({"tone": "friendly, not servile"})
    (Rubric(name='tone', text='friendly, not servile'),)
    """
    if isinstance(given, Mapping):
        rubrics = tuple(Rubric(str(name), str(text)) for name, text in given.items())
    else:
        rubrics = tuple(one if isinstance(one, Rubric) else Rubric(one) for one in given)
    if not 1 <= len(rubrics) <= MOST_RUBRICS:
        raise RubricError(f"A judge scores 1 to {MOST_RUBRICS} rubrics, got {len(rubrics)}; name what to score.")
    names = [rubric.name for rubric in rubrics]
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise RubricError(f"The rubric '{doubled}' is named twice; remove one.")
    return rubrics


@dataclass(frozen=True)
class Scale:
    """The numbers a judge answers with, and their place in [0, 1].

    >>> Scale(0, 4).to_unit(3)
    0.75
    """

    low: float = 0
    high: float = 4
    integer: bool = True
    """False for any number between the ends."""

    def __post_init__(self) -> None:
        if not (float("-inf") < self.low < self.high < float("inf")):
            raise RubricError(f"A scale runs from a lower to a higher number, got {self.low} to {self.high}.")
        if self.integer and (self.low != int(self.low) or self.high != int(self.high)):
            raise RubricError(f"An integer scale has whole ends, got {self.low} to {self.high}; set integer = false.")
        if self.integer and self.high - self.low >= MOST_LEVELS:
            raise RubricError(f"An integer scale has at most {MOST_LEVELS} levels; set integer = false for {self}.")

    def __str__(self) -> str:
        return f"{self.low:g}-{self.high:g}" + ("" if self.integer else " (any number)")

    @property
    def levels(self) -> tuple[int, ...]:
        """The whole numbers of an integer scale; nothing for a continuous one."""
        return tuple(range(int(self.low), int(self.high) + 1)) if self.integer else ()

    def holds(self, value: float) -> bool:
        """Whether a judge may answer this."""
        return self.low <= value <= self.high and (not self.integer or value == int(value))

    def to_unit(self, value: float) -> float:
        """The place of a value in [0, 1]."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def answer_schema(rubrics: Sequence[Rubric], scale: Scale) -> dict[str, object]:
    """The JSON schema of an answer: one required number per rubric and nothing else.

    Written by hand rather than derived from a model class: a class would warn about rubrics called `json` or `copy`,
    and we check answers ourselves, because a number off the scale and a missing rubric are different failures.
    """
    value: dict[str, object] = (
        {"type": "integer", "enum": list(scale.levels)}
        if scale.integer
        else {"type": "number", "minimum": scale.low, "maximum": scale.high}
    )
    return {
        "type": "object",
        "properties": {rubric.name: dict(value) for rubric in rubrics},
        "required": [rubric.name for rubric in rubrics],
        "additionalProperties": False,
    }
