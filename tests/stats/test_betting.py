from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftjudge.stats.betting import (
    WEALTH_CEILING,
    cap_above,
    cap_below,
    grow,
    plug_in_bet,
    restart_weight,
)
from driftjudge.stats.errors import SupermartingaleError

centres = st.floats(0.01, 0.99)


@given(centres)
def test_a_bet_at_the_cap_can_lose_everything_and_no_more(centre: float) -> None:
    assert math.isclose(1.0 + cap_below(centre) * (centre - 1.0), 0.0, abs_tol=1e-12)
    assert math.isclose(1.0 + cap_above(centre) * (0.0 - centre), 0.0, abs_tol=1e-12)


@given(st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=20), st.floats(0.1, 10.0))
def test_the_plug_in_bet_is_the_mean_over_the_mean_square_within_the_cap(past: list[float], cap: float) -> None:
    mean, square = float(np.mean(past)), float(np.mean(np.square(past)))
    literal = min(max(mean / square, 0.0), cap) if square > 0.0 else 0.0
    bet = plug_in_bet(float(np.sum(past)), float(np.sum(np.square(past))), cap)
    assert 0.0 <= bet <= cap
    assert math.isclose(bet, literal, rel_tol=1e-9, abs_tol=1e-12)


def test_nothing_is_bet_before_the_first_observation_or_on_the_losing_side() -> None:
    assert plug_in_bet(0.0, 0.0, 5.0) == 0.0
    assert plug_in_bet(-0.1, 1.0, 5.0) == 0.0


def test_wealth_grows_by_the_factor() -> None:
    assert grow(3.0, 2.0, 0.25) == 4.5
    assert grow(3.0, 2.0, -0.5) == 0.0


def test_a_factor_below_zero_stops_the_process_but_rounding_at_the_cap_does_not() -> None:
    assert grow(3.0, 2.0, -0.5 - 1e-12) == 0.0
    with pytest.raises(SupermartingaleError, match="below 0"):
        grow(3.0, 2.0, -0.51)


def test_wealth_never_becomes_infinite() -> None:
    assert grow(WEALTH_CEILING, 10.0, 1.0) == WEALTH_CEILING


def test_the_prior_over_change_times_never_spends_more_than_one() -> None:
    """Exactly: the first million terms, and the integral of 1 / (x log^2 x) for all the others."""
    n = np.arange(1_000_000, dtype=np.float64)
    terms = 1.0 / ((n + 30.0) * np.log(n + 30.0) ** 2)
    rest = 1.0 / math.log(n[-1] + 30.0)
    sample, share = [1, 17, 999_998], 0.9 * math.log(29.0)
    assert [restart_weight(float(k)) for k in sample] == pytest.approx([share * terms[k] for k in sample], rel=1e-12)
    assert restart_weight(0.0) == pytest.approx(0.1 + share * terms[0], rel=1e-12)
    assert 0.1 + share * (float(np.sum(terms)) + rest) <= 1.0


def test_late_changes_keep_a_prior_that_falls_hardly_faster_than_one_over_n() -> None:
    for n in (1e3, 1e6, 1e9):
        assert restart_weight(n) > 0.9 * math.log(29.0) / ((n + 30.0) * 1.1 * math.log(n) ** 2)
        assert restart_weight(n) < restart_weight(n - 1.0)
