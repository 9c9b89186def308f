"""Agreement with the humans and with oneself."""

from __future__ import annotations

import math

import numpy as np
import pytest

from driftjudge.project.agreement import agreement, repeat_noise, weighted_kappa, worst_disagreements

RUBRICS = ("tone", "truth")


def literal_kappa(one: list[int], other: list[int], levels: int) -> float:
    """Cohen's weighted kappa as textbooks write it, over the table of counts."""
    observed = np.zeros((levels, levels))
    for a, b in zip(one, other, strict=True):
        observed[a, b] += 1.0 / len(one)
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0))
    weights = np.subtract.outer(np.arange(levels), np.arange(levels)) ** 2
    return 1.0 - float((weights * observed).sum() / (weights * expected).sum())


def test_the_closed_form_is_the_textbooks_kappa() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        one, other = rng.integers(0, 5, size=(2, 30))
        mine = weighted_kappa(one / 4, other / 4)
        assert mine == pytest.approx(literal_kappa(one.tolist(), other.tolist(), 5), abs=1e-12)


def test_a_judge_that_is_always_half_a_step_higher_has_that_bias_and_full_correlation() -> None:
    human = np.array([[0.0, 0.5], [0.25, 0.5], [0.5, 0.5]])
    found = agreement(RUBRICS, human + 0.125, human)
    assert found[0].bias == pytest.approx(0.125)
    assert found[0].correlation == pytest.approx(1.0)
    assert found[0].kappa < 1.0
    assert math.isnan(found[1].correlation)


def test_unscored_anchors_are_counted_and_left_out() -> None:
    human = np.array([[0.0, 0.0], [1.0, 1.0], [0.5, 0.5]])
    judge = human.copy()
    judge[1, 0] = np.nan
    found = agreement(RUBRICS, judge, human)
    assert (found[0].scored, found[0].unscored, found[0].kappa) == (2, 1, 1.0)
    assert (found[1].scored, found[1].unscored) == (3, 0)


def test_the_worst_disagreements_are_named_by_id_and_the_farthest_comes_first() -> None:
    human = np.array([[0.0, 0.0], [1.0, 1.0], [0.5, 0.5]])
    judge = np.array([[0.25, 0.0], [0.0, np.nan], [0.5, 0.0]])
    found = worst_disagreements(("a", "b", "c"), RUBRICS, judge, human)
    assert [(one.anchor, one.rubric) for one in found] == [("b", "tone"), ("c", "truth"), ("a", "tone")]


def test_repeat_noise_is_the_share_of_departures_and_the_spread_within_an_anchor() -> None:
    passes = np.array([[[0.5, 0.0]], [[0.5, 0.0]], [[0.75, np.nan]], [[0.5, 0.0]]])
    tone, truth = repeat_noise(RUBRICS, passes, np.array([0.1, 0.1]))
    assert tone.departures == 0.25
    assert tone.deviation == pytest.approx(float(np.std([0.5, 0.5, 0.75, 0.5], ddof=1)))
    assert truth.departures == 0.25  # a refusal departs from a usual score
    assert truth.deviation == 0.0


def test_one_pass_cannot_tell_the_noise() -> None:
    assert math.isnan(repeat_noise(("tone",), np.array([[[0.5]]]), np.array([0.1]))[0].deviation)
