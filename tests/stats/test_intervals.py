from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from driftjudge.stats._jit import COMPILED, kernel
from driftjudge.stats.intervals import (
    SUM_BET,
    SUM_BET_X,
    SUM_COST,
    WIDTH,
    interval,
    interval_so_far,
    interval_step,
    lowest_mean_so_far,
)
from tests.validity.exact import assert_rate_above, assert_rate_at_most

Vector = NDArray[np.float64]


def literal_interval(values: list[float], alpha: float) -> tuple[float, float]:
    """Waudby-Smith and Ramdas, theorem 2, from the whole history: v = 4 (x - mean)^2, psi = (-log(1 - l) - l) / 4."""
    bets, gains, costs, scatter = 0.0, 0.0, 0.0, 0.25
    for i, x in enumerate(values, start=1):
        mean = (0.5 + sum(values[: i - 1])) / i
        bet = min(math.sqrt(2.0 * math.log(2.0 / alpha) / (scatter / i * i * math.log(1 + i))), 0.75)
        bets, gains = bets + bet, gains + bet * x
        costs += 4.0 * (x - mean) ** 2 * (-math.log(1.0 - bet) - bet) / 4.0
        scatter += (x - mean) ** 2
    radius = (math.log(2.0 / alpha) + costs) / bets
    return max(0.0, gains / bets - radius), min(1.0, gains / bets + radius)


def test_the_interval_is_that_of_the_theorem() -> None:
    rng = np.random.default_rng(1)
    for alpha in (0.02, 0.3):
        values = rng.beta(2.0, 5.0, 300).tolist()
        states = np.zeros((2, WIDTH))
        for x in values:
            interval_step(states, 1, x, alpha)
        assert interval(states[1], alpha) == pytest.approx(literal_interval(values, alpha), rel=1e-12)
        assert not states[0].any()


@kernel
def ever_outside(values: Vector, mean: float, alpha: float) -> bool:
    """Whether the true mean is outside the interval after any of the observations."""
    states = np.zeros((1, WIDTH))
    for x in values:
        interval_step(states, 0, x, alpha)
        miss = abs(states[0, SUM_BET_X] / states[0, SUM_BET] - mean)
        if miss > (math.log(2.0 / alpha) + states[0, SUM_COST]) / states[0, SUM_BET]:
            return True
    return False


LAWS = {"coin": 0.5, "rare ones": 0.02, "rare zeros": 0.95}


@pytest.mark.skipif(not COMPILED, reason="millions of observations take too long without numba")
@pytest.mark.parametrize("law", LAWS)
def test_the_mean_is_never_outside_except_with_the_stated_chance(law: str) -> None:
    mean, alpha, runs = LAWS[law], 0.3, 800
    rng = np.random.default_rng([2, sum(map(ord, law))])
    misses = sum(ever_outside((rng.random(3000) < mean).astype(np.float64), mean, alpha) for _ in range(runs))
    assert_rate_at_most(misses, runs, alpha)


def test_the_count_of_misses_notices_an_interval_around_something_else() -> None:
    rng = np.random.default_rng(5)
    misses = sum(ever_outside((rng.random(2000) < 0.5).astype(np.float64), 0.56, 0.3) for _ in range(60))
    assert_rate_above(misses, 60, 0.3)


@pytest.mark.skipif(not COMPILED, reason="millions of observations take too long without numba")
def test_an_interval_that_starts_at_an_alarm_is_as_good_as_any() -> None:
    """Start when a run of five ones was seen: a stopping time that would fool an interval that looked back."""
    rng = np.random.default_rng(3)
    alpha, runs, misses = 0.3, 800, 0
    for _ in range(runs):
        values = (rng.random(2000) < 0.5).astype(np.float64)
        runs_of_five = np.flatnonzero(np.convolve(values, np.ones(5), "valid") == 5.0)
        start = int(runs_of_five[0]) + 5 if len(runs_of_five) else 0
        misses += ever_outside(values[start:], 0.5, alpha)
    assert_rate_at_most(misses, runs, alpha)


def test_the_interval_starts_with_everything_and_narrows() -> None:
    states = np.zeros((1, WIDTH))
    assert interval(states[0], 0.1) == (0.0, 1.0)
    widths = []
    for i in range(4000):
        interval_step(states, 0, (i % 2) * 0.2 + 0.4, 0.1)
        low, high = interval(states[0], 0.1)
        assert low <= 0.5 <= high
        if i in (10, 100, 1000, 3999):
            widths.append(high - low)
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.03


def test_the_interval_of_a_mirrored_stream_is_the_mirrored_interval() -> None:
    rng = np.random.default_rng(4)
    states = np.zeros((2, WIDTH))
    for x in rng.random(200).tolist():
        interval_step(states, 0, x, 0.1)
        interval_step(states, 1, 1.0 - x, 0.1)
    low, high = interval(states[0], 0.1)
    assert interval(states[1], 0.1) == pytest.approx((1.0 - high, 1.0 - low), rel=1e-9)


def ever_above(rng: np.random.Generator, delta: float, shift: float = 0.0) -> bool:
    """Whether the lower sequence ever exceeds the mean: it only rises, so that its last value tells."""
    values = rng.choice([0.0, 0.375, 0.5, 1.0], p=[0.05, 0.55, 0.35, 0.05], size=150)
    return bool(lowest_mean_so_far(values, delta) > 0.43125 + shift)


@pytest.mark.skipif(not COMPILED, reason="many bisections take too long without numba")
def test_the_betting_sequence_never_exceeds_the_mean_except_with_its_chance() -> None:
    rng = np.random.default_rng(12)
    assert_rate_at_most(sum(ever_above(rng, 0.2) for _ in range(600)), 600, 0.2)
    assert_rate_above(sum(ever_above(rng, 0.2, shift=-0.15) for _ in range(60)), 60, 0.2)


def test_the_betting_sequence_only_rises() -> None:
    values = np.random.default_rng(13).uniform(0.2, 0.9, 80)
    ends = [lowest_mean_so_far(values[:n], 0.05) for n in range(81)]
    assert ends == sorted(ends)
    assert ends[0] == 0.0
    assert ends[-1] > 0.3


def test_sixty_values_that_vary_little_say_much_more_than_the_sequence_in_constant_memory() -> None:
    values, states = np.tile([0.375, 0.375, 0.5], 20), np.zeros((1, WIDTH))
    for value in values:
        interval_step(states, 0, value, 0.02)
    low, high = interval_so_far(values, 0.02)
    wide_low, wide_high = interval(states[0], 0.02)
    assert low < float(np.mean(values)) < high
    assert high - low < (wide_high - wide_low) / 2.0


def test_both_sides_are_mirror_images() -> None:
    values = np.random.default_rng(14).uniform(0.0, 0.7, 50)
    low, high = interval_so_far(values, 0.1)
    assert interval_so_far(1.0 - values, 0.1) == pytest.approx((1.0 - high, 1.0 - low))
