"""Judges that do not repeat themselves answer afresh every time, each in its own way."""

from __future__ import annotations

import numpy as np

from driftjudge.lab.beyond.judges import Calls, Failing, Noisy, Partly

ROWS = np.arange(2_000) % 50
SCORES = np.tile([[0.25, 0.5]], (50, 1))


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def test_a_noisy_judge_moves_one_step_as_often_as_it_should() -> None:
    answers = Noisy(SCORES, 0.1, 0.25).answers(ROWS, rng())
    moved = np.abs(answers - SCORES[ROWS])
    assert set(np.unique(moved)) == {0.0, 0.25}
    assert 0.08 < (moved > 0).mean() < 0.12
    assert np.array_equal(Noisy(SCORES, 0.0, 0.25).answers(ROWS, rng()), SCORES[ROWS])


def test_real_calls_are_drawn_with_equal_chances() -> None:
    calls = np.arange(3.0).reshape(1, 3, 1).repeat(50, axis=0) / 2.0
    answers = Calls(calls).answers(ROWS, rng())
    shares = [(answers == value).mean() for value in (0.0, 0.5, 1.0)]
    assert min(shares) > 0.29


def test_a_change_of_one_part_leaves_the_rest_to_the_old_judge() -> None:
    there = np.arange(50) < 10
    judge = Partly(there, Noisy(SCORES * 0.0, 0.0, 0.25), Noisy(SCORES, 0.0, 0.25))
    answers = judge.answers(np.arange(50), rng())
    assert (answers[there] == 0.0).all()
    assert np.array_equal(answers[~there], SCORES[~there])


def test_a_failing_judge_gives_no_score_at_all_and_more_often_on_bad_items() -> None:
    scores = SCORES.copy()
    scores[::2, 0] = 1.0
    answers = Failing(Noisy(scores, 0.0, 0.25), 0.25, 0.5, 0.1).answers(ROWS, rng())
    silent = np.isnan(answers)
    assert (silent.all(axis=1) == silent.any(axis=1)).all()
    bad = scores[ROWS, 0] <= 0.25
    assert 0.45 < silent[bad, 0].mean() < 0.55
    assert 0.07 < silent[~bad, 0].mean() < 0.13
