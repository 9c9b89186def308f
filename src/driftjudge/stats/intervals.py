"""An anytime-valid interval for a mean, in constant memory: the predictable-mixture empirical-Bernstein sequence.

Waudby-Smith and Ramdas (2024), theorem 2: with predictable lambda_i, v_i = (x_i - mean_{i-1})^2 and
psi(l) = -log(1 - l) - l, at every time at once, except with probability alpha,

    | mean - sum(lambda_i x_i) / sum(lambda_i) |  <=  (log(2/alpha) + sum(v_i psi(lambda_i))) / sum(lambda_i)

(their v_i carries a factor 4 and their psi a factor 1/4, which cancel). It may start at any stopping time, an alarm
for example. When the mean moves while it runs, it covers the lambda-weighted average of the means.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from driftjudge.stats._jit import kernel

COUNT, SUM_X, SUM_V, SUM_BET, SUM_BET_X, SUM_COST = range(6)
WIDTH = 6
"""Numbers of state per interval."""

LARGEST_BET = 0.75
"""Any value below 1 is valid; a large one is what makes an interval of few observations say something."""


@kernel
def interval_step(states: NDArray[np.float64], row: int, x: float, alpha: float) -> None:
    """Take in one observation x of [0, 1] for the interval in row `row`.

    >>> states = np.zeros((1, WIDTH))
    >>> for x in [0.4, 0.6] * 200: interval_step(states, 0, x, 0.1)
    >>> low, high = interval(states[0], 0.1)
    >>> bool(0.4 < low < 0.5 < high < 0.6)
    True
    """
    n = states[row, COUNT]
    mean = (0.5 + states[row, SUM_X]) / (n + 1.0)
    variance = (0.25 + states[row, SUM_V]) / (n + 1.0)
    bet = math.sqrt(2.0 * math.log(2.0 / alpha) / (variance * (n + 1.0) * math.log(n + 2.0)))
    bet = min(bet, LARGEST_BET)
    deviation = (x - mean) * (x - mean)
    states[row, COUNT] = n + 1.0
    states[row, SUM_X] += x
    states[row, SUM_V] += deviation
    states[row, SUM_BET] += bet
    states[row, SUM_BET_X] += bet * x
    states[row, SUM_COST] += deviation * (-math.log(1.0 - bet) - bet)


def interval(state: NDArray[np.float64], alpha: float) -> tuple[float, float]:
    """The interval now, clipped to [0, 1]; the whole of it before the first observation.

    >>> interval(np.zeros(WIDTH), 0.1)
    (0.0, 1.0)
    """
    if state[COUNT] == 0:
        return 0.0, 1.0
    centre = state[SUM_BET_X] / state[SUM_BET]
    radius = (math.log(2.0 / alpha) + state[SUM_COST]) / state[SUM_BET]
    return max(0.0, float(centre - radius)), min(1.0, float(centre + radius))
