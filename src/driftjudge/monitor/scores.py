"""Scores as they come in: one number of [0, 1] per rubric, or a failure. `unscored` is a state, never a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftjudge.monitor.errors import ScoreError

Reason = Literal["transport", "refusal", "unparsable", "out_of_range"]


@dataclass(frozen=True)
class Failure:
    """A judge call that gave no scores.

    `transport` (timeout, 429, 5xx) says nothing about the judge: an anchor re-score is asked for again. The others
    are behaviour: they count against the judge's fingerprint. On a stream item every failure counts as the best
    score, which can cost power and never validity.
    """

    reason: Reason
    detail: str = ""

    def __post_init__(self) -> None:
        """Refuse a reason nobody would know how to treat."""
        if self.reason not in ("transport", "refusal", "unparsable", "out_of_range"):
            raise ScoreError(
                f"a failure's reason is 'transport', 'refusal', 'unparsable' or 'out_of_range', got {self.reason!r}"
            )


Scores = Sequence[float] | NDArray[np.float64] | Failure
"""What a judge answers for one item: a score per rubric in order, or a failure."""


def score_row(
    scores: Scores, rubrics: tuple[str, ...], what: str, whose: str | None = None
) -> NDArray[np.float64] | None:
    """The scores as a checked row, or None for a failure."""
    row: NDArray[np.float64] = np.empty(len(rubrics))
    if not fill_row(row, scores, rubrics, what, whose):
        return None
    values = row.tolist()
    for value in values:
        if not 0.0 <= value <= 1.0:
            raise ScoreError(refusal_of(value, rubrics[values.index(value)], _named(what, whose)))
    return row


def fill_row(
    row: NDArray[np.float64], scores: Scores, rubrics: tuple[str, ...], what: str, whose: str | None = None
) -> bool:
    """Put the scores into `row`, their range unchecked; False, and NaN in the row, for a failure."""
    if isinstance(scores, Failure):
        row[:] = np.nan
        return False
    if not hasattr(scores, "__len__"):
        raise ScoreError(
            f"{_named(what, whose)}: scores come as numbers for the {len(rubrics)} rubrics {', '.join(rubrics)}, so "
            f"give one each, in that order, got {scores!r}"
        )
    if len(scores) != len(row):
        raise ScoreError(
            f"{_named(what, whose)}: {len(scores)} scores for the {len(rubrics)} rubrics {', '.join(rubrics)}; "
            "give one each, in that order"
        )
    try:
        row[:] = scores
    except (TypeError, ValueError) as error:
        raise ScoreError(f"{_named(what, whose)}: scores are numbers in rubric order, got {scores!r}") from error
    return True


def _named(what: str, whose: str | None) -> str:
    return what if whose is None else f"{what} {whose!r}"


def refusal_of(value: float, rubric: str, what: str) -> str:
    """The sentence for a number that is not a score."""
    if np.isnan(value):
        return f"{what}: the score for {rubric!r} is NaN; if the judge did not answer, pass a Failure instead"
    return f"{what}: the score for {rubric!r} is {value:g}, outside [0, 1]; map your scale to [0, 1] first"


def score_matrix(scores: ArrayLike, rubrics: int, what: str, *, unscored: bool = False) -> NDArray[np.float64]:
    """A checked n x R matrix; with `unscored`, NaN marks what was not scored."""
    try:
        matrix = np.array(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ScoreError(f"{what}: expected a table of numbers, one row per item and one column per rubric") from error
    if matrix.ndim != 2 or matrix.shape[1] != rubrics or len(matrix) == 0:
        raise ScoreError(f"{what}: expected at least one row of {rubrics} scores, got the shape {matrix.shape}")
    bad = ~((matrix >= 0.0) & (matrix <= 1.0))
    if unscored:
        bad &= ~np.isnan(matrix)
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        value = matrix[row, column]
        raise ScoreError(
            f"{what}: row {row}, column {column} is {value:g}; scores lie in [0, 1], so map your scale first"
        )
    return matrix
