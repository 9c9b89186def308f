"""What must not matter does not: names, the order of strata, where a batch ends, which way up the scale is."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from driftjudge.monitor import AnchorSet, Block, Calibration, Failure, Monitor, MonitorConfig
from driftjudge.monitor.config import Acquisition, Preset
from driftjudge.stats.coins import ANCHOR_DRAW, SIMULATION, coins
from tests.validity.cases import ITEMS, Case, case, config_of
from tests.validity.main_subjects import ACQUISITIONS

PRESETS: tuple[Preset, ...] = ("paper", "robust")
OTHER_WAY = {"harsher": "more lenient", "more lenient": "harsher", "different": "different"}


def turned(tried: Case) -> Case:
    """The same stream with the anchors' scores, human labels and re-scores turned upside down."""
    monitor, block = tried.monitor, tried.block
    anchors = monitor.anchors
    assert anchors is not None
    image = AnchorSet(ids=anchors.ids, human=1.0 - anchors.human, passes=1.0 - anchors.passes)
    return Case(
        Monitor(monitor.config, calibration=monitor.calibration, anchors=image),
        replace(block, rescored=1.0 - block.rescored),
    )


@pytest.mark.parametrize("shift", [-0.25, 0.25])
@pytest.mark.parametrize("preset", PRESETS)
def test_turning_the_scale_upside_down_swaps_harsher_and_more_lenient(preset: Preset, shift: float) -> None:
    config = config_of(preset, "uniform", seed=21, anchor_every=2)
    tried = case(config, shift=shift, unscored=0.02)
    image = turned(tried)
    for each in (tried, image):
        each.monitor.observe_block(each.block)
    seen, mirrored = tried.monitor.verdict, image.monitor.verdict
    assert seen.judge_alarm_at == mirrored.judge_alarm_at is not None
    assert (
        {rubric: OTHER_WAY[change] for rubric, change in seen.rubrics} == dict(mirrored.rubrics) != dict(seen.rubrics)
    )
    np.testing.assert_allclose(image.monitor.judge_evalue, tried.monitor.judge_evalue, rtol=1e-9)


def reordered(tried: Case, strata: list[int], rubrics: list[int]) -> Case:
    """The same stream with strata and rubrics listed in another order."""
    monitor, block, old = tried.monitor, tried.block, tried.monitor.calibration
    config, anchors = monitor.config, monitor.anchors
    assert anchors is not None
    relisted = replace(
        config,
        strata=tuple(config.strata[t] for t in strata),
        rubrics=tuple(config.rubrics[r] for r in rubrics),
    )
    bars, errors, nulls = (table[strata][:, rubrics] for table in (old.bars, old.errors, old.nulls))
    calibration = Calibration(bars, errors, nulls, old.counts[strata][:, rubrics], old.ids)
    listed = AnchorSet(ids=anchors.ids, human=anchors.human[:, rubrics], passes=anchors.passes[:, :, rubrics])
    place = np.argsort(strata)
    moved = Block(
        place[block.strata],
        np.ascontiguousarray(block.cheap[:, rubrics]),
        np.ascontiguousarray(block.strong[:, rubrics]),
        block.versions,
        np.ascontiguousarray(block.rescored[..., rubrics]),
    )
    return Case(Monitor(relisted, calibration=calibration, anchors=listed), moved)


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
@pytest.mark.parametrize("preset", PRESETS)
def test_the_order_of_strata_and_rubrics_does_not_matter(preset: Preset, acquisition: Acquisition) -> None:
    config = config_of(preset, acquisition, seed=22, anchor_every=4, budget=0.5)
    tried = case(config, drop=-0.5, shift=0.25, unscored=0.02)
    other = reordered(tried, [1, 0], [2, 0, 1])
    for each in (tried, other):
        each.monitor.observe_block(each.block)
    seen, same = tried.monitor.verdict, other.monitor.verdict
    assert (seen.kind, seen.system_alarm_at, seen.judge_alarm_at) == (
        same.kind,
        same.system_alarm_at,
        same.judge_alarm_at,
    )
    assert seen.system_alarm_at is not None
    assert (set(seen.cells), set(seen.rubrics)) == (set(same.cells), set(same.rubrics))
    np.testing.assert_allclose(other.monitor.system_evalue, tried.monitor.system_evalue, rtol=1e-9)
    np.testing.assert_allclose(other.monitor.judge_evalue, tried.monitor.judge_evalue, rtol=1e-9)


def drifting(config: MonitorConfig, *, strata: bool = False, shift: float = 0.25) -> Case:
    """System and judge change, and some scores are missing."""
    return case(config, drop=-0.5, shift=shift, unscored=0.02, strata=strata)


def state(monitor: Monitor) -> dict[str, Any]:
    """All of a snapshot but the ids, which whole blocks do not carry."""
    return {
        name: value for name, value in monitor.snapshot().items() if name not in ("seen_ids", "withdrawn", "checksum")
    }


def bits(monitor: Monitor) -> str:
    """JSON writes floats so that they come back bit for bit: equal texts are equal bits."""
    return json.dumps(state(monitor), sort_keys=True)


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
@pytest.mark.parametrize("preset", PRESETS)
def test_where_a_batch_ends_changes_no_bit(preset: Preset, acquisition: Acquisition) -> None:
    config = config_of(preset, acquisition, seed=23, anchor_every=4)
    whole = drifting(config)
    whole.monitor.observe_block(whole.block)
    assert whole.monitor.verdict.system_alarm_at is not None
    rng = np.random.default_rng(24)
    for pieces in (2, 7, ITEMS):
        split = drifting(config)
        ends = [0, *sorted(rng.choice(np.arange(1, ITEMS), size=pieces - 1, replace=False).tolist()), ITEMS]
        for start, stop in pairwise(ends):
            split.monitor.observe_block(split.block.part(start, stop))
        assert bits(split.monitor) == bits(whole.monitor)


def feed(monitor: Monitor, block: Block, start: int, stop: int) -> None:
    """One by one, every score recorded as soon as it is asked for."""
    config = monitor.config
    place = {anchor: i for i, anchor in enumerate(monitor._anchor_ids)}
    repeats = (coins(config.seed, SIMULATION, 0, 2 * ITEMS) * block.rescored.shape[1]).astype(int)
    for i in range(start, stop):
        ask = monitor.observe(str(i), stratum=config.strata[block.strata[i]], cheap=answer(block.cheap[i]))
        if ask.strong:
            monitor.record_strong(str(i), answer(block.strong[i]))
        while monitor.pending_anchors:
            anchor = monitor.pending_anchors[0]
            repeat = repeats[next(iter(monitor._draws)).number]
            monitor.record_anchor(anchor, answer(block.rescored[block.versions[i], repeat, place[anchor]]))


def answer(scores: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | Failure:
    """Block rows are unscored as a whole here: a judge that answers at all answers on every rubric."""
    return Failure("refusal") if np.isnan(scores).any() else scores


def silenced(block: Block) -> Block:
    """With every row that misses a score missing all of them."""
    tables = {}
    for name in ("cheap", "strong", "rescored"):
        scores = getattr(block, name).copy()
        scores[np.isnan(scores).any(axis=-1)] = np.nan
        tables[name] = scores
    return replace(block, **tables)


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
@pytest.mark.parametrize("preset", PRESETS)
def test_one_by_one_whole_and_restored_anywhere_are_the_same_bits(preset: Preset, acquisition: Acquisition) -> None:
    config = config_of(preset, acquisition, seed=25, anchor_every=4, burst=6)
    whole = drifting(config)
    block = silenced(whole.block)
    whole.monitor.observe_block(block)
    online = drifting(config).monitor
    feed(online, block, 0, ITEMS)
    assert bits(online) == bits(whole.monitor)
    alarm = whole.monitor.verdict.system_alarm_at
    assert alarm is not None
    for stop in (0, 1, alarm - 1, alarm, alarm + 1, ITEMS - 1):
        prefix = drifting(config).monitor
        feed(prefix, block, 0, stop)
        restored = Monitor.restore(json.loads(json.dumps(prefix.snapshot())), config=config)
        feed(restored, block, stop, ITEMS)
        assert bits(restored) == bits(online)


@pytest.mark.parametrize("shift", [-0.25, 0.25])
def test_a_judge_measured_stratum_by_stratum_is_the_same_bits_too(shift: float) -> None:
    config = config_of("robust", "recent", seed=35, anchor_every=2, burst=6, measure=24, stratum_anchors=5)
    whole = drifting(config, strata=True, shift=shift)
    block = silenced(whole.block)
    whole.monitor.observe_block(block)
    at = whole.monitor.verdict.judge_alarm_at
    assert at is not None
    online = drifting(config, strata=True, shift=shift).monitor
    feed(online, block, 0, ITEMS)
    assert bits(online) == bits(whole.monitor)
    for stop in (at - 1, at, at + 1, at + 30):
        prefix = drifting(config, strata=True, shift=shift).monitor
        feed(prefix, block, 0, stop)
        restored = Monitor.restore(json.loads(json.dumps(prefix.snapshot())), config=config)
        feed(restored, block, stop, ITEMS)
        assert bits(restored) == bits(online)


def test_the_seed_decides_the_coins_and_nothing_else_does() -> None:
    def run(config: MonitorConfig) -> str:
        tried = case(replace(config, seed=26))  # the data of seed 26
        monitor = Monitor(config, calibration=tried.monitor.calibration, anchors=tried.monitor.anchors)
        monitor.observe_block(tried.block)
        return bits(monitor)

    config = config_of("robust", "uniform", seed=27)
    assert run(config) == run(config)
    assert run(config) != run(replace(config, seed=28))


def test_an_anchor_is_drawn_uniformly_whatever_the_main_process_does() -> None:
    drawn: dict[Acquisition, list[str]] = {"uniform": [], "full": []}
    for acquisition in drawn:
        config = config_of("paper", acquisition, seed=29, anchor_every=1)
        monitor = case(config).monitor
        block = silenced(case(config).block)
        for i in range(ITEMS):
            ask = monitor.observe(str(i), stratum=config.strata[block.strata[i]], cheap=block.cheap[i])
            if ask.strong:
                monitor.record_strong(str(i), block.strong[i])
            drawn[acquisition] += list(ask.anchors)
            monitor.record_anchor(ask.anchors[0], block.rescored[0, 0, int(ask.anchors[0])])
    assert drawn["uniform"] == drawn["full"]
    expected = (coins(29, ANCHOR_DRAW, 0, ITEMS) * 20).astype(int)
    assert drawn["full"] == [str(anchor) for anchor in expected]
