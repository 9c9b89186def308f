"""When a drop began, and how large it is: weights over every possible start, in constant memory.

The Shiryaev-Roberts recursion sums, over every start n, the likelihood ratio of a drop that begins there: M <- (M +
1) g with the ratio g of this step. Normalised, those terms weigh the starts as a posterior with a flat prior does.
With d = m - y the distance of a label below its null, g = exp(s (d - c)): the ratio of two normal laws, which turns
at the middle c between the healthy and the dropped mean. Any quantity that adds up from a start on can be averaged
over those weights by a recursion of the same kind:

    position of the start          T <- (T + n) g,          T2 <- (T2 + n^2) g
    observations since the start   C <- (C + M + 1) g       (M before this step)
    sum of d since the start       A <- (A + (M + 1) d) g,  A2 <- (A2 + (M + 1) d^2) g

These are estimates. How often the intervals made from them hold the truth is measured (tests/validity), not proved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftjudge.stats._jit import kernel

MASS, WHEN, WHEN2, SINCE, SUM, SUM2 = range(6)
ONSET_WIDTH = 6
"""Numbers of state per process."""

LARGEST_MASS = 1e250
SCALE = 1e-100
"""Beyond that mass everything is scaled down together, which changes no ratio; a new start stays as light as it was."""

STEEPNESS = 2.0
"""s: the ratio of a drop of 0.15 to a usual variance of scores, 0.08."""
MIDDLE = 0.025
"""c: the middle between healthy and dropped for a drop of 0.15, seen from a null 0.05 below the bar. Turning later
finds large drops more sharply and misplaces small ones."""

START_SPREADS = 2.5
"""Half the interval of the start, in posterior deviations."""
SIZE_SPREADS = 3.0
"""Half the interval of the size, in standard errors: a start taken too early makes a drop look smaller than it is."""
CLAIMED = 0.9
"""Share of alarms at which an interval holds the truth, as measured for drops of 0.15 to 0.45 below the bar (smaller
ones are seldom alarmed about, and then placed too late about one time in five)."""


@kernel
def onset_step(rows: NDArray[np.float64], row: int, first: int, n: float, d: float) -> None:
    """Take in the distance d of a label below its null, at the n-th item of the stream.

    >>> state = np.zeros((1, ONSET_WIDTH))
    >>> for n in range(1, 101): onset_step(state, 0, 0, float(n), 0.25 if n > 60 else -0.1)
    >>> found = onset_of(state[0])
    >>> bool(58 < found.start < 63), round(found.size, 2)
    (True, 0.23)
    """
    growth = math.exp(STEEPNESS * (d - MIDDLE))
    grown = rows[row, first + MASS] + 1.0
    rows[row, first + SINCE] = (rows[row, first + SINCE] + grown) * growth
    rows[row, first + SUM] = (rows[row, first + SUM] + grown * d) * growth
    rows[row, first + SUM2] = (rows[row, first + SUM2] + grown * d * d) * growth
    rows[row, first + WHEN] = (rows[row, first + WHEN] + n) * growth
    rows[row, first + WHEN2] = (rows[row, first + WHEN2] + n * n) * growth
    rows[row, first + MASS] = grown * growth
    if grown * growth > LARGEST_MASS:
        for j in range(6):
            rows[row, first + j] *= SCALE


@dataclass(frozen=True)
class Onset:
    """When a drop began and how large it has been since."""

    start: float
    """Estimated number of the first observation after the change."""
    start_low: float
    start_high: float
    size: float
    """Mean of d since then."""
    size_low: float
    size_high: float


def onset_of(state: NDArray[np.float64]) -> Onset | None:
    """What the weights say now; None where nothing has been seen."""
    mass = float(state[MASS])
    if not mass > 0.0:
        return None
    start = float(state[WHEN]) / mass
    spread = START_SPREADS * math.sqrt(max(float(state[WHEN2]) / mass - start * start, 0.0))
    count = max(float(state[SINCE]) / mass, 1.0)
    size = float(state[SUM]) / mass / count
    variance = max(float(state[SUM2]) / mass / count - size * size, 0.0)
    error = SIZE_SPREADS * math.sqrt(variance / count)
    return Onset(start, start - spread, start + spread, size, size - error, size + error)
