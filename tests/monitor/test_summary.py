from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from driftjudge import AnchorSet, Calibration, Failure, Monitor
from driftjudge.monitor.anchor_process import AnchorProcess
from driftjudge.monitor.evidence import Evidence
from driftjudge.monitor.layout import EVALUE, WEALTH
from driftjudge.monitor.summary import moved_rubrics, named_cells
from driftjudge.monitor.verdict import ANY_RUBRIC
from driftjudge.stats.anchors import ABOVE, ANY_DEPARTURE, BELOW, DEPARTURE, GAP
from tests.monitor.builders import (
    BAD,
    GOOD,
    STRATA,
    drive,
    healthy_scores,
    make_anchors,
    make_config,
    make_monitor,
    make_world,
    raise_judge_alarm,
    raise_system_alarm,
    rescore_all,
)


def run(items: int = 300, *, changes: dict[str, Any] | None = None, **settings: Any) -> Evidence:
    monitor = make_monitor(**settings)
    return drive(monitor, make_world(monitor, items, **(changes or {}))).evidence()


def test_the_cost_fraction_is_equation_4() -> None:
    cost = run(preset="paper").cost
    expected = (300 * 0.000195 + (cost.strong_calls + cost.anchor_calls) * 0.00156) / (300 * 0.00156)
    assert cost.fraction == pytest.approx(expected)
    assert cost.fraction == pytest.approx(0.125 + cost.strong_calls / 300 + 60 / 300)
    assert (cost.items, cost.anchor_calls) == (300, 60)
    assert 60 < cost.strong_calls < 120


def test_nothing_observed_has_cost_nothing() -> None:
    assert make_monitor().evidence().cost.fraction == 0.0


def test_failures_are_counted_by_who_failed() -> None:
    monitor = make_monitor(budget=1.0, anchor_every=1)
    monitor.observe("x", stratum="coding", cheap=Failure("transport"))
    monitor.record_strong("x", Failure("unparsable"))
    anchor = monitor.pending_anchors[0]
    monitor.record_anchor(anchor, Failure("transport"))
    monitor.record_anchor(anchor, Failure("refusal"))
    cost = monitor.evidence().cost
    assert (cost.cheap_unscored, cost.strong_unscored, cost.anchor_unscored) == (1, 1, 2)
    assert (cost.strong_calls, cost.anchor_calls) == (1, 1)


def test_every_cell_is_shown_with_its_bar_its_error_and_its_null() -> None:
    monitor = make_monitor()
    cells = monitor.evidence().cells
    assert [(c.rubric, c.stratum) for c in cells] == [
        (rubric, stratum) for stratum in STRATA for rubric in monitor.config.rubrics
    ]
    for cell, bar, error, null in zip(
        cells, *(getattr(monitor.calibration, name).ravel() for name in ("bars", "errors", "nulls")), strict=True
    ):
        assert (cell.bar, cell.bar_error, cell.null) == (bar, error, null)
        assert (cell.calibration_items, cell.observations, cell.log_e) == (300, 0, 0.0)
        assert math.isnan(cell.mean)


@pytest.mark.parametrize("preset", ["paper", "robust"])
def test_with_every_label_known_a_cells_mean_is_the_mean_of_its_strong_scores(preset: str) -> None:
    monitor = make_monitor(preset=preset, budget=1.0)
    world = make_world(monitor, 200)
    for cell in drive(monitor, world).evidence().cells:
        mine = world.block.strata == STRATA.index(cell.stratum)
        rubric = monitor.config.rubrics.index(cell.rubric)
        assert cell.observations == mine.sum()
        assert cell.mean == pytest.approx(world.block.strong[mine, rubric].mean())


@pytest.mark.parametrize("preset", ["paper", "robust"])
def test_the_cells_that_dropped_are_named_strongest_first(preset: str) -> None:
    monitor = make_monitor(preset=preset, budget=1.0)
    world = make_world(monitor, 400)
    world.block.strong[100:][world.block.strata[100:] == 1, 0] = 0.0  # helpfulness in creative
    drive(monitor, world)
    assert monitor.verdict.cells == (("helpfulness", "creative"),)
    assert [(c.rubric, c.stratum) for c in monitor.evidence().cells if c.named] == [("helpfulness", "creative")]


@pytest.mark.parametrize(
    ("wealth", "named"),
    [
        ((9.0, 1.0, 2.0, 1.0), ["helpfulness in coding"]),
        ((40.0, 1.0, 90.0, 1.0), ["helpfulness in creative", "helpfulness in coding"]),
        ((13.0, 14.0, 15.0, 16.0), ["correctness in creative", "helpfulness in creative", "correctness in coding"]),
    ],
    ids=["spread too thin: the strongest", "strongest first", "all at once"],
)
def test_closed_testing_names_the_cells(wealth: tuple[float, ...], named: list[str]) -> None:
    monitor = make_monitor()
    monitor._main.cells[:, WEALTH] = wealth
    cells = [f"{rubric} in {stratum}" for rubric, stratum in named_cells(monitor._main, monitor.config)]
    assert cells[: len(named)] == named


def with_evalues(values: dict[tuple[int, int, float], float]) -> AnchorProcess:
    """An anchor family in which these (kind, rubric, direction) are rich and the others lost everything."""
    process = make_monitor()._anchor
    assert process is not None
    process.statistics[:, EVALUE] = 0.0
    for i, (kind, rubric, direction) in enumerate(process.meanings.tolist()):
        process.statistics[i, EVALUE] = values.get((kind, rubric, float(direction)), 0.0)
    return process


@pytest.mark.parametrize(
    ("values", "moved"),
    [
        ({(GAP, 0, BELOW): 500.0}, (("helpfulness", "harsher"),)),
        ({(DEPARTURE, 1, ABOVE): 500.0}, (("correctness", "more lenient"),)),
        (
            {(GAP, 0, BELOW): 500.0, (GAP, 1, ABOVE): 900.0},
            (("correctness", "more lenient"), ("helpfulness", "harsher")),
        ),
        ({(DEPARTURE, 0, BELOW): 500.0, (DEPARTURE, 0, ABOVE): 900.0}, (("helpfulness", "different"),)),
        ({(ANY_DEPARTURE, 0, ABOVE): 500.0}, ((ANY_RUBRIC, "different"),)),
    ],
    ids=["harsher", "more lenient", "strongest first", "both ways", "no rubric in particular"],
)
def test_closed_testing_names_the_rubrics_the_judge_moved_on(
    values: dict[tuple[int, int, float], float], moved: tuple[tuple[str, str], ...]
) -> None:
    assert moved_rubrics(with_evalues(values), make_config()) == moved


def test_a_cell_that_is_not_watched_is_shown_as_such() -> None:
    config = make_config()
    scores = healthy_scores(np.random.default_rng(0), 400)
    scores[::2, 0] = 0.0
    calibration = Calibration.from_scores([STRATA[i % 2] for i in range(400)], scores, config, low_bars="skip")
    monitor = Monitor(config, calibration=calibration, anchors=make_anchors())
    drive(monitor, make_world(monitor, 50))
    evidence = monitor.evidence()
    first = evidence.cells[0]
    assert all(math.isnan(value) for value in (first.null, first.mean, first.log_e))
    assert any("1 of 4 cells are not watched" in line for line in evidence.assumptions)


@pytest.mark.parametrize(("shift", "change"), [(-0.25, "harsher"), (0.25, "more lenient")])
@pytest.mark.parametrize("preset", ["paper", "robust"])
def test_a_judge_that_moved_is_named_with_its_direction_and_the_size_of_its_shift(
    preset: str, shift: float, change: str
) -> None:
    monitor = make_monitor(preset=preset, anchor_every=1)
    for n in range(600):
        if monitor.observe(f"x{n}", stratum=STRATA[n % 2], cheap=GOOD).strong:
            monitor.record_strong(f"x{n}", GOOD)
        rescore_all(monitor, shift)
    assert monitor.verdict.kind == "judge"
    assert {how for _, how in monitor.verdict.rubrics} == {change}
    for moved in monitor.evidence().shifts:
        assert moved.low < shift < moved.high
        assert moved.shift == pytest.approx(shift, abs=0.01)
        assert moved.high < 0.0 or moved.low > 0.0
        louder, quieter = moved.log_e_harsher, moved.log_e_lenient
        assert (louder > quieter) is (change == "harsher")


def test_a_shift_is_measured_from_the_alarm_on() -> None:
    monitor = make_monitor(anchor_every=1, measure=0)
    at = raise_judge_alarm(monitor)
    assert [(s.since, s.rescores) for s in monitor.evidence().shifts] == [(at, 0), (at, 0)]
    assert all((s.low, s.high) == (-1.0, 1.0) and math.isnan(s.shift) for s in monitor.evidence().shifts)
    monitor.observe("next", stratum="coding", cheap=GOOD)
    rescore_all(monitor, -0.25)
    assert [s.rescores for s in monitor.evidence().shifts] == [1, 1]


def test_a_shift_is_measured_from_where_the_judge_stood_in_the_fresh_passes() -> None:
    """The defining passes choose the usual score, so that the time-0 judge itself may sit a little off it."""
    anchors = make_anchors()
    passes = anchors.passes.copy()
    passes[3:, :10, 0] += 0.25
    anchors = AnchorSet(ids=anchors.ids, human=anchors.human, passes=passes)
    base = make_monitor(anchor_every=1, budget=1.0)
    monitor = Monitor(base.config, calibration=base.calibration, anchors=anchors)
    assert monitor.baseline is not None
    assert monitor.baseline.drift == pytest.approx([0.25 / 4, 0.0])
    for n in range(50):
        monitor.observe(f"x{n}", stratum="coding", cheap=GOOD)
        monitor.record_strong(f"x{n}", GOOD)
        rescore_all(monitor)
    assert [s.shift for s in monitor.evidence().shifts] == pytest.approx([-0.25 / 4, 0.0])


def test_the_gap_to_the_humans_at_time_0_is_shown_per_rubric() -> None:
    anchors = make_anchors()
    shifts = make_monitor().evidence().shifts
    assert [s.baseline_gap for s in shifts] == pytest.approx((anchors.passes[0] - anchors.human).mean(axis=0))


def test_without_anchors_there_are_no_shifts_and_the_assumptions_say_why() -> None:
    evidence = run(50, anchored=False)
    assert evidence.shifts == ()
    assert any("No anchors" in line for line in evidence.assumptions)


def test_the_assumptions_state_the_promise_and_what_pays_for_it() -> None:
    robust, paper = make_monitor().evidence().assumptions, make_monitor(preset="paper").evidence().assumptions
    assert robust[0] == f"Error rate in force: {make_config().promise}."
    assert any("20% of each alpha" in line for line in robust)
    assert any("taken as exact" in line for line in paper)
    assert all(line.endswith(".") for line in (*robust, *paper))


def test_what_could_not_be_watched_is_among_the_assumptions() -> None:
    config = make_config()
    monitor = Monitor(config, calibration=make_monitor().calibration, anchors=make_anchors(passes=1))
    assert any("One baseline pass" in line for line in monitor.evidence().assumptions)


def test_the_story_lists_every_milestone_in_order() -> None:
    monitor = make_monitor(budget=1.0)
    at = raise_system_alarm(monitor)
    rescore_all(monitor)
    monitor.acknowledge()
    story = [(m.position, m.kind) for m in monitor.evidence().story]
    assert story == [(at, "system_alarm"), (at, "guard_closed"), (at, "acknowledged")]


def test_evidence_does_not_follow_the_monitor() -> None:
    monitor = make_monitor(budget=1.0)
    before = monitor.evidence()
    kept = repr(before)
    monitor.observe("x", stratum="coding", cheap=BAD)
    monitor.record_strong("x", BAD)
    assert repr(before) == kept
