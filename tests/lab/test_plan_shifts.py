"""Scores whose mean moves by a wanted amount."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from driftjudge.lab.planner.shifts import asked_again, move_of

GRID = np.array([0.0, 0.25, 0.5, 0.75, 1.0])


def _population(seed: int, size: int = 400) -> NDArray[np.float64]:
    return np.random.default_rng(seed).choice(GRID, size=size, p=[0.1, 0.2, 0.3, 0.25, 0.15])


@given(st.integers(0, 50), st.floats(0.01, 0.4), st.sampled_from([-1, 1]))
def test_the_mean_moves_by_what_was_asked_and_scores_stay_on_the_judges_grid(seed: int, size: float, sign: int) -> None:
    scores = _population(seed)
    move = move_of(scores, sign * size)
    lots = (np.arange(50_000) + 0.5) / 50_000
    # Every lot with every score: the expectation over lots, without sampling error.
    moved = np.array([np.mean(move.apply(np.full(len(lots), level), lots)) for level in GRID])
    counts = np.array([np.mean(scores == level) for level in GRID])
    assert float(counts @ moved) - float(scores.mean()) == pytest.approx(sign * size, abs=1e-4)
    assert set(move.apply(scores, np.linspace(0.0, 0.999, len(scores))).tolist()) <= set(GRID.tolist())


@pytest.mark.parametrize("by", [-0.3, -0.1, 0.2])
def test_some_continuous_scores_move_far_and_the_others_less_so_that_the_mean_is_met(by: float) -> None:
    scores = np.random.default_rng(1).beta(2, 2, size=20_000)
    move = move_of(scores, by)
    moved = move.apply(scores, np.random.default_rng(2).random(len(scores)))
    assert float(np.mean(moved - scores)) == pytest.approx(by, abs=0.005)
    inside = (moved > 0.0) & (moved < 1.0)
    assert len(np.unique(np.abs(moved - scores)[inside].round(9))) == 2


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_shift_beyond_the_end_of_the_scale_goes_as_far_as_the_scale_does(sign: int) -> None:
    move = move_of(_population(3), sign * 0.95)
    assert abs(move.mean_shift) < 0.95
    assert set(move.apply(_population(3), np.zeros(400)).tolist()) == {0.0 if sign < 0 else 1.0}


def test_a_judge_asked_again_moves_scores_one_level_as_often_as_it_was_said_to() -> None:
    scores = np.full((20_000, 1), 0.5)
    again = asked_again(scores, (GRID,), 0.1, np.random.default_rng(0))
    assert set(np.unique(again).tolist()) == {0.25, 0.5, 0.75}
    assert float(np.mean(again != scores)) == pytest.approx(0.1, abs=0.01)
    assert asked_again(scores, (GRID,), 0.0, np.random.default_rng(0)) is scores
