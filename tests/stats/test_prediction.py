from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from driftjudge.stats.prediction import (
    highest_observation,
    highest_observation_on_ramp,
    inverse_probability,
    observation,
    observation_cap,
    proxy,
)

scores = st.floats(0.0, 1.0)
nulls = st.floats(0.01, 0.99)
omegas = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.0, 1.0))
probabilities = st.floats(0.02, 1.0)

MU = np.linspace(0.0, 1.0, 2001)


def z(mu: float, y: float, null: float, omega: float, asked: bool, pi: float) -> float:
    return float(observation(proxy(mu, null, omega), y, inverse_probability(asked, pi)))


@given(scores, scores, nulls, omegas, probabilities)
def test_the_observation_is_unbiased_for_the_strong_score_whatever_the_cheap_one_says(
    mu: float, y: float, null: float, omega: float, pi: float
) -> None:
    mean = pi * z(mu, y, null, omega, True, pi) + (1.0 - pi) * z(mu, y, null, omega, False, pi)
    assert math.isclose(mean, y, abs_tol=1e-12)


@given(scores, scores, nulls, st.floats(0.02, 0.98))
def test_a_proxy_of_weight_one_is_the_papers_observation_and_of_weight_zero_ignores_the_cheap_judge(
    mu: float, y: float, null: float, pi: float
) -> None:
    assert math.isclose(z(mu, y, null, 1.0, True, pi), mu + (y - mu) / pi, abs_tol=1e-9)
    assert math.isclose(z(mu, y, null, 1.0, False, pi), mu, abs_tol=1e-12)
    assert z(mu, y, null, 0.0, True, pi) == z(1.0 - mu, y, null, 0.0, True, pi)
    assert z(mu, y, null, 0.0, False, pi) == null


@given(scores, scores, nulls, omegas, probabilities, st.booleans())
def test_no_observation_exceeds_the_highest_one(
    mu: float, y: float, null: float, omega: float, pi: float, asked: bool
) -> None:
    assert z(mu, y, null, omega, asked, pi) <= highest_observation(null, omega, pi) + 1e-12


@given(nulls, omegas, probabilities)
def test_the_highest_observation_is_reached_so_that_no_larger_bet_is_legal(
    null: float, omega: float, pi: float
) -> None:
    highest = highest_observation(null, omega, pi)
    assert math.isclose(z(0.0, 1.0, null, omega, True, pi), highest, rel_tol=1e-12)
    assert math.isclose(1.0 + observation_cap(highest, null) * (null - highest), 0.0, abs_tol=1e-12)


def ramp(mu: float, bar: float, floor: float) -> float:
    return 1.0 if mu <= bar else floor + (1.0 - floor) * (1.0 - mu) / (1.0 - bar)


@given(scores, scores, nulls, omegas, scores, probabilities, st.booleans(), scores)
def test_no_observation_of_the_boundary_rule_exceeds_the_highest_one_on_its_ramp(
    mu: float, y: float, null: float, omega: float, bar: float, floor: float, asked: bool, urgency: float
) -> None:
    """Another rubric may be more urgent, so that pi lies anywhere between this rubric's ramp and 1."""
    pi = ramp(mu, bar, floor)
    pi += (1.0 - pi) * urgency
    assert z(mu, y, null, omega, asked, pi) <= highest_observation_on_ramp(null, omega, bar, floor) + 1e-9


@given(nulls, omegas, st.floats(0.0, 0.99), probabilities)
def test_the_highest_observation_on_the_ramp_is_reached(null: float, omega: float, bar: float, floor: float) -> None:
    """A bound far above every observation would be valid and would throttle the bet for nothing."""
    above = bar + (1.0 - bar) * MU[1:]
    f = null + omega * (above - null)
    pi = floor + (1.0 - floor) * (1.0 - above) / (1.0 - bar)
    reached = max(1.0, float(np.max(f + (1.0 - f) / pi)))
    highest = highest_observation_on_ramp(null, omega, bar, floor)
    assert reached <= highest * (1.0 + 1e-12)
    assert reached >= 1.0 + (highest - 1.0) * 0.999
    assert highest <= highest_observation(null, omega, floor) * (1.0 + 1e-12)
