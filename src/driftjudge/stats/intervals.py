"""Anytime-valid intervals for a mean: one in constant memory, and a sharper one over observations that are kept.

The first is the predictable-mixture empirical-Bernstein sequence,
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


# The sharper interval, for a bounded number of observations that are kept: by betting against every candidate.

HORIZON = 60
"""Bets are tuned to this many observations, and to their number beyond; any choice is valid."""
PRIOR_VARIANCE = 0.05
LARGEST_SHARE = 0.9
"""Of the largest legal bet, which keeps wealth away from 0."""


@kernel
def lowest_mean_so_far(values: NDArray[np.float64], delta: float) -> float:
    """Lower confidence sequence of a mean on [0, 1], at every length at once except with probability `delta`.

    Waudby-Smith and Ramdas (2024), section 4: for a candidate c the wealth prod(1 + lambda_i (x_i - c)), lambda_i
    from the values before i, is a supermartingale when no conditional mean exceeds c; candidates whose wealth ever
    reached 1/delta are rejected. Wealth falls with c, factor by factor, so the rejected ones lie below one number,
    found by bisection.

    >>> x = np.tile(np.array([0.375, 0.5, 0.375]), 20)
    >>> bool(0.35 < lowest_mean_so_far(x, 0.01) < float(np.mean(x)))
    True
    >>> lowest_mean_so_far(np.empty(0), 0.01)
    0.0
    """
    n = len(values)
    if n == 0:
        return 0.0
    bets = np.empty(n)
    total, squares, wanted = 0.0, 0.0, 1.0 / delta
    for i in range(n):
        variance = (PRIOR_VARIANCE + squares) / (i + 1.0)
        bets[i] = math.sqrt(2.0 * math.log(wanted) / (variance * max(HORIZON, i + 1)))
        total += values[i]
        squares += (values[i] - (0.5 + total) / (i + 2.0)) ** 2
    low, high = 0.0, 1.0
    for _ in range(24):
        candidate = (low + high) / 2.0
        wealth, rejected = 1.0, False
        for i in range(n):
            wealth *= 1.0 + min(bets[i], LARGEST_SHARE / candidate) * (values[i] - candidate)
            if wealth >= wanted:
                rejected = True
                break
        if rejected:
            low = candidate
        else:
            high = candidate
    return low


def interval_so_far(values: NDArray[np.float64], alpha: float) -> tuple[float, float]:
    """Both sides, alpha / 2 each.

    >>> low, high = interval_so_far(np.tile([0.4, 0.6], 40), 0.1)
    >>> bool(0.4 < low < 0.5 < high < 0.6)
    True
    """
    low = float(lowest_mean_so_far(values, alpha / 2.0))
    return low, 1.0 - float(lowest_mean_so_far(1.0 - values, alpha / 2.0))
