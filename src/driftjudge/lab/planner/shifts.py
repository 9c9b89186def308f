"""Scores whose mean moves by a wanted amount, and that stay scores the judge could have given."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST_LEVELS = 25
"""Scores with more distinct values than this are continuous, as in the anchors' baseline."""
CONTINUOUS_STEP = 0.25
"""How far a continuous score moves when its judge changes its mind. A small shift of every score would be easier to
see on the anchors than the same mean shift of a few."""
CONTINUOUS_NOISE = 0.05
"""How far a continuous score moves when a judge that repeats itself badly is asked again."""


@dataclass(frozen=True)
class Move:
    """What happens to the scores of one rubric.

    Every score moves `steps` levels of its grid, and a share of the items one level more: a judge that gave 0, 1, 2, 3
    and 4 still does. Continuous scores move by `CONTINUOUS_STEP` instead. All stop at the ends of the scale.
    """

    sign: int
    levels: NDArray[np.float64]
    """What the judge gives; empty for continuous scores."""
    steps: int
    share: float
    mean_shift: float
    """What the mean really moves by: the wanted shift, or less where the scale ends."""

    def apply(self, scores: NDArray[np.float64], lots: NDArray[np.float64]) -> NDArray[np.float64]:
        """The moved scores; `lots` are uniform numbers that decide which items move further."""
        further = self.steps + (lots < self.share)
        return _stepped(self.levels, scores, self.sign * further)


def move_of(population: NDArray[np.float64], by: float) -> Move:
    """The move that shifts the population's mean by `by`.

    >>> scores = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    >>> move = move_of(scores, -0.1)
    >>> move.steps, round(move.share, 3), round(move.mean_shift, 3)
    (0, 0.5, -0.1)
    >>> move.apply(np.array([0.5, 0.5]), np.array([0.2, 0.8])).tolist()
    [0.25, 0.5]
    """
    sign, wanted = (1 if by > 0 else -1), abs(by)
    levels = np.unique(population.round(9))
    most = len(levels)
    if most > MOST_LEVELS:
        levels, most = np.empty(0), math.ceil(1.0 / CONTINUOUS_STEP) + 1
    reach = [abs(float(np.mean(_stepped(levels, population, sign * m) - population))) for m in range(most)]
    if wanted >= reach[-1]:
        return Move(sign, levels, most, 0.0, sign * reach[-1])
    m = int(np.searchsorted(reach, wanted, side="right"))
    share = (wanted - reach[m - 1]) / (reach[m] - reach[m - 1])
    return Move(sign, levels, m - 1, share, sign * wanted)


def _stepped(
    levels: NDArray[np.float64], scores: NDArray[np.float64], steps: int | NDArray[np.int64]
) -> NDArray[np.float64]:
    """Scores moved by so many levels of their grid, up or down, as far as it goes."""
    if not len(levels):
        return np.clip(scores + CONTINUOUS_STEP * steps, 0.0, 1.0)
    middles = (levels[1:] + levels[:-1]) / 2.0
    at = np.searchsorted(middles, scores)
    moved: NDArray[np.float64] = levels[np.clip(at + steps, 0, len(levels) - 1)]
    return moved


def asked_again(
    scores: NDArray[np.float64], levels: tuple[NDArray[np.float64], ...], noise: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The same judge on the same items (n x R) once more: each score moves one step, up or down, now and then."""
    if noise == 0.0:
        return scores
    moves = np.where(rng.random(scores.shape) < noise, np.where(rng.random(scores.shape) < 0.5, -1, 1), 0)
    columns = []
    for r, grid in enumerate(levels):
        if len(grid) > MOST_LEVELS:
            columns.append(np.clip(scores[:, r] + CONTINUOUS_NOISE * moves[:, r], 0.0, 1.0))
        else:
            columns.append(np.where(moves[:, r] == 0, scores[:, r], _stepped(grid, scores[:, r], moves[:, r])))
    return np.stack(columns, axis=1)
