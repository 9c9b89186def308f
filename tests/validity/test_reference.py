"""The fast monitor against the literal one: the same verdict, the same alarms, the same evidence to twelve digits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from driftjudge.monitor import AnchorSet, Monitor
from driftjudge.monitor.config import Acquisition, Preset
from driftjudge.monitor.main_process import main_evalue
from tests.validity import reference as ref
from tests.validity.anchor_subjects import KIND_NAMES
from tests.validity.cases import ITEMS, RUBRICS, Case, case, config_of
from tests.validity.main_subjects import ACQUISITIONS
from tests.validity.reference_correction import Correction
from tests.validity.reference_monitor import Course, run

RTOL = 1e-12


def stratum_of(anchors: AnchorSet, anchor: int) -> int:
    """0 or 1, as the cases name them."""
    assert anchors.strata is not None
    return ("s", "t").index(anchors.strata[anchor])


def literal(monitor: Monitor) -> tuple[ref.Cells, ref.Anchors]:
    """The literal families with the same nulls and, for means, the same centres; everything else worked out anew."""
    config, anchors, baseline = monitor.config, monitor.anchors, monitor.baseline
    assert anchors is not None
    assert baseline is not None
    cells = ref.Cells(config, monitor.calibration.nulls.tolist(), monitor.calibration.bars.tolist())
    passes = anchors.passes.tolist()
    if config.preset == "paper":
        kept, defining, fresh = list(range(len(anchors))), passes, passes
    else:
        defining, fresh = passes[: len(passes) // 2], passes[len(passes) // 2 :]
        steady = [a for a in range(len(anchors)) if len({repr(scoring[a]) for scoring in defining}) == 1]
        kept = steady if len(steady) >= len(anchors) / 2 else list(range(len(anchors)))
    human = [anchors.human[a].tolist() for a in kept]
    usual = [[ref.mode_of([scoring[a][r] for scoring in defining]) for r in range(RUBRICS)] for a in kept]
    resolution = [ref.resolution_of([[scoring[a][r] for scoring in defining] for a in kept]) for r in range(RUBRICS)]
    watches, spent = [], 0.0
    local = {component.stratum for component in baseline.components} - {-1}
    for component in baseline.components:
        members = [
            i for i, a in enumerate(kept) if component.stratum < 0 or stratum_of(anchors, a) == component.stratum
        ]
        kind, r, direction, centre = (
            KIND_NAMES[component.kind],
            component.rubric,
            component.direction,
            component.centre,
        )
        seen = [
            ref.statistic_of(kind, r, direction, scoring[a], human[i], usual[i], resolution)
            for scoring in fresh
            for i, a in enumerate(kept)
            if i in members
        ]
        mean = math.fsum(seen) / len(seen)
        if kind in ("departure", "any departure", "silence"):
            spent += ref.chance_of_so_few(round(sum(seen)), len(seen), centre)
        elif config.preset == "paper":
            assert math.isclose(centre, mean, rel_tol=RTOL)
        else:
            assert centre < mean if direction < 0 else centre > mean
        bettor, bounds = ref.bettor_of(config, config.anchor_fractions), [rung.centre for rung in component.rungs]
        worths = [ref.worth_beyond(i) for i in range(len(bounds))] if len(bounds) > 1 else [1.0]
        if len(bounds) > 1 and kind in ("departure", "any departure", "silence"):
            for bound, step in zip(bounds[:-1], ref.STEPS[1:], strict=True):
                assert ref.chance_of_so_few(round(sum(seen)), len(seen), bound) <= math.exp(-step) * (1.0 + 1e-9)
        elif len(bounds) > 1:
            away = [direction * (bound - mean) for bound in bounds]
            assert away == sorted(away)
            assert away[0] > 0.0
        rungs = [(bound, worth, bettor()) for bound, worth in zip(bounds, worths, strict=True)]
        mass = 1.0 if not local else 1.0 - config.local_share
        if component.stratum >= 0:
            mass = config.local_share / len(local)
        weight = mass * ref.weight_of(kind, RUBRICS)
        watches.append(ref.Watch(kind, r, direction, weight, rungs, frozenset(members)))
    assert spent <= config.alpha_judge * config.baseline_share * (1.0 + 1e-9)
    return cells, ref.Anchors(config, human, usual, resolution, watches)


def literal_correction(monitor: Monitor) -> Correction:
    """The literal test against lowered bars, over all anchors."""
    config, anchors, baseline, calibration = monitor.config, monitor.anchors, monitor.baseline, monitor.calibration
    assert anchors is not None
    assert baseline is not None
    usual = [[0.5 if math.isnan(u) else u for u in row] for row in baseline.usual.tolist()]
    passes = anchors.passes.tolist()
    fresh = passes if config.preset == "paper" else passes[len(passes) // 2 :]
    again = [[scoring[a] for a in baseline.kept.tolist()] for scoring in fresh]
    plain = replace(config, run_length=None)
    return Correction(plain, calibration.nulls.tolist(), calibration.bars.tolist(), usual, again)


def assert_the_same(tried: Case, part: int = 20) -> Course:
    monitor, block = tried.monitor, tried.block
    config = monitor.config
    cells, anchors = literal(monitor)
    course = run(
        cells,
        anchors,
        literal_correction(monitor),
        block.strata.tolist(),
        block.cheap.tolist(),
        block.strong.tolist(),
        block.versions.tolist(),
        block.rescored.tolist(),
    )
    for stop in range(part, ITEMS + 1, part):
        monitor.observe_block(block.part(stop - part, stop))
        np.testing.assert_allclose(monitor.system_evalue, course.system[stop - 1], rtol=RTOL)
        np.testing.assert_allclose(monitor.judge_evalue, course.judge[stop - 1], rtol=RTOL)
    verdict, cost = monitor.verdict, monitor.evidence().cost
    assert (verdict.kind, verdict.status) == course.verdict(config.guard, config.burst)
    assert (verdict.system_alarm_at, verdict.judge_alarm_at) == (course.system_at, course.judge_at)
    assert verdict.system_during_judge_at == course.dropped_at
    if course.corrected is not None and config.shift_share:
        assert monitor._corrected is not None
        np.testing.assert_allclose(main_evalue(monitor._corrected), course.corrected.evalue(), rtol=1e-6)
    assert (cost.strong_calls, cost.anchor_calls) == (course.strong_calls, course.anchor_calls)
    assert math.isclose(cost.fraction, course.cost_fraction(config.cheap_price, config.strong_price), rel_tol=RTOL)
    return course


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
@pytest.mark.parametrize("preset", ["paper", "robust"])
def test_the_monitor_is_the_literal_one_for_every_rule_and_with_scores_missing(
    preset: Preset, acquisition: Acquisition
) -> None:
    config = config_of(preset, acquisition, seed=len(acquisition), anchor_every=3, guard=40)
    course = assert_the_same(case(config, drop=-0.25, unscored=0.03))
    assert max(course.system) > 2.0  # evidence went up, and down before: the comparison has something to bite on
    assert min(course.system) < 1.0


@pytest.mark.parametrize("preset", ["paper", "robust"])
@pytest.mark.parametrize(
    ("drop", "shift", "kind"),
    [(0.0, 0.0, "none"), (-0.5, 0.0, "system"), (0.0, -0.25, "judge"), (0.0, 0.25, "judge"), (-0.25, -0.25, "judge")],
)
def test_the_verdict_is_that_of_equation_seven(preset: Preset, drop: float, shift: float, kind: str) -> None:
    config = config_of(preset, "uniform", seed=3, anchor_every=2, guard=120, budget=0.6)
    tried = case(config, drop=drop, shift=shift)
    assert_the_same(tried)
    assert tried.monitor.verdict.kind == kind


def test_a_burst_is_drawn_at_the_alarm_and_withdrawn_when_the_anchors_speak() -> None:
    config = config_of("robust", "full", seed=5, anchor_every=0, burst=30, measure=0)
    tried = case(config, drop=-0.5, shift=-0.25)
    course = assert_the_same(tried)
    assert course.system_at == course.judge_at is not None
    assert 0 < course.anchor_calls < 30


def test_a_guard_that_is_still_open_leaves_the_verdict_pending() -> None:
    config = config_of("paper", "full", seed=6, anchor_every=20, guard=10_000)
    tried = case(config, drop=-0.5)
    assert_the_same(tried)
    assert (tried.monitor.verdict.kind, tried.monitor.verdict.status) == ("system", "pending")


def test_a_cell_that_is_not_watched_counts_nowhere() -> None:
    config = config_of("robust", "escalation", seed=7, anchor_every=5)
    tried = case(config, drop=-0.25, low=True)
    assert np.isnan(tried.monitor.calibration.nulls).any()
    assert_the_same(tried)


@pytest.mark.parametrize("preset", ["paper", "robust"])
def test_continuous_scores_are_compared_with_their_usual_value_as_well(preset: Preset) -> None:
    config = config_of(preset, "uniform", seed=9, anchor_every=2)
    tried = case(config, shift=-0.1, continuous=True, unscored=0.02)
    assert tried.monitor.baseline is not None
    watched = {KIND_NAMES[component.kind] for component in tried.monitor.baseline.components}
    assert ("paired" in watched) == (preset == "robust")
    assert_the_same(tried)


def test_the_e_detector_is_the_same_recursion_with_a_unit_stake_at_every_step() -> None:
    config = config_of("robust", "uniform", seed=8, anchor_every=4, run_length=500.0)
    course = assert_the_same(case(config, drop=-0.25, shift=-0.25))
    assert course.system_at is not None
    assert course.judge_at is not None


@pytest.mark.parametrize("acquisition", ["boundary", "recent"])
def test_the_test_against_lowered_bars_is_the_literal_one(acquisition: Acquisition) -> None:
    config = config_of("robust", acquisition, seed=4, anchor_every=2, measure=40, budget=0.6, shift_tolerance=0.0)
    course = assert_the_same(case(config, drop=-0.25, shift=-0.25, unscored=0.01))
    assert course.judge_at is not None
    assert course.corrected is not None
    assert course.corrected.evalue() != 1.0  # it has bet


def test_strata_with_enough_anchors_are_watched_by_themselves() -> None:
    config = config_of("robust", "uniform", seed=11, anchor_every=2, stratum_anchors=4, shift_share=0.0)
    tried = case(config, shift=-0.25, strata=True)
    assert tried.monitor.baseline is not None
    assert tried.monitor.baseline.local == (0, 1)
    course = assert_the_same(tried)
    assert course.judge_at is not None
