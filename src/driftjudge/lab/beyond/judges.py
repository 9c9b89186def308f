"""Judges that do not repeat themselves: what each answers when asked once more about some items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
Scores = NDArray[np.float64]


class Judge(Protocol):
    """Every call is a fresh draw from the judge's own law."""

    def answers(self, rows: Rows, rng: np.random.Generator) -> Scores:
        """Its scores on these items, n x R; NaN where it gives none."""


@dataclass(frozen=True, eq=False)
class Noisy:
    """A judge known by one answer per item: asked again, a score moves one grid step with probability `noise`."""

    scores: Scores
    noise: float
    step: float

    def answers(self, rows: Rows, rng: np.random.Generator) -> Scores:
        """Its scores on these items, n x R."""
        scores = self.scores[rows]
        if self.noise == 0.0:
            return scores
        moves = rng.random(scores.shape) < self.noise
        step = np.where(rng.random(scores.shape) < 0.5, -self.step, self.step)
        return np.clip(np.where(moves, scores + step, scores), 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Calls:
    """A judge known by repeated real calls: asked again, it gives one of them."""

    calls: Scores
    """Items x calls x R."""

    def answers(self, rows: Rows, rng: np.random.Generator) -> Scores:
        """Its scores on these items, n x R; NaN where that call failed."""
        chosen: Scores = self.calls[rows, rng.integers(self.calls.shape[1], size=len(rows))]
        return chosen


@dataclass(frozen=True, eq=False)
class Partly:
    """One judge on some items and another on the rest: a change confined to a part of the stream."""

    moved: NDArray[np.bool_]
    there: Judge
    elsewhere: Judge

    def answers(self, rows: Rows, rng: np.random.Generator) -> Scores:
        """The scores of whoever judges each item."""
        return np.where(self.moved[rows, None], self.there.answers(rows, rng), self.elsewhere.answers(rows, rng))


@dataclass(frozen=True, eq=False)
class Failing:
    """A judge that gives no score at all more often where its score would be low."""

    judge: Judge
    low: float
    """An item whose first rubric scores at or below this is bad."""
    on_bad: float
    otherwise: float

    def answers(self, rows: Rows, rng: np.random.Generator) -> Scores:
        """Its scores; all rubrics of an item fail together."""
        scores = self.judge.answers(rows, rng)
        rate = np.where(scores[:, 0] <= self.low, self.on_bad, self.otherwise)
        return np.where((rng.random(len(rows)) < rate)[:, None], np.nan, scores)
