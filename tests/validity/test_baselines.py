"""Composite nulls from baseline passes: an unchanged judge meets them, except with the share of alpha they cost."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from driftjudge.monitor import AnchorSet, MonitorConfig
from driftjudge.monitor.baseline import Component, make_baseline
from driftjudge.monitor.config import Statistic
from driftjudge.stats.anchors import BELOW
from tests.validity.anchor_subjects import Answers
from tests.validity.checks import Vector
from tests.validity.exact import assert_rate_above, assert_rate_at_most
from tests.validity.streams import GRID

RUNS = 200
RUBRICS = 2
ALPHA, SHARE = 0.6, 0.5  # far above what anybody would ask for: bounds with much to spend are bounds with little room

Laws = tuple[tuple[tuple[float, Vector], ...], ...]
"""Per anchor: the judge's answers with their probabilities."""


def noisy_answers(anchors: int, even: bool, rng: np.random.Generator) -> tuple[Vector, Laws]:
    """Human labels, and a judge: equally noisy on all anchors (which leaves Clopper-Pearson no room), or steady on
    some, moody on others, and sometimes refusing to answer."""
    settled = rng.choice(GRID[1:-1] if even else GRID, size=(anchors, RUBRICS))
    mood = rng.choice([0.3] if even else [0.0, 0.05, 0.3], size=(anchors, RUBRICS))
    silence = rng.choice([0.0] if even else [0.0, 0.0, 0.1, 0.8], size=anchors)
    laws = []
    for a in range(anchors):
        answers = [
            [(1.0 - mood[a, r], settled[a, r])]
            + [(mood[a, r] / 2.0, float(np.clip(settled[a, r] + step, 0.0, 1.0))) for step in (-0.25, 0.25)]
            for r in range(RUBRICS)
        ]
        law = [
            ((1.0 - silence[a]) * math.prod(p for p, _ in pair), np.array([score for _, score in pair]))
            for pair in itertools.product(*answers)
        ]
        laws.append(((silence[a], np.full(RUBRICS, np.nan)), *law))
    return rng.choice(GRID, size=(anchors, RUBRICS)), tuple(laws)


def scoring(laws: Laws, rng: np.random.Generator) -> Vector:
    """One pass over the anchors."""
    return np.array([law[rng.choice(len(law), p=[p for p, _ in law])][1] for law in laws])


def missed(component: Component, judge: Answers) -> bool:
    """Whether the unchanged judge violates this component's null."""
    truth = judge.expectation(component.kind, component.rubric, component.direction)
    return truth < component.centre - 1e-12 if component.side == BELOW else truth > component.centre + 1e-12


def misses(statistics: tuple[Statistic, ...], passes: int, *, even: bool, screen: bool, copies: bool = False) -> int:
    """In how many runs any component was wrong about the judge."""
    config = MonitorConfig(
        rubrics=("clear", "right"),
        strata=("all",),
        alpha_judge=ALPHA,
        baseline_share=SHARE,
        statistics=statistics,
        screen=screen,
    )
    rng = np.random.default_rng([23, passes, even, screen])
    wrong = 0
    for _ in range(RUNS):
        human, laws = noisy_answers(24, even, rng)
        scorings = [scoring(laws, rng) for _ in range(passes)]
        if copies:
            scorings = [scorings[0]] * passes
        anchors = AnchorSet(ids=[str(a) for a in range(len(human))], human=human, passes=scorings)
        baseline = make_baseline(anchors, config)
        judge = Answers(
            human[baseline.kept], baseline.usual, baseline.resolution, tuple(laws[a] for a in baseline.kept)
        )
        wrong += any(missed(component, judge) for component in baseline.components)
    return wrong


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize(("passes", "screen"), [(2, False), (6, False), (6, True)])
@pytest.mark.parametrize("statistics", [("gap",), ("fingerprint",), ("gap", "fingerprint", "paired")])
def test_all_nulls_hold_at_once_except_with_the_share_of_alpha(
    statistics: tuple[Statistic, ...], passes: int, screen: bool, even: bool
) -> None:
    wrong = misses(statistics, passes, even=even, screen=screen)
    assert_rate_at_most(wrong, RUNS, ALPHA * SHARE)


def test_passes_that_are_copies_of_one_another_make_the_judge_look_steadier_than_it_is() -> None:
    wrong = misses(("fingerprint",), 6, even=False, screen=True, copies=True)
    assert_rate_above(wrong, RUNS, ALPHA * SHARE)


def drift_misses(silent: int, runs: int) -> tuple[int, float]:
    """How often the true drift from the usual scores lay outside its radius, and how often it may.

    On `silent` of 200 anchors the judge never answers, on the others it answers 0 or 1 by the toss of a coin.
    """
    config = MonitorConfig(rubrics=("clear",), strata=("all",), screen=False)
    rng = np.random.default_rng([29, silent])
    misses = 0
    for _ in range(runs):
        passes = np.where(np.arange(200)[:, None] < silent, np.nan, rng.integers(2, size=(6, 200, 1)))
        anchors = AnchorSet(ids=[str(a) for a in range(200)], human=np.full((200, 1), 0.5), passes=passes)
        baseline = make_baseline(anchors, config)
        truth = 0.5 - np.nanmean(baseline.usual)
        misses += abs(baseline.drift[0] - truth) > baseline.drift_error[0]
    return misses, config.alpha_judge * config.baseline_share


def test_the_drift_from_the_usual_scores_lies_within_its_radius() -> None:
    misses, allowed = drift_misses(silent=0, runs=200)
    assert_rate_at_most(misses, 200, allowed)


def test_the_drift_from_the_usual_scores_lies_within_its_radius_for_a_judge_that_often_refuses() -> None:
    misses, allowed = drift_misses(silent=180, runs=200)
    assert_rate_at_most(misses, 200, allowed)
