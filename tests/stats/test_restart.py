from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftjudge.stats.betting import WEALTH_CEILING, restart_weight
from driftjudge.stats.restart import legal_step, restart_step
from tests.validity.reference import Restart

FRACTIONS = np.array([0.05, 0.4, 0.9])


@pytest.mark.parametrize("detector", [False, True])
@given(st.lists(st.floats(-1.0, 1.0), max_size=40), st.floats(0.1, 1.0))
def test_the_recursion_is_the_sum_over_every_start_the_change_could_have_had(
    detector: bool, steps: list[float], cap: float
) -> None:
    literal = Restart(FRACTIONS.tolist(), detector)
    rows, cash, total = np.zeros((2, 5)), 1.0, 0.0
    for n, d in enumerate(steps):
        weight = 1.0 if detector else restart_weight(float(n))
        total = restart_step(rows, 1, 2, FRACTIONS, weight, cap, d)
        cash -= weight
        literal.take(d, cap)
    evalue = total / 3.0 if detector else total / 3.0 + cash
    assert evalue == pytest.approx(literal.wealth if steps or detector else 1.0, rel=1e-12)
    assert total == pytest.approx(float(rows[1, 2:].sum()), rel=1e-12)
    assert not rows[0].any()
    assert not rows[1, :2].any()


def test_a_change_after_a_long_quiet_time_is_seen_almost_as_fast_as_an_early_one() -> None:
    """The plug-in bet needs ten times longer after ten times the quiet; the mixture pays only a logarithm."""

    def delay(quiet: int) -> int:
        rows, cash = np.zeros((1, 3)), 1.0
        for n in range(quiet + 10_000):
            weight = restart_weight(float(n))
            cash -= weight
            total = restart_step(rows, 0, 0, FRACTIONS, weight, 2.0, -0.05 if n < quiet else 0.1)
            if n >= quiet and total / 3.0 + cash >= 100.0:
                return n - quiet
        raise AssertionError("the change was never seen")

    assert delay(30_000) < 2 * delay(300)


def test_components_stop_at_the_ceiling_and_at_zero() -> None:
    rows = np.array([[WEALTH_CEILING, 1.0, 1.0]])
    restart_step(rows, 0, 0, FRACTIONS, 0.0, 1.0, 1.0)
    assert rows[0, 0] == WEALTH_CEILING
    rows = np.ones((1, 1))
    assert restart_step(rows, 0, 0, np.array([1.0]), 0.0, 1.0, -1.0 - 1e-12) == 0.0


def test_a_step_that_would_make_wealth_negative_is_not_legal() -> None:
    assert legal_step(-1.0, 1.0)
    assert legal_step(-1.0 - 1e-12, 1.0)
    assert not legal_step(-1.01, 1.0)
    assert legal_step(-1.01, 0.9)
    assert not legal_step(-1.2, 0.9)
