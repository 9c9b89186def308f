"""Results that come late, out of order, or not at all: evidence is taken in by position, however they arrive."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftjudge import Failure, Monitor
from driftjudge.monitor import clock as ck
from driftjudge.monitor.layout import SEEN
from tests.monitor.builders import (
    BAD,
    GOOD,
    World,
    drive,
    make_monitor,
    make_world,
    raise_judge_alarm,
    raise_system_alarm,
    rescore,
    rescore_all,
    restored,
    usual_scores,
)
from tests.monitor.test_block import CHANGES, MONITORS

ALARMS = [ck.POSITION, ck.APPLIED, ck.SYSTEM_AT, ck.JUDGE_AT, ck.STRONG_CALLS]


def drive_late(monitor: Monitor, world: World, seed: int, patience: int, *, restore_every: int = 0) -> Monitor:
    """Deliver results in random order; at most `patience` items wait, and everything is in at the end.

    Results for one anchor come in the order they were asked for: nobody could tell them apart. With `restore_every`
    the monitor is replaced by one restored from its snapshot after every so many items.
    """
    rng = np.random.default_rng(seed)
    items: list[int] = []
    anchors: dict[str, list[int]] = defaultdict(list)

    def collect(i: int) -> None:
        known = {anchor: len(waiting) for anchor, waiting in anchors.items()}
        for anchor in monitor.pending_anchors:
            known[anchor] = known.get(anchor, 0) - 1
            if known[anchor] < 0:
                anchors[anchor].append(i)

    def deliver_one() -> None:
        waiting: list[Any] = [*items, *(anchor for anchor, asked in anchors.items() if asked)]
        chosen = waiting[rng.integers(len(waiting))]
        if isinstance(chosen, int):
            items.remove(chosen)
            monitor.record_strong(f"i{chosen}", world.strong(chosen))
        else:
            asked = anchors[chosen].pop(0)
            monitor.record_anchor(chosen, world.rescore(monitor, asked, chosen))
        collect(monitor.position - 1)

    for i in range(len(world)):
        if monitor.observe(f"i{i}", stratum=world.stratum(i), cheap=world.cheap(i)).strong:
            items.append(i)
        if restore_every and i % restore_every == 0:
            monitor = restored(monitor)
        collect(i)
        while len(items) + sum(map(len, anchors.values())) > patience or (
            rng.random() < 0.5 and (items or any(anchors.values()))
        ):
            deliver_one()
    while items or any(anchors.values()):
        deliver_one()
    return monitor


CONSTANT = st.fixed_dictionaries(
    {
        "preset": st.sampled_from(["paper", "robust"]),
        "acquisition": st.sampled_from(["uniform", "full", "boundary"]),
        "anchor_every": st.sampled_from([2, 7]),
        "guard": st.sampled_from([0, 40]),
        "seed": st.integers(0, 10**6),
    }
)


@settings(max_examples=60)
@given(
    monitors=CONSTANT,
    stream=st.integers(0, 10**6),
    order=st.integers(0, 10**6),
    patience=st.sampled_from([3, 15, 200]),
    drop_at=st.sampled_from([None, 10]),
    failures=st.sampled_from([0.0, 0.1]),
)
def test_any_order_of_arrival_gives_the_evidence_of_the_order_of_positions(
    monitors: dict[str, Any], stream: int, order: int, patience: int, drop_at: int | None, failures: float
) -> None:
    in_order, late = make_monitor(**monitors), make_monitor(**monitors)
    world = make_world(in_order, 100, seed=stream, drop_at=drop_at, failures=failures)
    drive(in_order, world)
    drive_late(late, world, order, patience)
    expected, found = in_order.snapshot(), late.snapshot()
    assert found["main"] == expected["main"]
    assert found["cells"] == expected["cells"]
    assert late._clock[ALARMS].tolist() == in_order._clock[ALARMS].tolist()
    if late.verdict.judge_alarm_at is None:
        # After an anchor alarm what was still outstanding is withdrawn, so that only then the counts may differ.
        assert found["anchor"] == expected["anchor"]
    assert late.verdict == in_order.verdict


@settings(max_examples=40)
@given(
    monitors=CONSTANT,
    stream=st.integers(0, 10**6),
    order=st.integers(0, 10**6),
    patience=st.sampled_from([3, 15, 400]),
    drop_at=st.sampled_from([None, 20, 60]),
    harsher_at=st.sampled_from([0, 40, 80]),
)
def test_the_papers_verdict_does_not_depend_on_the_order_of_arrival(
    monitors: dict[str, Any], stream: int, order: int, patience: int, drop_at: int | None, harsher_at: int
) -> None:
    monitors = {**monitors, "preset": "paper", "anchor_every": 1}
    in_order, late = make_monitor(**monitors), make_monitor(**monitors)
    world = make_world(in_order, 150, seed=stream, drop_at=drop_at, harsher_at=harsher_at)
    drive(in_order, world)
    drive_late(late, world, order, patience)
    assert late.verdict == in_order.verdict


@settings(max_examples=40)
@given(
    monitors=MONITORS,
    changes=CHANGES,
    order=st.integers(0, 10**6),
    patience=st.sampled_from([3, 15, 200]),
    restore_every=st.sampled_from([1, 7]),
)
def test_a_monitor_restored_with_results_outstanding_goes_on_bit_for_bit(
    monitors: dict[str, Any], changes: dict[str, Any], order: int, patience: int, restore_every: int
) -> None:
    steady, moved = make_monitor(**monitors), make_monitor(**monitors)
    world = make_world(steady, 80, **changes)
    steady = drive_late(steady, world, order, patience)
    moved = drive_late(moved, world, order, patience, restore_every=restore_every)
    assert moved.snapshot() == steady.snapshot()


def test_unasked_items_wait_behind_the_oldest_outstanding_one() -> None:
    monitor = make_monitor(budget=0.5)
    asked, unasked = list[int](), list[int]()
    for n in range(40):
        (asked if monitor.observe(f"x{n}", stratum="coding", cheap=GOOD).strong else unasked).append(n)
    assert len(unasked) > 5
    assert monitor._clock[ck.APPLIED] == asked[0]
    assert monitor._main.strata[:, SEEN].sum() == asked[0]
    assert monitor.pending_items == tuple(f"x{n}" for n in asked)
    for n in reversed(asked[1:]):
        monitor.record_strong(f"x{n}", GOOD)
    assert monitor._clock[ck.APPLIED] == asked[0]
    monitor.record_strong(f"x{asked[0]}", GOOD)
    assert (monitor._clock[ck.APPLIED], len(monitor._items), monitor.pending_items) == (40, 0, ())


def test_an_anchors_result_waits_for_the_older_draws() -> None:
    monitor = make_monitor(budget=1.0, anchor_every=1)
    for n in range(5):
        monitor.observe(f"x{n}", stratum="coding", cheap=GOOD)
    first, *others = monitor.pending_anchors
    assert first not in others
    for anchor in others:
        rescore(monitor, anchor)
    assert monitor._clock[ck.ANCHOR_CALLS] == 0
    rescore(monitor, first)
    assert monitor._clock[ck.ANCHOR_CALLS] == 5


def test_items_and_anchors_do_not_wait_for_each_other() -> None:
    monitor = make_monitor(budget=1.0, anchor_every=1)
    monitor.observe("x", stratum="coding", cheap=GOOD)
    rescore_all(monitor)
    assert monitor._clock[[ck.APPLIED, ck.ANCHOR_CALLS]].tolist() == [0, 1]


def test_a_late_score_raises_the_alarm_at_its_own_position_and_not_at_its_arrival() -> None:
    prompt, late = (make_monitor(preset="paper", budget=1.0, anchored=False) for _ in range(2))
    at = raise_system_alarm(prompt)
    for n in range(at + 30):
        late.observe(f"bad{n}", stratum="coding", cheap=BAD)
    assert late.verdict.kind == "none"
    for n in range(at):
        late.record_strong(f"bad{n}", BAD)
    assert (late.position, late.verdict.system_alarm_at) == (at + 30, at)


def test_a_judge_verdict_is_pending_while_an_old_item_could_still_overtake_it() -> None:
    """Equation 7 compares positions: a main alarm more than the guard before the anchors' would mean `system`."""
    monitor = make_monitor(preset="paper", anchor_every=1, guard=10, budget=1.0)
    monitor.observe("slow", stratum="coding", cheap=GOOD)
    rescore_all(monitor)
    at = raise_judge_alarm(monitor)
    assert at > 11
    assert (monitor.verdict.kind, monitor.verdict.status) == ("judge", "pending")
    monitor.record_strong("slow", GOOD)
    assert (monitor.verdict.kind, monitor.verdict.status) == ("judge", "final")


def test_a_late_main_alarm_that_lies_beyond_the_guard_takes_the_verdict_over() -> None:
    monitor = make_monitor(preset="paper", anchor_every=1, guard=5, budget=1.0)
    for n in range(12):
        monitor.observe(f"bad{n}", stratum="coding", cheap=BAD)
        rescore_all(monitor)
    raise_judge_alarm(monitor)
    assert (monitor.verdict.kind, monitor.verdict.status) == ("judge", "pending")
    for n in range(12):
        monitor.record_strong(f"bad{n}", BAD)
    verdict = monitor.verdict
    assert verdict.system_alarm_at is not None
    assert verdict.judge_alarm_at is not None
    assert verdict.system_alarm_at + 5 < verdict.judge_alarm_at
    assert (verdict.kind, verdict.status) == ("system", "final")


@pytest.mark.parametrize("preset", ["paper", "robust"])
@pytest.mark.parametrize("reason", ["transport", "refusal", "unparsable", "out_of_range"])
def test_a_failed_strong_call_counts_as_the_best_score(preset: str, reason: Any) -> None:
    failed, best = (make_monitor(preset=preset, budget=1.0) for _ in range(2))
    for n in range(20):
        for monitor, answer in ((failed, Failure(reason)), (best, (1.0, 1.0))):
            monitor.observe(f"x{n}", stratum="coding", cheap=GOOD)
            monitor.record_strong(f"x{n}", answer if n % 2 else BAD)
    assert failed.snapshot()["main"] == best.snapshot()["main"]
    assert failed.evidence().cost.strong_unscored == 10
    assert best.evidence().cost.strong_unscored == 0


@pytest.mark.parametrize("acquisition", ["uniform", "growth", "escalation"])
def test_a_failed_cheap_call_counts_as_a_prediction_at_the_null(acquisition: str) -> None:
    failed, neutral = (make_monitor(acquisition=acquisition) for _ in range(2))
    nulls = neutral.calibration.nulls[0].tolist()
    for n in range(20):
        for monitor, cheap in ((failed, Failure("transport")), (neutral, nulls)):
            if monitor.observe(f"x{n}", stratum="coding", cheap=cheap).strong:
                monitor.record_strong(f"x{n}", GOOD)
    assert failed.snapshot()["main"] == neutral.snapshot()["main"]
    assert failed.evidence().cost.cheap_unscored == 20


@pytest.mark.parametrize("reason", ["refusal", "unparsable", "out_of_range"])
def test_a_judge_that_refuses_its_anchors_is_a_judge_that_moved(reason: Any) -> None:
    monitor = make_monitor(anchor_every=1)
    for n in range(30):
        if monitor.observe(f"x{n}", stratum="coding", cheap=GOOD).strong:
            monitor.record_strong(f"x{n}", GOOD)
        for anchor in monitor.pending_anchors:
            monitor.record_anchor(anchor, Failure(reason))
    assert monitor.verdict.kind == "judge"
    assert monitor.verdict.rubrics == (("*", "different"),)


def test_a_transport_failure_on_an_anchor_carries_no_evidence() -> None:
    monitor = make_monitor(budget=1.0, anchor_every=1)
    monitor.observe("x", stratum="coding", cheap=GOOD)
    before = monitor.snapshot()
    anchor = monitor.pending_anchors[0]
    monitor.record_anchor(anchor, Failure("transport"))
    after = monitor.snapshot()
    assert after["anchor"] == before["anchor"]
    assert monitor._clock[ck.ANCHOR_CALLS] == 0
    assert monitor.evidence().cost.anchor_unscored == 1


def test_a_failed_re_score_is_asked_for_again_with_the_next_item_and_before_new_ones() -> None:
    monitor = make_monitor(budget=1.0, anchor_every=1)
    first = monitor.observe("x", stratum="coding", cheap=GOOD).anchors[0]
    monitor.record_anchor(first, Failure("transport"))
    assert not list(monitor.pending_anchors)
    ask = monitor.observe("y", stratum="coding", cheap=GOOD)
    assert ask.anchors[0] == first
    assert len(ask.anchors) == 2
    assert monitor.pending_anchors == ask.anchors
    assert monitor.observe("z", stratum="coding", cheap=GOOD).anchors != ask.anchors


def test_a_failed_re_score_may_be_answered_without_being_asked_for_again() -> None:
    monitor = make_monitor(budget=1.0, anchor_every=1)
    anchor = monitor.observe("x", stratum="coding", cheap=GOOD).anchors[0]
    monitor.record_anchor(anchor, Failure("transport"))
    monitor.record_anchor(anchor, usual_scores(monitor, anchor))
    assert monitor._clock[ck.ANCHOR_CALLS] == 1
    assert anchor not in monitor.observe("y", stratum="coding", cheap=GOOD).anchors[:-1]


def test_a_re_score_that_failed_ends_where_one_that_did_not_fail_ends() -> None:
    smooth, bumpy = (make_monitor(preset="paper", anchor_every=1) for _ in range(2))
    for n in range(40):
        for monitor in (smooth, bumpy):
            if monitor.observe(f"x{n}", stratum="coding", cheap=GOOD).strong:
                monitor.record_strong(f"x{n}", GOOD)
        rescore_all(smooth)
        if n % 3 == 2:
            rescore_all(bumpy)
        else:
            monitor.record_anchor(bumpy.pending_anchors[0], Failure("transport"))
    bumpy.observe("end", stratum="coding", cheap=GOOD)
    smooth.observe("end", stratum="coding", cheap=GOOD)
    rescore_all(bumpy)
    rescore_all(smooth)
    assert bumpy.snapshot()["anchor"] == smooth.snapshot()["anchor"]


def test_what_waits_what_is_awaited_and_what_is_ignored() -> None:
    monitor = make_monitor(acquisition="full", budget=1.0, anchored=False)
    assert (monitor.waiting, monitor.awaits("a"), monitor.ignores("a")) == (0, False, False)
    for name in ("a", "b"):
        assert monitor.observe(name, stratum="coding", cheap=GOOD).strong
    assert (monitor.waiting, monitor.awaits("a"), monitor.awaits("b"), monitor.awaits("c")) == (2, True, True, False)
    monitor.record_strong("b", GOOD)
    assert (monitor.waiting, monitor.awaits("a"), monitor.awaits("b")) == (2, True, False), "it waits for the older one"
    monitor.record_strong("a", GOOD)
    assert (monitor.waiting, monitor.awaits("a"), monitor.ignores("a")) == (0, False, False)


def test_an_unasked_item_behind_an_asked_one_waits_and_is_not_awaited() -> None:
    monitor = make_monitor(budget=0.5, anchored=False)
    asked = [monitor.observe(f"i{i}", stratum="coding", cheap=GOOD).strong for i in range(20)]
    first = asked.index(True)
    assert not all(asked[first:])
    assert monitor.waiting == 20 - first
    assert [monitor.awaits(f"i{i}") for i in range(20)] == asked


def test_what_was_outstanding_when_an_epoch_ended_is_ignored() -> None:
    monitor = make_monitor(budget=1.0, acquisition="full", anchored=False)
    raise_system_alarm(monitor)
    monitor.observe("late", stratum="coding", cheap=GOOD)
    assert (monitor.waiting, monitor.awaits("late"), monitor.ignores("late")) == (1, True, False)
    monitor.acknowledge()
    assert (monitor.waiting, monitor.awaits("late"), monitor.ignores("late")) == (0, False, True)
    assert restored(monitor).ignores("late")
