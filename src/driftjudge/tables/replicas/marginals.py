"""Ordinal score distributions: a normal law on the score scale, rounded to the grid of the judge.

A judge with location m and spread s on a grid of L levels gives level k/(L-1) with the probability that a
normal(m, s) draw rounds there, everything beyond the ends counting as the end. Two numbers per judge then
describe near-ceiling rubrics and coarse grids alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

from driftjudge.tables.errors import TableError

Array = NDArray[np.float64]

_SHIFT_RANGE = (-12.0, 12.0)
_SPREAD_RANGE = (0.03, 3.0)


def grid(levels: int) -> Array:
    """The scores a judge with that many levels can give.

    >>> grid(5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    return np.linspace(0.0, 1.0, levels)


@dataclass(frozen=True)
class Mixture:
    """Strata that share one shift and one spread, each with its own centre and its own response to both.

    >>> one = Mixture(centres=np.zeros(1), gains=np.ones(1), factors=np.ones(1), weights=np.ones(1), levels=3)
    >>> one.probabilities(0.5, 0.3).round(3).tolist()
    [[0.202, 0.595, 0.202]]
    >>> round(one.solve_shift(0.5, 0.2), 6)
    0.5
    """

    centres: Array
    """Location before the shift, per stratum."""

    gains: Array
    """Multiply the shift, per stratum."""

    factors: Array
    """Multiply the spread, per stratum."""

    weights: Array
    """Shares of the items, summing to 1."""

    levels: int

    def probabilities(self, shift: float, spread: float) -> Array:
        """Strata x levels: the probability of each level."""
        edges = (np.arange(self.levels - 1) + 0.5) / (self.levels - 1)
        locations = self.centres + self.gains * shift
        below = ndtr((edges - locations[:, None]) / (spread * self.factors[:, None]))
        ends = np.ones((len(locations), 1))
        return np.diff(np.concatenate([0.0 * ends, below, ends], axis=1), axis=1)

    def moments(self, shift: float, spread: float) -> tuple[float, float]:
        """Mean and standard deviation over all strata."""
        shares = self.weights @ self.probabilities(shift, spread)
        scores = grid(self.levels)
        mean = float(shares @ scores)
        return mean, max(float(shares @ scores**2) - mean**2, 0.0) ** 0.5

    def solve_shift(self, mean: float, spread: float) -> float:
        """The shift that gives this mean over all strata."""
        try:
            return float(brentq(lambda shift: self.moments(shift, spread)[0] - mean, *_SHIFT_RANGE))
        except ValueError:
            raise TableError(
                f"No replica marginal has mean {mean:.3f}; choose means and shifts that stay inside (0, 1)."
            ) from None

    def solve(self, mean: float, sd: float) -> tuple[float, float]:
        """The shift and the spread that give this mean and standard deviation over all strata."""

        def error(spread: float) -> float:
            return self.moments(self.solve_shift(mean, spread), spread)[1] - sd

        try:
            spread = float(brentq(error, *_SPREAD_RANGE, xtol=1e-6))
        except ValueError:
            raise TableError(
                f"No replica marginal on {self.levels} levels has mean {mean:.3f} and standard deviation {sd:.3f}; "
                f"change one of them in the spec."
            ) from None
        return self.solve_shift(mean, spread), spread


def level_counts(probabilities: Array, items: int) -> NDArray[np.intp]:
    """How many of the items get each level, by cumulative rounding: every cumulative count is within half an item.

    >>> level_counts(np.array([0.26, 0.5, 0.24]), 10).tolist()
    [3, 5, 2]
    """
    edges = np.rint(np.cumsum(probabilities) * items).astype(np.intp)
    edges[-1] = items
    return np.diff(np.concatenate([np.zeros(1, dtype=np.intp), edges]))
