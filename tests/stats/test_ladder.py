"""A ladder of bounds is worth at most what it costs, whatever the true rate and however anchors differ."""

from __future__ import annotations

import math

import numpy as np
import pytest

from driftjudge.stats.bounds import highest_rate, mean_radius
from driftjudge.stats.errors import StatisticsError
from driftjudge.stats.ladder import STEPS, Rung, deltas, ladder


def rungs_for(events: int, trials: int) -> tuple[Rung, ...]:
    return ladder(tuple(highest_rate(events, trials, delta) for delta in deltas()), 1.0)


def worth_at(rungs: tuple[Rung, ...], rate: float) -> float:
    """What evidence is worth when this is the true rate: the rung on which it stands."""
    return next(rung.worth for rung in rungs if rate <= rung.centre)


def law_of_count(rates: list[float]) -> list[float]:
    """The exact law of the number of events with these rates."""
    law = [1.0]
    for rate in rates:
        law = [
            (1.0 - rate) * (law[k] if k < len(law) else 0.0) + rate * (law[k - 1] if k else 0.0)
            for k in range(len(law) + 1)
        ]
    return law


@pytest.mark.parametrize("trials", [5, 40, 300])
@pytest.mark.parametrize("rate", [0.001, 0.01, 0.05, 0.2, 0.5, 0.9])
def test_its_expected_worth_is_at_most_1_for_every_true_rate(trials: int, rate: float) -> None:
    law = law_of_count([rate] * trials)
    expected = math.fsum(p * worth_at(rungs_for(events, trials), rate) for events, p in enumerate(law))
    assert expected <= 1.0 + 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_its_expected_worth_is_at_most_1_for_anchors_with_unequal_rates(seed: int) -> None:
    rng = np.random.default_rng([seed, 71])
    rates = (rng.choice([0.0, 0.02, 0.3, 0.9], size=60) * rng.random(60)).tolist()
    law, rate = law_of_count(rates), math.fsum(rates) / len(rates)
    expected = math.fsum(p * worth_at(rungs_for(events, 60), rate) for events, p in enumerate(law))
    assert expected <= 1.0 + 1e-9


def test_bounds_that_are_too_near_would_be_worth_more_than_1() -> None:
    rate, trials = 0.2, 40
    law = law_of_count([rate] * trials)

    def careless(events: int) -> tuple[Rung, ...]:
        return ladder(tuple(highest_rate(events, trials, min(4 * delta, 0.99)) for delta in deltas()), 1.0)

    assert math.fsum(p * worth_at(careless(events), rate) for events, p in enumerate(law)) > 1.0


def test_a_mean_that_is_bounded_has_an_expected_worth_of_at_most_1() -> None:
    rng = np.random.default_rng(73)
    groups = np.repeat(np.arange(50), 3)
    worths = []
    for _ in range(2_000):
        values = (rng.random(150) < 0.3).astype(float)
        bounds = tuple(min(float(values.mean()) + mean_radius(values, groups, delta), 1.0) for delta in deltas())
        worths.append(worth_at(ladder(bounds, 1.0), 0.3))
    assert np.mean(worths) <= 1.0


def test_worth_grows_from_the_share_of_the_first_rung_like_the_inverse_of_its_error() -> None:
    worths = [rung.worth for rung in rungs_for(0, 100)]
    assert worths[0] == pytest.approx(1.0 / len(STEPS))
    assert np.diff(worths) == pytest.approx([1.0 / delta / len(STEPS) for delta in deltas()])


def test_too_few_bounds_are_refused() -> None:
    with pytest.raises(StatisticsError, match="8 bounds, got 2"):
        ladder((0.1, 0.2), 1.0)
