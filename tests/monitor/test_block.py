from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftjudge.monitor import Block
from driftjudge.monitor.acquisition import RULES
from driftjudge.monitor.errors import MonitorError, ScoreError
from tests.monitor.builders import GOOD, World, answer_all, drive, make_monitor, make_world, refused, without_ids

SHARED = {
    "acquisition": st.sampled_from(RULES),
    "budget": st.sampled_from([0.1, 0.5, 1.0]),
    "anchor_every": st.sampled_from([1, 3, 10]),
    "burst": st.sampled_from([0, 20]),
    "guard": st.sampled_from([0, 40]),
    "seed": st.integers(0, 10**6),
    "anchored": st.sampled_from([True, True, True, False]),
}
MONITORS = st.one_of(
    st.fixed_dictionaries({"preset": st.just("paper"), **SHARED}),
    st.fixed_dictionaries({"preset": st.just("robust"), "run_length": st.sampled_from([None, 300.0]), **SHARED}),
    st.fixed_dictionaries({"preset": st.just("robust"), "alarm_rule": st.just("bonferroni"), **SHARED}),
)
CHANGES = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10**6),
        "drop_at": st.sampled_from([None, 10, 60]),
        "harsher_at": st.sampled_from([None, 10, 120]),
        "failures": st.sampled_from([0.0, 0.1]),
        "refusals": st.sampled_from([0.0, 0.1]),
    }
)


@settings(max_examples=60)
@given(monitors=MONITORS, changes=CHANGES, cuts=st.lists(st.integers(0, 160), max_size=4))
def test_items_one_by_one_and_in_blocks_of_any_size_give_the_same_state_bit_for_bit(
    monitors: dict[str, Any], changes: dict[str, Any], cuts: list[int]
) -> None:
    online, blocks = make_monitor(**monitors), make_monitor(**monitors)
    world = make_world(online, 160, **changes)
    drive(online, world)
    bounds = [0, *sorted(cuts), 160]
    for start, stop in pairwise(bounds):
        blocks.observe_block(world.block.part(start, stop))
    assert without_ids(blocks.snapshot()) == without_ids(online.snapshot())
    assert blocks.verdict == online.verdict


def test_a_block_tells_the_story_in_the_order_it_happened() -> None:
    online, block = (make_monitor(preset="paper", guard=50) for _ in range(2))
    world = make_world(online, 900, drop_at=50, harsher_at=400)
    drive(online, world)
    block.observe_block(world.block)
    kinds = [milestone.kind for milestone in online.evidence().story]
    assert kinds == ["system_alarm", "guard_closed", "judge_alarm"]
    assert block.evidence().story == online.evidence().story


def test_items_and_blocks_may_alternate() -> None:
    online, mixed = (make_monitor(anchor_every=5) for _ in range(2))
    world = make_world(online, 300, drop_at=100)
    drive(online, world)
    drive(mixed, world, 0, 90)
    mixed.observe_block(world.block.part(90, 200))
    drive(mixed, world, 200)
    assert without_ids(mixed.snapshot()) == without_ids(online.snapshot())


def test_an_empty_block_changes_nothing() -> None:
    monitor = make_monitor()
    before = monitor.snapshot()
    monitor.observe_block(make_world(monitor, 5).block.part(0, 0))
    assert monitor.snapshot() == before


def test_a_block_does_not_write_to_the_callers_arrays() -> None:
    monitor = make_monitor()
    block = make_world(monitor, 50, failures=0.2, refusals=0.2).block
    before = {name: array.copy() for name, array in vars(block).items()}
    monitor.observe_block(block)
    for name, array in before.items():
        assert np.array_equal(getattr(block, name), array, equal_nan=True), name


def test_a_judge_with_several_repeats_answers_with_one_of_them_chosen_by_coin() -> None:
    monitor, again = (make_monitor(preset="paper", anchor_every=1) for _ in range(2))
    block = make_world(monitor, 40).block
    repeats = np.concatenate([block.rescored, np.clip(block.rescored + 0.25, 0, 1)], axis=1)
    monitor.observe_block(replace(block, rescored=repeats))
    again.observe_block(replace(block, rescored=repeats))
    assert monitor.snapshot() == again.snapshot()
    alone = [make_monitor(preset="paper", anchor_every=1) for _ in range(2)]
    for one, repeat in zip(alone, (0, 1), strict=True):
        one.observe_block(replace(block, rescored=repeats[:, repeat : repeat + 1]))
    assert len({m.judge_evalue for m in (monitor, *alone)}) == 3


def edited(name: str, index: Any, value: float) -> Any:
    def edit(block: Block) -> Block:
        array = getattr(block, name).copy()
        array[index] = value
        return replace(block, **{name: array})

    return edit


BAD_BLOCKS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "cheap out of range": (edited("cheap", (3, 1), 1.5), ("cheap scores hold 1.5", "map your scale")),
    "strong out of range": (edited("strong", (3, 1), -2.0), ("strong scores hold -2", "map your scale")),
    "re-score out of range": (edited("rescored", (0, 0, 5, 1), 1.5), ("rescored", "1.5", "map your scale")),
    "a rubric missing": (lambda b: replace(b, cheap=b.cheap[:, :1]), ("cheap", "(20, 1)", "row of 2 scores")),
    "rows missing": (lambda b: replace(b, strong=b.strong[:7]), ("strong", "(7, 2)", "each of the 20 items")),
    "an unknown stratum": (edited("strata", 4, 2), ("2", "2 strata")),
    "a negative stratum": (edited("strata", 4, -1), ("-1", "2 strata")),
    "an unknown judge version": (edited("versions", 4, 9), ("version 9", "holds 2")),
    "a negative judge version": (edited("versions", 4, -1), ("version -1",)),
    "versions missing": (lambda b: replace(b, versions=b.versions[:7]), ("versions", "7", "20")),
    "anchors missing": (lambda b: replace(b, rescored=b.rescored[:, :, :3]), ("(2, 1, 3, 2)", "40 kept anchors")),
    "no repeats": (lambda b: replace(b, rescored=b.rescored[:, :0]), ("(2, 0, 40, 2)",)),
}


@pytest.mark.parametrize("case", BAD_BLOCKS)
def test_a_block_that_does_not_fit_is_refused_as_a_whole(case: str) -> None:
    edit, words = BAD_BLOCKS[case]
    # No anchor is drawn, so that a block that slips through reads nothing it should not.
    monitor = make_monitor(anchor_every=0)
    block = edit(make_world(monitor, 20).block)
    before = monitor.snapshot()
    with pytest.raises(MonitorError) as caught:
        monitor.observe_block(block)
    assert [word for word in words if word not in str(caught.value)] == [], str(caught.value)
    assert monitor.snapshot() == before


def world_with(**settings: Any) -> tuple[Any, World]:
    monitor = make_monitor(**settings)
    return monitor, make_world(monitor, 20)


def test_a_block_is_refused_while_strong_scores_are_outstanding() -> None:
    monitor, world = world_with(budget=1.0)
    monitor.observe("late", stratum="coding", cheap=GOOD)
    with refused(MonitorError, "outstanding", "record them", monitor=monitor):
        monitor.observe_block(world.block)
    answer_all(monitor)
    monitor.observe_block(world.block)
    assert monitor.position == 21


def test_a_block_is_refused_while_re_scores_are_outstanding() -> None:
    monitor, world = world_with(budget=1.0, anchor_every=1)
    monitor.observe("late", stratum="coding", cheap=GOOD)
    answer_all(monitor)
    with refused(MonitorError, "outstanding", "record them", monitor=monitor):
        monitor.observe_block(world.block)


def test_a_refused_score_in_a_block_is_a_score_error() -> None:
    monitor, world = world_with()
    with refused(ScoreError, "cheap scores hold 7", monitor=monitor):
        monitor.observe_block(edited("cheap", (0, 0), 7.0)(world.block))
