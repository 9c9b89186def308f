from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from driftjudge.stats.bounds import highest_average, highest_rate, lowest_mean, mean_radius, signed_average_bounds
from tests.validity.exact import assert_rate_above, assert_rate_at_most
from tests.validity.reference import chance_of_so_few

Vector = NDArray[np.float64]
Law = Callable[[np.random.Generator, int], Vector]

DELTAS = (0.2, 0.05, 0.002)


def bounds_of(trials: int, delta: float) -> Vector:
    """The bound for every number of events but the largest, whose bound is 1."""
    return np.array([highest_rate(events, trials, delta) for events in range(trials)])


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("trials", [1, 7, 40, 300])
def test_a_rate_lies_above_its_bound_with_at_most_the_stated_chance(trials: int, delta: float) -> None:
    """The chance of a bound below the true rate is largest for rates just above one of the bounds: all are tried."""
    events, bounds = np.arange(trials), bounds_of(trials, delta)
    chances = binom.cdf(events, trials, np.minimum(bounds + 1e-12, 1.0))
    assert (chances <= delta * (1.0 + 1e-6)).all()
    tight = bounds * trials > events + 1.0 + 1e-9  # elsewhere the bound is held up for the sake of unequal rates
    np.testing.assert_allclose(chances[tight], delta, rtol=1e-6)  # exact: it spends what it may, and no more
    assert tight.any() or trials == 1


def worst_for_unequal_rates(trials: int, delta: float, highest: float) -> float:
    """The largest chance of a bound (up to `highest`) below the mean of unequal rates.

    Hoeffding (1956): the extremes are found among trials of which some always give an event, some never, and the
    others do at one rate. As before, means just above one of the bounds are the worst.
    """
    bounds = bounds_of(trials, delta)
    events = np.flatnonzero(bounds <= highest)
    worst = 0.0
    for always in range(trials):
        for sometimes in range(1, trials - always + 1):
            rates = ((bounds[events] + 1e-12) * trials - always) / sometimes
            possible = (rates >= 0.0) & (rates <= 1.0)
            chances = binom.cdf(events[possible] - always, sometimes, rates[possible])
            worst = max(worst, float(chances.max(initial=0.0)))
    return worst


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("trials", [3, 12, 50])
def test_unequal_rates_are_no_excuse_for_the_bounds_a_fingerprint_may_use(trials: int, delta: float) -> None:
    assert worst_for_unequal_rates(trials, delta, highest=0.5) <= delta * (1.0 + 1e-9)


@pytest.mark.parametrize("trials", [2, 12])
def test_unequal_rates_are_no_excuse_for_any_bound(trials: int) -> None:
    assert worst_for_unequal_rates(trials, 0.2, highest=1.0) <= 0.2 * (1.0 + 1e-9)


@pytest.mark.parametrize(("events", "trials"), [(0, 50), (3, 50), (40, 50), (7, 400)])
def test_a_bound_is_the_rate_at_which_so_few_events_have_just_the_stated_chance(events: int, trials: int) -> None:
    for delta in DELTAS:
        assert chance_of_so_few(events, trials, highest_rate(events, trials, delta)) == pytest.approx(delta, rel=1e-6)


def bernoulli(rate: float) -> Law:
    return lambda rng, n: (rng.random(n) < rate).astype(np.float64)


def lottery(share: float) -> Law:
    """Nearly always a small loss, rarely a large win: what mean bounds get wrong first."""
    return lambda rng, n: np.where(rng.random(n) < share, 1.0, 0.1)


LAWS: dict[str, tuple[Law, float]] = {
    "coin": (bernoulli(0.5), 0.5),
    "rare ones": (bernoulli(0.03), 0.03),
    "rare zeros": (bernoulli(0.97), 0.97),
    "rare large values": (lottery(0.02), 0.1 + 0.9 * 0.02),
    "a narrow band": (lambda rng, n: rng.uniform(0.7, 0.8, n), 0.75),
    "the whole range": (lambda rng, n: rng.random(n), 0.5),
}


@pytest.mark.parametrize("n", [4, 30, 150])
@pytest.mark.parametrize("law", LAWS)
def test_a_mean_lies_below_its_lower_bound_with_at_most_the_stated_chance(law: str, n: int) -> None:
    draw, mean = LAWS[law]
    delta, runs = 0.2, 200
    rng = np.random.default_rng([n, sum(map(ord, law))])
    misses = sum(lowest_mean(draw(rng, n), delta) > mean for _ in range(runs))
    assert_rate_at_most(misses, runs, delta)


def test_the_lower_bound_of_a_coins_mean_holds_exactly_over_every_sequence_of_ten() -> None:
    delta = 0.15
    sequences = np.array(list(itertools.product([0.0, 1.0], repeat=10)))
    lowest = np.array([lowest_mean(sequence, delta) for sequence in sequences])
    ones = sequences.sum(axis=1)
    worst = 0.0
    for rate in np.linspace(0.01, 0.99, 99):
        chances = rate**ones * (1.0 - rate) ** (10 - ones)
        worst = max(worst, float(chances[lowest > rate].sum()))
    assert delta / 10 < worst <= delta


@pytest.mark.parametrize("law", LAWS)
def test_the_lower_bound_is_where_betting_against_the_mean_just_pays(law: str) -> None:
    rng = np.random.default_rng(5)
    values, delta = LAWS[law][0](rng, 60), 0.05
    lowest = lowest_mean(values, delta)
    assert 0.0 <= lowest <= values.mean()
    if lowest > 0.0:
        assert best_wealth(values, lowest, delta) >= 1.0 / delta * (1.0 - 1e-9)
    assert best_wealth(values, lowest + 1e-6, delta) < 1.0 / delta


def best_wealth(values: Vector, candidate: float, delta: float) -> float:
    """Waudby-Smith and Ramdas' bet against one candidate mean, step by step."""
    n, total, squares, wealth, best = len(values), 0.5, 0.25, 1.0, 0.0
    variance = 0.25
    for i, x in enumerate(values.tolist(), start=1):
        bet = min(math.sqrt(2.0 * math.log(1.0 / delta) / (n * variance)), 0.75 / candidate)
        wealth *= 1.0 + bet * (x - candidate)
        best = max(best, wealth)
        total += x
        squares += (x - total / (i + 1)) ** 2
        variance = squares / (i + 1)
    return best


def test_the_lower_bound_of_nothing_is_nothing() -> None:
    assert lowest_mean(np.empty(0), 0.1) == 0.0
    assert lowest_mean(np.zeros(50), 0.1) == 0.0


def test_quiet_values_are_bounded_far_more_tightly_than_hoeffding_would() -> None:
    values = np.random.default_rng(6).uniform(0.7, 0.8, 200)
    assert values.mean() - lowest_mean(values, 0.01) < 0.5 * math.sqrt(math.log(100.0) / 400.0)


GROUPED: dict[str, Vector] = {
    "coins": np.full(40, 0.5),
    "rare ones": np.full(40, 0.02),
    "steady and moody": np.where(np.arange(40) % 10 == 0, 0.5, 0.0),
    "all different": np.linspace(0.0, 1.0, 40),
}


@pytest.mark.parametrize("size", [1, 2, 3, 6])
@pytest.mark.parametrize("rates", GROUPED)
def test_a_mean_over_groups_is_off_by_more_than_its_radius_with_at_most_the_stated_chance(
    rates: str, size: int
) -> None:
    rng = np.random.default_rng([size, sum(map(ord, rates))])
    means = GROUPED[rates]
    groups = np.repeat(np.arange(40), size)
    delta, runs, misses = 0.3, 300, 0
    for _ in range(runs):
        values = (rng.random(len(groups)) < means[groups]).astype(np.float64)
        misses += abs(values.mean() - means.mean()) > mean_radius(values, groups, delta)
    assert_rate_at_most(misses, runs, delta)


def test_differences_between_groups_cost_nothing_when_each_repeats_itself() -> None:
    groups = np.repeat(np.arange(300), 4)
    apart = np.linspace(0.0, 1.0, 300)[groups]
    assert mean_radius(apart, groups, 0.05) == mean_radius(np.full(1200, 0.5), groups, 0.05)
    assert mean_radius(apart, groups, 0.05) < 0.3 * mean_radius(apart, np.arange(1200), 0.05)


def test_the_order_of_values_and_the_names_of_groups_do_not_matter() -> None:
    rng = np.random.default_rng(8)
    values, groups = rng.random(120), np.repeat(np.arange(60), 2)
    order = np.argsort(rng.permutation(60)[groups], kind="stable")
    assert mean_radius(values[order], groups[order], 0.1) == pytest.approx(mean_radius(values, groups, 0.1), rel=1e-12)


def test_groups_of_one_value_beside_quiet_pairs_do_not_make_the_radius_too_small() -> None:
    rng = np.random.default_rng(9)
    groups = np.concatenate([np.arange(400), np.repeat(np.arange(400, 1400), 2)])
    delta, runs, misses = 0.1, 300, 0
    for _ in range(runs):
        values = np.where(groups < 400, rng.random(len(groups)) < 0.5, 0.5)
        misses += abs(values.mean() - 0.5) > mean_radius(values, groups, delta)
    assert_rate_at_most(misses, runs, delta)


def test_the_count_of_misses_notices_a_bound_that_is_too_tight() -> None:
    rng = np.random.default_rng(10)
    misses = sum(lowest_mean(bernoulli(0.5)(rng, 100), 0.2) > 0.4 for _ in range(200))
    assert_rate_above(misses, 200, 0.2)


def exact_chances(rates: list[float]) -> Vector:
    """P(count = k) for independent events with these rates."""
    chances = np.array([1.0])
    for rate in rates:
        chances = np.convolve(chances, [1.0 - rate, rate])
    return chances


@pytest.mark.parametrize("rates", [[0.1] * 30, [0.0] * 20 + [0.4] * 10, [0.02] * 40, [0.9, 0.05, 0.3] * 8])
@pytest.mark.parametrize("delta", [0.2, 0.05, 0.001])
def test_the_average_expectation_lies_above_its_bound_with_at_most_the_stated_chance(
    rates: list[float], delta: float
) -> None:
    chances, n = exact_chances(rates), len(rates)
    missed = [
        p for k, p in enumerate(chances) if highest_average((np.arange(n) < k).astype(float), delta) < sum(rates) / n
    ]
    assert math.fsum(missed) <= delta


def test_signed_averages_lie_within_their_bounds_with_at_most_the_stated_chance() -> None:
    rng, misses = np.random.default_rng(8), 0
    for _ in range(400):
        values = rng.choice([-0.5, 0.0, 0.25], p=[0.1, 0.7, 0.2], size=60)
        low, high = signed_average_bounds(values, 0.2)
        misses += not low <= 0.0 <= high
    assert_rate_at_most(misses, 400, 0.4)
    assert signed_average_bounds(-np.array([0.25, -0.5, 0.0]), 0.1) == pytest.approx(
        [-end for end in reversed(signed_average_bounds(np.array([0.25, -0.5, 0.0]), 0.1))]
    )


def test_no_values_bound_nothing() -> None:
    assert highest_average(np.empty(0), 0.1) == 1.0
    assert signed_average_bounds(np.empty(0), 0.1) == (-1.0, 1.0)
