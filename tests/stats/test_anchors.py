from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftjudge.stats.anchors import (
    ABOVE,
    ANY_DEPARTURE,
    BELOW,
    DEPARTURE,
    GAP,
    PAIRED,
    SILENCE,
    anchor_statistic,
    departure,
    rescaled_difference,
    resolution_of,
    usual_scores,
)
from driftjudge.stats.betting import cap_above
from tests.validity import reference as ref

NAN = math.nan
score = st.floats(0.0, 1.0)
grid = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
answer = st.one_of(score, grid, st.just(NAN))
directions = st.sampled_from([BELOW, ABOVE])
rows = st.lists(answer, min_size=3, max_size=3)
KINDS = {GAP: "gap", PAIRED: "paired", DEPARTURE: "departure", ANY_DEPARTURE: "any departure", SILENCE: "silence"}


@given(
    st.sampled_from(sorted(KINDS)), st.integers(0, 2), directions, rows, st.lists(score, min_size=3, max_size=3), rows
)
def test_a_statistic_is_what_the_page_says_it_is(
    kind: int, rubric: int, direction: float, y: list[float], human: list[float], usual: list[float]
) -> None:
    resolution = [0.125, 0.01, 0.3]
    fast = anchor_statistic(
        kind, rubric, direction, np.array(y), np.array(human), np.array(usual), np.array(resolution)
    )
    assert fast == ref.statistic_of(KINDS[kind], rubric, direction, y, human, usual, resolution)
    assert 0.0 <= fast <= 1.0


@given(st.sampled_from([GAP, PAIRED]), directions, score, score, score)
def test_a_refusal_supports_a_bet_no_more_than_any_score_would(
    kind: int, direction: float, y: float, human: float, usual: float
) -> None:
    def support(scored: float, mode: float) -> float:
        x = anchor_statistic(
            kind, 0, direction, np.array([scored]), np.array([human]), np.array([mode]), np.array([0.1])
        )
        return direction * x

    assert support(NAN, usual) <= support(y, usual)
    assert support(y, NAN) <= support(y, usual) or kind == GAP


def test_a_refusal_is_a_departure_without_a_direction_unless_the_judge_usually_refuses() -> None:
    one, resolution = np.array([0.5]), np.array([0.1])

    def event(kind: int, direction: float, scored: float, mode: float) -> float:
        return float(anchor_statistic(kind, 0, direction, np.array([scored]), one, np.array([mode]), resolution))

    for direction in (BELOW, ABOVE):
        assert event(DEPARTURE, direction, NAN, 0.5) == event(DEPARTURE, direction, 0.5, NAN) == 0.0
    assert event(ANY_DEPARTURE, ABOVE, NAN, 0.5) == event(ANY_DEPARTURE, ABOVE, 0.5, NAN) == 1.0
    assert event(ANY_DEPARTURE, ABOVE, NAN, NAN) == 0.0
    assert event(SILENCE, ABOVE, NAN, 0.5) == 1.0
    assert event(SILENCE, ABOVE, 0.5, NAN) == event(SILENCE, ABOVE, NAN, NAN) == event(SILENCE, ABOVE, 0.0, 0.5) == 0.0


@given(grid, grid, directions)
def test_turning_the_scale_round_turns_the_statistics_round(y: float, reference: float, direction: float) -> None:
    assert rescaled_difference(1.0 - y, 1.0 - reference) == 1.0 - rescaled_difference(y, reference)
    assert departure(1.0 - y, 1.0 - reference, 0.1, -direction) == departure(y, reference, 0.1, direction)


@given(st.floats(0.01, 0.5), st.floats(0.01, 1.0))
def test_a_bet_on_a_rate_pays_the_likelihood_ratio_of_a_higher_one(p0: float, fraction: float) -> None:
    p1 = p0 + fraction * (1.0 - p0)
    bet = fraction * cap_above(p0)
    assert math.isclose(1.0 + bet * (1.0 - p0), p1 / p0, rel_tol=1e-9)
    assert math.isclose(1.0 + bet * (0.0 - p0), (1.0 - p1) / (1.0 - p0), rel_tol=1e-9, abs_tol=1e-12)


@given(st.lists(st.lists(st.one_of(grid, st.just(NAN)), min_size=2, max_size=2), min_size=1, max_size=7))
def test_the_usual_score_is_the_most_frequent_and_of_those_the_first(passes: list[list[float]]) -> None:
    usual = usual_scores(np.array(passes)[:, :, None])
    literal = [ref.mode_of([scoring[a] for scoring in passes]) for a in range(2)]
    np.testing.assert_array_equal(usual[:, 0], literal)


def test_on_a_grid_half_its_smallest_step_tells_scores_apart() -> None:
    passes = np.array([[[0.0, 0.0], [0.25, 0.5], [1.0, 1.0]]])
    assert resolution_of(passes).tolist() == [0.125, 0.25]
    assert resolution_of(np.full((2, 5, 1), 0.5)).item() > 0.0


def test_continuous_scores_are_told_apart_by_twice_their_scatter() -> None:
    rng = np.random.default_rng(1)
    passes = rng.uniform(0.2, 0.8, (1, 50, 1)) + rng.normal(scale=0.03, size=(6, 50, 1))
    passes[0, :10] = NAN
    literal = ref.resolution_of(passes[:, :, 0].T.tolist())
    assert resolution_of(passes).item() == pytest.approx(literal, rel=1e-12)
    assert resolution_of(passes[:1, 10:]).item() == 0.01
