"""Finite-sample bounds for baselines and bars: what a calibration of this size can and cannot promise.

All are valid for every law on [0, 1] and every sample size; none is an approximation.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from driftjudge.stats._jit import kernel
from driftjudge.stats.errors import StatisticsError


def highest_rate(events: int, trials: int, delta: float) -> float:
    """Clopper-Pearson upper bound of a mean rate: exceeds the true one except with probability `delta`.

    It stays conservative when the trials have unequal rates, as anchors do, because a count at least 1 below its mean
    is then no likelier than with equal rates (Hoeffding 1956); the bound is kept at (events + 1) / trials or above, so
    that this always applies.

    >>> round(highest_rate(0, 300, 0.05), 4)
    0.0099
    >>> highest_rate(3, 3, 0.05), highest_rate(2, 3, 0.05)
    (1.0, 1.0)
    """
    _check_delta(delta)
    if trials <= 0 or not 0 <= events <= trials:
        raise StatisticsError(f"a rate needs 0 <= events <= trials with trials > 0, got {events} of {trials}")
    if events >= trials - 1:
        return 1.0
    return max(float(betaincinv(events + 1, trials - events, 1.0 - delta)), (events + 1) / trials)


def mean_radius(values: NDArray[np.float64], groups: NDArray[np.int64], delta: float) -> float:
    """Radius eps with |mean(values) - its expectation| <= eps except with probability `delta`.

    `values` lie in [0, 1] and are independent; values of one group (re-scores of one anchor) share their law. The
    smaller of Hoeffding's radius and an empirical-Bernstein one, sharing `delta`. The variance is the one *within*
    groups, bounded from disjoint pairs of one group: each (x - x')^2 / 2 is an independent unbiased look at it, so that
    anchors that differ from each other cost nothing. A group of one value shows nothing of its variance, which then
    counts as 1/4.

    >>> quiet, anchors = np.full(1200, 0.5), np.repeat(np.arange(200), 6)
    >>> round(mean_radius(quiet, anchors, 0.01), 4) < round(mean_radius(quiet, np.arange(1200), 0.01), 4)
    True
    """
    _check_delta(delta)
    n = len(values)
    if n == 0:
        raise StatisticsError("the mean of no values has no bound: give at least one baseline pass")
    hoeffding = math.sqrt(math.log(4.0 / delta) / (2.0 * n))  # two sides, delta / 4 each
    halves, most_per_pair, alone = _disjoint_pairs(values, groups)
    if len(halves) == 0:
        return hoeffding
    # Three events at delta / 8 each: the variance and the two sides of the mean. A half lies in [0, 1/2], so
    # E[half^2] <= E/2, and the lower tail of independent nonnegative terms, exp(-n t^2 / E), inverts to a bound on
    # sqrt(E). A pair stands for at most `most_per_pair` values of its group.
    log = math.log(8.0 / delta)
    per_pair = (math.sqrt(float(np.mean(halves))) + math.sqrt(log / len(halves))) ** 2
    variance = (most_per_pair * len(halves) * per_pair + alone / 4.0) / n
    bernstein = math.sqrt(2.0 * variance * log / n) + log / (3.0 * n)
    return min(hoeffding, bernstein)


def _disjoint_pairs(values: NDArray[np.float64], groups: NDArray[np.int64]) -> tuple[NDArray[np.float64], float, int]:
    """Half squared differences of disjoint pairs, the most values one pair stands for, and the values without one."""
    order = np.argsort(groups, kind="stable")
    x = values[order]
    _, starts, sizes = np.unique(groups[order], return_index=True, return_counts=True)
    place = np.arange(len(x)) - np.repeat(starts, sizes)
    second = (place % 2 == 1).nonzero()[0]
    halves: NDArray[np.float64] = (x[second] - x[second - 1]) ** 2 / 2.0
    paired = sizes[sizes > 1]
    most = float(np.max(paired / (paired // 2))) if len(paired) else 0.0
    return halves, most, int((sizes == 1).sum())


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


def highest_average(values: NDArray[np.float64], delta: float) -> float:
    """Upper bound of the average expectation of independent values on [0, 1], whose laws may all differ.

    Chernoff's bound with the divergence of two coins: by convexity E exp(-l x) <= 1 - p + p exp(-l), and the product
    over values is largest when all p are equal, so that P(mean <= x) <= exp(-n kl(x, p)) for the average expectation
    p (Hoeffding 1963, theorem 1). With no value above 0 it is the Clopper-Pearson bound.

    >>> round(highest_average(np.zeros(300), 0.05), 4), highest_average(np.ones(3), 0.05)
    (0.0099, 1.0)
    """
    _check_delta(delta)
    if len(values) == 0:
        return 1.0
    mean, room = float(np.mean(values)), math.log(1.0 / delta) / len(values)
    low, high = mean, 1.0
    for _ in range(50):
        middle = (low + high) / 2.0
        low, high = (middle, high) if _divergence(mean, middle) <= room else (low, middle)
    return high


def signed_average_bounds(values: NDArray[np.float64], delta: float) -> tuple[float, float]:
    """Lower and upper bound of the average expectation of independent values on [-1, 1], each except with `delta`.

    What lies above 0 and what lies below are bounded apart, `delta` / 2 each: differences of a judge from itself are
    nearly all 0, and then both bounds are near.

    >>> low, high = signed_average_bounds(np.zeros(600), 0.01)
    >>> bool(-0.01 < low < 0.0 < high < 0.01)
    True
    """
    above, below = np.maximum(values, 0.0), np.maximum(-values, 0.0)
    half = delta / 2.0
    most_above, most_below = highest_average(above, half), highest_average(below, half)
    least_above, least_below = 1.0 - highest_average(1.0 - above, half), 1.0 - highest_average(1.0 - below, half)
    return least_above - most_below, most_above - least_below


def _divergence(x: float, p: float) -> float:
    """kl(x, p): how far a coin of rate p is from showing the rate x."""
    if p >= 1.0:
        return 0.0 if x >= 1.0 else math.inf
    first = x * math.log(x / p) if x > 0.0 else 0.0
    second = (1.0 - x) * math.log((1.0 - x) / (1.0 - p)) if x < 1.0 else 0.0
    return first + second


def _check_delta(delta: float) -> None:
    if not 0.0 < delta < 1.0:
        raise StatisticsError(f"an error probability lies strictly between 0 and 1, got {delta}")
