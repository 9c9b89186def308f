"""The prediction-powered observation and its power-tuned proxies (section 3.2 of the paper; statistics page 1 and 3).

    f = m + omega (mu - m),     Z = f + (xi / pi) (y - f),     d = m - Z

omega = 1 is prediction-powered inference as in the paper, omega = 0 uses labels only. Z is unbiased for the cell mean
of y for every omega, because the coin xi is independent of y given everything pi was allowed to see.
"""

from __future__ import annotations

import math

from driftjudge.stats._jit import kernel

LARGEST_CAP = 1e6


@kernel
def proxy(cheap: float, null: float, omega: float) -> float:
    """f: the cheap score shrunk towards the null mean m.

    >>> proxy(0.9, 0.5, 0.5)
    0.7
    """
    return null + omega * (cheap - null)


@kernel
def inverse_probability(asked: bool, pi: float) -> float:
    """xi / pi: the weight of the correction, 0 where the strong judge was not asked.

    >>> inverse_probability(True, 0.25), inverse_probability(False, 0.25)
    (4.0, 0.0)
    """
    return 1.0 / pi if asked else 0.0


@kernel
def observation(predicted: float, strong: float, ratio: float) -> float:
    """Z: the prediction, corrected by the strong score with weight xi / pi.

    >>> observation(0.8, 0.2, 0.0), round(observation(0.8, 0.2, 2.0), 12)
    (0.8, -0.4)
    """
    return predicted + ratio * (strong - predicted)


@kernel
def highest_observation(null: float, omega: float, pi: float) -> float:
    """Z_max over mu, y in [0, 1] when pi does not look at mu: f_lo + (1 - f_lo) / pi with f_lo = m (1 - omega).

    >>> highest_observation(0.6, 1.0, 0.25)
    4.0
    """
    lowest = null * (1.0 - omega)
    return lowest + (1.0 - lowest) / pi


@kernel
def highest_observation_on_ramp(null: float, omega: float, bar: float, floor: float) -> float:
    """Z_max when pi falls linearly from 1 at mu <= bar to `floor` at mu = 1 (the boundary rule).

    A cap that used the realised pi(mu) would let the bet look at this item's mu, which is not valid for the cell-mean
    null. So the bound is taken over every mu: with x = 1 - mu and c = (1 - floor) / (1 - bar),
    Z <= a - omega x + ((1 - a) + omega x) / (floor + c x) where a = m + omega (1 - m). That is convex decreasing or
    concave in x, so its maximum is at an end or at the one stationary point.

    >>> round(highest_observation_on_ramp(0.55, 1.0, 0.6, 0.1), 4)
    1.2078
    """
    top = null + omega * (1.0 - null)
    if bar >= 1.0:
        return 1.0
    slope = (1.0 - floor) / (1.0 - bar)
    highest = max(1.0, top + (1.0 - top) / floor)
    curvature = omega * floor - (1.0 - top) * slope
    if omega > 0.0 and curvature > 0.0 and slope > 0.0:
        x = (math.sqrt(curvature / omega) - floor) / slope
        x = min(max(x, 0.0), 1.0 - bar)
        highest = max(highest, top - omega * x + ((1.0 - top) + omega * x) / (floor + slope * x))
    return highest


@kernel
def observation_cap(highest: float, null: float) -> float:
    """lambda_max = 1 / (Z_max - m): the largest bet that leaves 1 + lambda (m - Z) at or above 0.

    Where no observation can exceed the null nothing limits the bet, so that an arbitrary large one is taken.

    >>> round(observation_cap(4.0, 0.6), 6), observation_cap(1.0, 1.0)
    (0.294118, 1000000.0)
    """
    room = highest - null
    return 1.0 / room if room > 1.0 / LARGEST_CAP else LARGEST_CAP
