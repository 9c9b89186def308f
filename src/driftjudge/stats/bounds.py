"""Finite-sample bounds for baselines and bars: what a calibration of this size can and cannot promise.

All are valid for every law on [0, 1] and every sample size; none is an approximation.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from driftjudge.stats._jit import kernel
from driftjudge.stats.errors import StatisticsError


def highest_rate(events: int, trials: int, delta: float) -> float:
    """Clopper-Pearson upper bound of a rate: exceeds the true one except with probability `delta`.

    It stays conservative when the trials have unequal rates (Hoeffding 1956), as anchors do.

    >>> round(highest_rate(0, 300, 0.05), 4)
    0.0099
    >>> highest_rate(3, 3, 0.05)
    1.0
    """
    _check_delta(delta)
    if trials <= 0 or not 0 <= events <= trials:
        raise StatisticsError(f"a rate needs 0 <= events <= trials with trials > 0, got {events} of {trials}")
    if events == trials:
        return 1.0
    return float(betaincinv(events + 1, trials - events, 1.0 - delta))


def mean_radius(values: NDArray[np.float64], groups: NDArray[np.int64], delta: float) -> float:
    """Radius eps with |mean(values) - its expectation| <= eps except with probability `delta`.

    `values` lie in [0, 1] and are independent; values of one group (re-scores of one anchor) share their law. The
    smaller of Hoeffding's radius and an empirical-Bernstein one, sharing `delta`. The variance is the one
    *within* groups, bounded from disjoint pairs of one group: each (x - x')^2 / 2 is an independent unbiased look at
    it, so that anchors that differ from each other cost nothing.

    >>> quiet, anchors = np.full(1200, 0.5), np.repeat(np.arange(200), 6)
    >>> round(mean_radius(quiet, anchors, 0.01), 4) < round(mean_radius(quiet, np.arange(1200), 0.01), 4)
    True
    """
    _check_delta(delta)
    n = len(values)
    if n == 0:
        raise StatisticsError("the mean of no values has no bound: give at least one baseline pass")
    hoeffding = math.sqrt(math.log(4.0 / delta) / (2.0 * n))  # two sides, delta / 4 each
    halves = _disjoint_pair_variances(values, groups)
    if len(halves) == 0:
        return hoeffding
    # Three events at delta / 8 each: the variance and the two sides of the mean. E[halves] is the mean variance of the
    # groups that have pairs; groups of one size are all represented. A half lies in [0, 1/2], so E[half^2] <= E/2, and
    # the lower tail of independent nonnegative terms, exp(-n t^2 / E), inverts to a bound on sqrt(E).
    log = math.log(8.0 / delta)
    deviation = math.sqrt(float(np.mean(halves))) + math.sqrt(log / len(halves))
    bernstein = deviation * math.sqrt(2.0 * log / n) + log / (3.0 * n)
    return min(hoeffding, bernstein)


def _disjoint_pair_variances(values: NDArray[np.float64], groups: NDArray[np.int64]) -> NDArray[np.float64]:
    order = np.argsort(groups, kind="stable")
    x, g = values[order], groups[order]
    starts = np.concatenate(([0], np.flatnonzero(np.diff(g)) + 1, [len(g)]))
    sizes = np.diff(starts)
    if (sizes == sizes[0]).all():  # every anchor has the same number of passes: no loop needed
        pairs = x.reshape(-1, sizes[0])[:, : 2 * (sizes[0] // 2)].reshape(-1, 2)
        equal: NDArray[np.float64] = (pairs[:, 0] - pairs[:, 1]) ** 2 / 2.0
        return equal
    halves: list[NDArray[np.float64]] = []
    for start, stop in pairwise(starts.tolist()):
        pairs = (stop - start) // 2
        block = x[start : start + 2 * pairs].reshape(pairs, 2)
        halves.append((block[:, 0] - block[:, 1]) ** 2 / 2.0)
    return np.concatenate(halves) if halves else np.empty(0)


def lowest_mean(values: NDArray[np.float64], delta: float) -> float:
    """Lower confidence bound of the mean of independent values on [0, 1], by betting against every candidate mean.

    Waudby-Smith and Ramdas (2024): for a candidate c the wealth prod(1 + lambda_i (x_i - c)) is a supermartingale
    when the mean is at most c, so candidates whose wealth ever reaches 1/delta are rejected. lambda_i uses the
    variance of the values before i, tuned to this sample size. Far tighter than Hoeffding when values vary little.

    >>> x = np.tile([0.5, 0.75], 100)
    >>> bool(0.55 < lowest_mean(x, 0.01) < 0.625)
    True
    """
    _check_delta(delta)
    n = len(values)
    if n == 0:
        return 0.0
    index = np.arange(1, n + 1)
    means = (0.5 + np.cumsum(values)) / (index + 1)
    squares = (0.25 + np.cumsum((values - means) ** 2)) / (index + 1)
    past = np.concatenate(([0.25], squares[:-1]))
    bets = np.sqrt(2.0 * math.log(1.0 / delta) / (n * past))

    low, high = 0.0, float(np.mean(values))
    for _ in range(40):
        middle = (low + high) / 2.0
        if middle > 0.0 and _rejected(values, bets, middle, -math.log(delta)):
            low = middle
        else:
            high = middle
    return low


@kernel
def _rejected(values: NDArray[np.float64], bets: NDArray[np.float64], candidate: float, threshold: float) -> bool:
    """Whether betting against 'the mean is at most `candidate`' ever makes log wealth reach `threshold`."""
    log_wealth = 0.0
    for i in range(len(values)):
        # 3/4 of the largest legal bet: the usual truncation, which keeps wealth away from 0.
        stake = min(bets[i], 0.75 / candidate)
        log_wealth += math.log(1.0 + stake * (values[i] - candidate))
        if log_wealth >= threshold:
            return True
    return False


def _check_delta(delta: float) -> None:
    if not 0.0 < delta < 1.0:
        raise StatisticsError(f"an error probability lies strictly between 0 and 1, got {delta}")
