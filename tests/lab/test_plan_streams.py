"""The streams a plan is simulated on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from driftjudge.lab.planner import Assumptions, World, world_of
from driftjudge.lab.planner.designs import Design
from driftjudge.lab.planner.streams import Case, Seeded
from driftjudge.monitor import Block, Monitor, MonitorConfig
from driftjudge.tables import load_replica
from driftjudge.tables.replay import Roles

DESIGN = Design(budget=0.3, anchors=60, passes=4, anchor_every=10, burst=0, guard=200)
AGE = 400


@pytest.fixture(scope="module")
def world() -> World:
    return world_of(load_replica("tldr"), Roles())


@pytest.fixture(scope="module")
def base(world: World) -> MonitorConfig:
    return MonitorConfig(rubrics=world.rubrics, strata=world.strata)


def _block(world: World, base: MonitorConfig, case: Case, **assumed: object) -> Block:
    seeded = Seeded(world, base, replace(Assumptions(age=AGE), **assumed), seed=5)  # type: ignore[arg-type]
    monitor = Monitor(base, calibration=seeded.bars(800), anchors=seeded.anchors(case.design))
    return seeded._block(case, monitor, AGE + 4_000)


def test_a_drop_moves_the_strong_scores_of_its_stratum_after_the_change_and_nothing_else(
    world: World, base: MonitorConfig
) -> None:
    calm = _block(world, base, Case("none", DESIGN, 800))
    drop = _block(world, base, Case("system", DESIGN, 800, 4_000, -0.2, stratum=3))
    hit = (np.arange(len(calm)) >= AGE) & (calm.strata == 3)
    assert np.array_equal(drop.strong[~hit], calm.strong[~hit])
    assert (drop.strong[hit] - calm.strong[hit]).mean(axis=0) == pytest.approx(-0.2, abs=0.02)
    assert np.array_equal(drop.cheap, calm.cheap)
    assert np.array_equal(drop.rescored, calm.rescored)
    assert not drop.versions.any()


def test_a_cheap_judge_that_sees_half_of_a_drop_moves_half_as_far(world: World, base: MonitorConfig) -> None:
    case = Case("system", DESIGN, 800, 4_000, -0.2, stratum=3)
    blind, seeing = _block(world, base, case), _block(world, base, case, cheap_sees=0.5)
    hit = (np.arange(len(blind)) >= AGE) & (blind.strata == 3)
    assert (seeing.cheap[hit] - blind.cheap[hit]).mean(axis=0) == pytest.approx(-0.1, abs=0.02)
    assert np.array_equal(seeing.strong, blind.strong)


def test_a_judge_change_moves_stream_and_anchors_alike(world: World, base: MonitorConfig) -> None:
    calm = _block(world, base, Case("none", DESIGN, 800))
    judge = _block(world, base, Case("judge", DESIGN, 800, 4_000, -0.1))
    after = np.arange(len(calm)) >= AGE
    assert np.array_equal(judge.versions, after.astype(int))
    assert (judge.strong - calm.strong)[after].mean(axis=0) == pytest.approx(-0.1, abs=0.01)
    assert np.array_equal(judge.strong[~after], calm.strong[~after])
    shift = (judge.rescored[1] - judge.rescored[0]).mean(axis=(0, 1))
    assert (shift < -0.02).all()
    assert (shift > -0.25).all()  # sixty anchors: the shift on them scatters around 0.1


def test_with_one_rubric_the_others_stay() -> None:
    world = world_of(load_replica("helpsteer2"), Roles())
    config = MonitorConfig(rubrics=world.rubrics, strata=world.strata)
    case = Case("judge", DESIGN, 1_200, 4_000, -0.1)
    calm, moved = (_block(world, config, case, one_rubric=one) for one in (True, False))
    plain = _block(world, config, Case("none", DESIGN, 1_200))
    assert ((calm.strong != plain.strong).any(axis=0)).sum() == 1
    assert ((moved.strong != plain.strong).any(axis=0)).all()


@pytest.mark.parametrize("sign", [-1, 1])
def test_anchors_by_themselves_alarm_where_the_whole_monitor_does(world: World, base: MonitorConfig, sign: int) -> None:
    quiet = replace(base, alpha_system=1e-9)  # a main alarm asks for no anchors of its own here, but ends the stream
    alarms = []
    for seed in range(8):
        seeded = Seeded(world, quiet, Assumptions(age=AGE), seed)
        case = Case("judge", DESIGN, 800, 2_000, sign * 0.1, watch="anchors")
        alone, whole = seeded.run(case), seeded.run(replace(case, watch="race"))
        assert alone.judge_at == whole.judge_at
        alarms.append(alone.judge_at)
    assert any(AGE < at <= AGE + 2_000 for at in alarms)


def test_a_copied_monitor_sees_what_a_new_one_sees(world: World, base: MonitorConfig) -> None:
    case = Case("judge", replace(DESIGN, burst=30), 800, 1_500, -0.15)
    seeded = Seeded(world, base, Assumptions(age=AGE), seed=3)
    seeded.run(case)  # whatever a stream leaves behind must not reach the next one
    again, fresh = seeded.run(case), Seeded(world, base, Assumptions(age=AGE), seed=3).run(case)
    assert again == fresh
    monitor = Monitor(case.design.config(base, 3), calibration=seeded.bars(800), anchors=seeded.anchors(case.design))
    monitor.observe_block(seeded._block(case, monitor, AGE + 1_500))
    assert monitor.verdict.kind == fresh.verdict
    assert (monitor.verdict.judge_alarm_at, monitor.cost.strong_calls) == (fresh.judge_at, fresh.strong_calls)


def test_more_anchors_than_labels_are_drawn_as_if_of_the_same_kind(world: World, base: MonitorConfig) -> None:
    seeded = Seeded(world, base, Assumptions(), seed=0)
    rows = seeded._anchor_rows(len(world.human) + 50)
    assert sorted(rows[: len(world.human)].tolist()) == list(range(len(world.human)))
    assert len(rows) == len(world.human) + 50
