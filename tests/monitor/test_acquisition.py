from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from driftjudge.monitor.acquisition import (
    BANDIT,
    BOUNDARY,
    ESCALATION,
    FULL,
    GROWTH,
    LOG_ESCALATION,
    RECENT_EVIDENCE,
    RULES,
    STRATIFIED,
    UNIFORM,
    acquisition_probability,
)
from driftjudge.monitor.layout import (
    BAR,
    ESCALATED,
    GROWN,
    NULL,
    RECENT,
    SEEN,
    STRATUM_WIDTH,
    SUM_CHEAP,
    WEALTH,
)
from tests.monitor.builders import GOOD, make_monitor, raise_judge_alarm

FLOOR = 0.2
THRESHOLD = 100.0


def probability(
    rule: int,
    *,
    t: int = 0,
    cheap: tuple[float, float] = (0.9, 0.9),
    wealth: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0),
    seen: tuple[float, float] = (10.0, 10.0),
    cheap_mean: float = 0.9,
    nulls: tuple[float, ...] = (0.6, 0.6, 0.6, 0.6),
    recent: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0),
    escalated: float = 0.0,
) -> float:
    """pi for an item of stratum t: two strata of two rubrics, bars at 0.65 and nulls at 0.6."""
    cells = np.zeros((4, GROWN))
    cells[:, BAR], cells[:, NULL], cells[:, WEALTH] = 0.65, nulls, wealth
    cells[:, RECENT] = recent
    strata: NDArray[np.float64] = np.zeros((2, STRATUM_WIDTH))
    strata[:, SEEN], strata[:, ESCALATED] = seen, escalated
    cells[:, SUM_CHEAP] = cheap_mean * np.repeat(seen, 2)
    return float(acquisition_probability(rule, FLOOR, t, np.array(cheap), cells, strata, THRESHOLD))


def test_the_rules_are_numbered_in_the_order_of_their_names() -> None:
    numbers = (UNIFORM, STRATIFIED, BANDIT, ESCALATION, BOUNDARY, GROWTH, FULL, LOG_ESCALATION, RECENT_EVIDENCE)
    assert [RULES[i] for i in numbers] == list(RULES)


def test_log_escalation_rises_with_the_log_of_the_largest_wealth() -> None:
    assert probability(LOG_ESCALATION, wealth=(0.5,) * 4) == FLOOR
    halfway = probability(LOG_ESCALATION, wealth=(THRESHOLD**0.5, 1.0, 1.0, 1.0))
    assert halfway == pytest.approx(FLOOR + (1.0 - FLOOR) / 2)
    assert halfway > probability(ESCALATION, wealth=(THRESHOLD**0.5, 1.0, 1.0, 1.0))


def test_recent_asks_always_at_tenfold_evidence_since_the_last_beginning_whatever_the_wealth() -> None:
    assert probability(RECENT_EVIDENCE, recent=(0.2,) * 4, wealth=(0.01,) * 4) == FLOOR
    halfway = probability(RECENT_EVIDENCE, recent=(10.0**0.5, 1.0, 1.0, 1.0), wealth=(1e-6,) * 4)
    assert halfway == pytest.approx(FLOOR + (1.0 - FLOOR) / 2)
    assert probability(RECENT_EVIDENCE, recent=(1.0, 10.0, 1.0, 1.0)) == 1.0
    assert probability(RECENT_EVIDENCE, recent=(1.0, 1.0, 10.0, 10.0)) == FLOOR  # another stratum's


def test_recent_leaves_out_a_cell_that_has_proved_its_drop_alone() -> None:
    assert probability(RECENT_EVIDENCE, recent=(1e6, 1.0, 1.0, 1.0), wealth=(THRESHOLD, 1.0, 1.0, 1.0)) == FLOOR


def test_recent_pays_for_its_rises_out_of_the_floor_down_to_a_third_of_the_budget() -> None:
    assert probability(RECENT_EVIDENCE, seen=(99.0, 99.0), escalated=5.0) == pytest.approx(FLOOR - 0.05)
    assert probability(RECENT_EVIDENCE, seen=(99.0, 99.0), escalated=90.0) == pytest.approx(FLOOR / 3)


def test_uniform_asks_with_the_budget_whatever_happens() -> None:
    assert probability(UNIFORM) == probability(UNIFORM, wealth=(90.0,) * 4, cheap=(0.0, 0.0)) == FLOOR


def test_full_always_asks() -> None:
    assert probability(FULL) == 1.0


def test_stratified_asks_at_the_same_rate_in_every_stratum() -> None:
    rare, common = (probability(STRATIFIED, t=t, seen=(1.0, 5.0)) for t in (0, 1))
    assert rare == common == FLOOR


def test_bandit_spends_half_uniformly_and_half_by_hedge_on_log_wealth() -> None:
    seen, wealth = (9.0, 29.0), (3.0, 1.0, 1.0, 0.5)
    leader, other = (probability(BANDIT, t=t, wealth=wealth, seen=seen) for t in (0, 1))
    rate = math.sqrt(8 * math.log(2) / 39)
    shares = (10 / 40, 30 / 40)
    total = shares[0] * 3.0**rate + shares[1]
    assert leader == pytest.approx(FLOOR * (0.5 + 0.5 * 3.0**rate / total))
    assert other == pytest.approx(FLOOR * (0.5 + 0.5 / total))
    assert shares[0] * leader + shares[1] * other == pytest.approx(FLOOR)


def test_bandit_splits_evenly_when_all_wealth_is_lost() -> None:
    assert probability(BANDIT, wealth=(0.0,) * 4) == pytest.approx(FLOOR)


@pytest.mark.parametrize(("wealth", "urgency"), [(0.0, 0.0), (50.0, 0.5), (100.0, 1.0), (1e9, 1.0)])
def test_escalation_follows_the_largest_wealth_of_the_items_stratum(wealth: float, urgency: float) -> None:
    expected = FLOOR + (1 - FLOOR) * urgency
    assert probability(ESCALATION, wealth=(0.0, wealth, 0.0, 0.0)) == pytest.approx(expected)
    assert probability(ESCALATION, t=1, wealth=(0.0, wealth, 0.0, 0.0)) == pytest.approx(FLOOR)


@pytest.mark.parametrize(
    ("cheap", "urgency"),
    [((1.0, 1.0), 0.0), ((0.825, 1.0), 0.5), ((1.0, 0.825), 0.5), ((0.65, 1.0), 1.0), ((1.0, 0.1), 1.0)],
)
def test_boundary_rises_from_the_floor_at_the_best_score_to_certainty_at_the_bar(
    cheap: tuple[float, float], urgency: float
) -> None:
    assert probability(BOUNDARY, cheap=cheap) == pytest.approx(FLOOR + (1 - FLOOR) * urgency)


def test_boundary_always_asks_about_an_item_the_cheap_judge_left_unscored() -> None:
    assert probability(BOUNDARY, cheap=(1.0, math.nan)) == 1.0


def test_growth_stays_at_the_floor_while_the_cheap_judge_overrates_every_bar() -> None:
    assert probability(GROWTH, cheap_mean=0.61) == FLOOR
    assert probability(GROWTH, seen=(0.0, 0.0)) == FLOOR


def test_growth_rises_with_the_cheap_judges_shortfall_below_the_null() -> None:
    cap = 1 / (1 / FLOOR - 0.6)
    growth = math.log(1 + cap * (0.6 - 0.2))
    assert probability(GROWTH, cheap_mean=0.2) == pytest.approx(FLOOR + (1 - FLOOR) * growth)
    assert FLOOR < probability(GROWTH, cheap_mean=0.5) < probability(GROWTH, cheap_mean=0.2)


def test_growth_ignores_a_cell_that_is_not_watched() -> None:
    assert probability(GROWTH, cheap_mean=0.2, nulls=(math.nan,) * 4) == FLOOR


@given(
    rule=st.integers(0, len(RULES) - 1),
    t=st.integers(0, 1),
    cheap=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    wealth=st.tuples(*[st.floats(0, 1e280)] * 4),
    seen=st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)),
    cheap_mean=st.floats(0, 1),
)
def test_every_rule_gives_a_probability_above_0_and_at_most_1(
    rule: int,
    t: int,
    cheap: tuple[float, float],
    wealth: tuple[float, ...],
    seen: tuple[int, int],
    cheap_mean: float,
) -> None:
    pi = probability(rule, t=t, cheap=cheap, wealth=wealth, seen=(seen[0], seen[1]), cheap_mean=cheap_mean)
    assert 0.0 < pi <= 1.0


@given(
    rule=st.sampled_from([UNIFORM, STRATIFIED, BANDIT, ESCALATION, GROWTH, FULL]),
    wealth=st.tuples(*[st.floats(0, 200)] * 4),
    one=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    other=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_only_the_boundary_rule_looks_at_the_items_own_cheap_scores(
    rule: int, wealth: tuple[float, ...], one: tuple[float, float], other: tuple[float, float]
) -> None:
    assert probability(rule, wealth=wealth, cheap=one) == probability(rule, wealth=wealth, cheap=other)


def test_after_a_judge_alarm_evidence_against_the_old_judges_bars_earns_no_labels() -> None:
    monitor = make_monitor(acquisition="recent", budget=0.3, anchor_every=1)
    monitor._main.cells[:, RECENT] = 10.0
    assert monitor.observe("before", stratum="coding", cheap=GOOD).probability == 1.0
    monitor.record_strong("before", GOOD)
    raise_judge_alarm(monitor)
    monitor._main.cells[:, RECENT] = 10.0
    assert monitor.observe("after", stratum="coding", cheap=GOOD).probability == pytest.approx(0.3)
    assert monitor._corrected is not None
    monitor._corrected.cells[:, RECENT] = 10.0  # but that against lowered ones does
    assert monitor.observe("later", stratum="coding", cheap=GOOD).probability == 1.0
