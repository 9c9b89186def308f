"""A limit on everything, and a monitor that stops rather than corrupt its evidence."""

from __future__ import annotations

from typing import Any

import pytest

from driftjudge import Failure, Monitor
from driftjudge.monitor.errors import SnapshotError, StoppedError
from driftjudge.monitor.layout import CAP
from driftjudge.monitor.monitor import MOST_MILESTONES
from driftjudge.stats.errors import SupermartingaleError
from tests.monitor.builders import (
    BAD,
    GOOD,
    answer_all,
    make_monitor,
    make_world,
    raise_system_alarm,
    rescore_all,
    through_json,
)


def leaves(value: Any) -> int:
    """How many plain values a snapshot holds."""
    if isinstance(value, dict):
        return sum(map(leaves, value.values()))
    return sum(map(leaves, value)) if isinstance(value, list) else 1


def feed(monitor: Monitor, start: int, stop: int) -> None:
    stratum = monitor.config.strata
    for n in range(start, stop):
        ask = monitor.observe(f"i{n}", stratum=stratum[n & 1], cheap=GOOD)
        if ask.strong:
            monitor.record_strong(f"i{n}", GOOD)
        if ask.anchors:
            rescore_all(monitor)


@pytest.mark.parametrize("preset", ["paper", "robust"])
def test_the_size_of_a_monitor_does_not_grow_with_the_stream(preset: str) -> None:
    monitor = make_monitor(preset=preset, id_memory=100)
    feed(monitor, 0, 2_000)
    size = leaves(monitor.snapshot())
    feed(monitor, 2_000, 50_000)
    assert monitor.verdict.kind == "none"
    assert leaves(monitor.snapshot()) == size
    assert len(list(monitor._seen_ids)) == len(monitor._seen_ids._known) == 100
    assert len(monitor._items) == len(monitor._draws) == len(monitor._coins._held) - 2 == 0


def test_ids_are_remembered_up_to_the_bound_and_no_further() -> None:
    monitor = make_monitor(id_memory=10)
    feed(monitor, 0, 15)
    assert [f"i{n}" in monitor._seen_ids for n in (4, 5, 14)] == [False, True, True]


def test_the_story_keeps_its_latest_chapters() -> None:
    monitor = make_monitor(anchored=False, budget=1.0, preset="paper", id_memory=10)
    for epoch in range(MOST_MILESTONES // 2 + 5):
        raise_system_alarm(monitor, prefix=f"e{epoch}-")
        monitor.acknowledge()
    story = monitor.evidence().story
    assert len(story) == MOST_MILESTONES
    assert story[-1].kind == "acknowledged"
    assert story[-1].position == monitor.position


def test_the_line_of_items_never_exceeds_its_bound() -> None:
    monitor = make_monitor(budget=0.5, max_pending=7)
    longest = 0
    for n in range(300):
        if len(monitor._items) == 7:
            monitor.record_strong(monitor.pending_items[0], GOOD)
        monitor.observe(f"i{n}", stratum="coding", cheap=GOOD)
        longest = max(longest, len(monitor._items))
    assert longest == 7


def test_the_line_of_scheduled_re_scores_never_exceeds_its_bound() -> None:
    monitor = make_monitor(anchor_every=1, max_pending=7)
    for n in range(100):
        monitor.observe(f"i{n}", stratum="coding", cheap=GOOD)
        answer_all(monitor)
        assert len(monitor._draws) <= 7
    assert len(monitor.pending_anchors) == 7


def test_while_the_judge_is_down_no_more_is_asked_again_than_may_be_outstanding() -> None:
    monitor = make_monitor(anchor_every=1, max_pending=7)
    for n in range(100):
        ask = monitor.observe(f"i{n}", stratum="coding", cheap=GOOD)
        answer_all(monitor)
        assert len(ask.anchors) <= 7
        for anchor in ask.anchors:
            monitor.record_anchor(anchor, Failure("transport"))


def test_a_burst_counts_towards_the_most_that_may_be_outstanding() -> None:
    monitor = make_monitor(budget=1.0, anchor_every=1, max_pending=7, burst=5)
    raise_system_alarm(monitor)
    assert len(monitor._draws) <= 7 + 5


def break_main(monitor: Monitor) -> None:
    """A cap that no longer keeps the factor above 0, as a bug or a flipped bit would leave it."""
    monitor._main.caps[:] = 1e6


def stopped(**settings: Any) -> Monitor:
    monitor = make_monitor(**{"budget": 1.0, "anchor_every": 1, **settings})
    for item_id in ("a", "b", "c"):
        monitor.observe(item_id, stratum="coding", cheap=GOOD)
    break_main(monitor)
    with pytest.raises(SupermartingaleError, match="below 0"):
        monitor.record_strong("a", (1.0, 1.0))
    return monitor


AFTERWARDS: dict[str, Any] = {
    "observe": lambda m: m.observe("d", stratum="coding", cheap=GOOD),
    "record_strong, next in line": lambda m: m.record_strong("b", GOOD),
    "record_strong, later in line": lambda m: m.record_strong("c", GOOD),
    "record_anchor": rescore_all,
    "record_anchor, failed": lambda m: m.record_anchor(m.pending_anchors[0], Failure("transport")),
}


@pytest.mark.parametrize("call", AFTERWARDS)
def test_a_monitor_whose_evidence_would_be_invalid_stops_for_good(call: str) -> None:
    monitor = stopped()
    for _ in range(2):
        with pytest.raises(StoppedError, match=r"stopped itself: .*below 0.*; restore an earlier snapshot"):
            AFTERWARDS[call](monitor)


def test_a_stopped_monitor_refuses_blocks_too() -> None:
    monitor = make_monitor(anchor_every=0)
    block = make_world(monitor, 50).block
    break_main(monitor)
    with pytest.raises(SupermartingaleError):
        monitor.observe_block(block)
    with pytest.raises(StoppedError):
        monitor.observe_block(block)


def test_an_unasked_item_can_stop_the_monitor() -> None:
    monitor = make_monitor(budget=0.05)
    break_main(monitor)
    with pytest.raises(SupermartingaleError):
        monitor.observe("a", stratum="coding", cheap=(1.0, 1.0))
    with pytest.raises(StoppedError):
        monitor.observe("b", stratum="coding", cheap=(1.0, 1.0))


def test_a_re_score_can_stop_the_monitor() -> None:
    monitor = make_monitor(budget=1.0, anchor_every=1)
    for item_id in ("a", "b"):
        monitor.observe(item_id, stratum="coding", cheap=GOOD)
    assert monitor._anchor is not None
    monitor._anchor.statistics[:, CAP] = 1e6
    with pytest.raises(SupermartingaleError):
        rescore_all(monitor)
    with pytest.raises(StoppedError):
        monitor.record_strong("a", GOOD)


def test_a_stopped_monitor_does_not_come_back_to_life_through_its_own_snapshot() -> None:
    monitor = stopped()
    with pytest.raises((StoppedError, SnapshotError)):
        Monitor.restore(through_json(monitor.snapshot())).observe("d", stratum="coding", cheap=GOOD)


def test_a_stopped_monitor_still_shows_what_it_knew() -> None:
    monitor = stopped()
    assert monitor.position == 3
    assert monitor.verdict.kind == "none"


def test_an_earlier_snapshot_goes_on_where_a_stopped_monitor_cannot() -> None:
    monitor = make_monitor(budget=1.0)
    monitor.observe("a", stratum="coding", cheap=GOOD)
    earlier = through_json(monitor.snapshot())
    break_main(monitor)
    with pytest.raises(SupermartingaleError):
        monitor.record_strong("a", (1.0, 1.0))
    again = Monitor.restore(earlier)
    again.record_strong("a", (1.0, 1.0))
    again.observe("b", stratum="coding", cheap=BAD)
    assert again.position == 2
