from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftjudge import Failure, Monitor
from driftjudge.monitor.errors import SnapshotError
from tests.monitor.builders import (
    BAD,
    GOOD,
    drive,
    make_config,
    make_monitor,
    make_world,
    refused,
    restored,
    through_json,
)
from tests.monitor.test_block import CHANGES, MONITORS


@settings(max_examples=40)
@given(monitors=MONITORS, changes=CHANGES, stops=st.lists(st.integers(0, 120), min_size=1, max_size=3))
def test_a_monitor_restored_at_any_position_goes_on_bit_for_bit(
    monitors: dict[str, Any], changes: dict[str, Any], stops: list[int]
) -> None:
    steady, moved = make_monitor(**monitors), make_monitor(**monitors)
    world = make_world(steady, 120, **changes)
    drive(steady, world)
    bounds = [0, *sorted(stops), 120]
    for start, stop in pairwise(bounds):
        moved = restored(drive(moved, world, start, stop))
    assert moved.snapshot() == steady.snapshot()
    assert moved.verdict == steady.verdict


def with_everything_outstanding() -> Monitor:
    """Scores late and out of order, a failed re-score, a burst, a withdrawn and a void entry: every kind of state."""
    monitor = make_monitor(budget=1.0, anchor_every=2, burst=3)
    for n in range(12):
        monitor.observe(f"x{n}", stratum="coding", cheap=BAD)
    for n in (*range(8), 10):
        monitor.record_strong(f"x{n}", BAD)
    monitor.record_strong("x9", Failure("unparsable"))
    monitor.record_anchor(monitor.pending_anchors[0], Failure("transport"))
    monitor.record_anchor(monitor.pending_anchors[-1], Failure("refusal"))
    assert monitor.verdict.status == "pending"
    return monitor


def test_a_monitor_with_results_outstanding_is_restored_with_all_of_them() -> None:
    monitor = with_everything_outstanding()
    again = restored(monitor)
    assert (again.pending_items, again.pending_anchors) == (monitor.pending_items, monitor.pending_anchors)
    for one in (monitor, again):
        one.record_strong("x8", GOOD)
        ask = one.observe("y", stratum="creative", cheap=GOOD)
        for anchor in ask.anchors:
            one.record_anchor(anchor, GOOD)
    assert again.snapshot() == monitor.snapshot()
    assert again.verdict == monitor.verdict


def test_a_snapshot_is_plain_json() -> None:
    snapshot = with_everything_outstanding().snapshot()
    assert through_json(snapshot) == snapshot


def test_a_snapshot_does_not_follow_the_monitor() -> None:
    monitor = make_monitor(budget=1.0)
    monitor.observe("x", stratum="coding", cheap=GOOD)
    before = monitor.snapshot()
    kept = json.dumps(before)
    monitor.record_strong("x", BAD)
    monitor.observe("y", stratum="coding", cheap=BAD)
    assert json.dumps(before) == kept


def test_a_restored_monitor_does_not_follow_its_snapshot() -> None:
    state = with_everything_outstanding().snapshot()
    monitor = Monitor.restore(state)
    kept = monitor.snapshot()
    state["clock"][0], state["seen_ids"][:], state["items"][0]["cheap"][0] = 77, [], 0.123
    state["main"]["cells"][0][0] = 0.5
    assert monitor.snapshot() == kept


def test_a_snapshot_is_restored_under_its_own_config() -> None:
    monitor = make_monitor(seed=11)
    assert Monitor.restore(monitor.snapshot(), config=make_config(seed=11)).snapshot() == monitor.snapshot()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"seed": 8}, ("another config", "seed is 7 there and 8 here", "its own config")),
        ({"alpha_system": 0.05}, ("alpha_system is 0.1 there and 0.05 here",)),
        ({"rubrics": ("tone", "style")}, ("rubrics is ['helpfulness', 'correctness'] there",)),
        ({"preset": "paper"}, ("preset is 'robust' there and 'paper' here",)),
    ],
    ids=str,
)
def test_a_snapshot_of_another_config_is_refused_with_what_differs(
    settings: dict[str, Any], words: tuple[str, ...]
) -> None:
    with refused(SnapshotError, *words):
        Monitor.restore(make_monitor().snapshot(), config=make_config(**settings))


def test_a_snapshot_of_another_format_is_refused() -> None:
    state = {**make_monitor().snapshot(), "format": 99}
    with refused(SnapshotError, "format 99", "the version that wrote it"):
        Monitor.restore(state)


@pytest.mark.parametrize("state", [{}, [], None, 7, "text"], ids=str)
def test_what_is_no_snapshot_is_refused(state: Any) -> None:
    with refused(SnapshotError, "not a monitor snapshot", "Monitor.snapshot()"):
        Monitor.restore(state)


def test_a_snapshot_that_is_still_text_is_refused() -> None:
    text: Any = json.dumps(make_monitor().snapshot())
    with refused(SnapshotError, "not a monitor snapshot"):
        Monitor.restore(text)


PARTS = (
    *("config", "calibration", "anchors", "epoch", "clock", "main", "anchor", "items", "draws", "seen_ids"),
    *("withdrawn", "story", "cells", "rubrics"),
)


@pytest.mark.parametrize("part", PARTS)
def test_a_snapshot_with_a_part_missing_is_refused(part: str) -> None:
    state = with_everything_outstanding().snapshot()
    del state[part]
    with refused(SnapshotError, "damaged", part):
        Monitor.restore(state)


def put(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def damage(state: dict[str, Any]) -> None:
        place: Any = state
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return damage


def cut(*path: Any) -> Callable[[dict[str, Any]], None]:
    """The last entry of a list is gone."""

    def damage(state: dict[str, Any]) -> None:
        place: Any = state
        for step in path:
            place = place[step]
        place.pop()

    return damage


DAMAGES = {
    "clock cut": cut("clock"),
    "clock holds null": put("clock", 0, value=None),
    "clock is negative": put("clock", 0, value=-3),
    "epoch is text": put("epoch", value="first"),
    "epoch is infinite": put("epoch", value=float("inf")),
    "cells cut": cut("main", "cells"),
    "a cell cut": cut("main", "cells", 0),
    "wealth is negative": put("main", "cells", 0, 2, value=-1.0),
    "wealth is text": put("main", "cells", 0, 2, value="much"),
    "strata cut": cut("main", "strata"),
    "statistics cut": cut("anchor", "statistics"),
    "anchor evidence missing": put("anchor", value=None),
    "anchors missing": put("anchors", value=None),
    "an anchor cut": cut("anchors", "ids"),
    "bars cut": cut("calibration", "bars"),
    "an unknown setting": put("config", "bugdet", value=0.3),
    "a bad setting": put("config", "budget", value=3),
    "items are null": put("items", value=None),
    "an item of no stratum": put("items", 0, "stratum", value=99),
    "an item of too few scores": put("items", 0, "cheap", value=[0.5]),
    "an item asked with probability 7": put("items", 0, "pi", value=7.0),
    "an item with an unknown field": put("items", 0, "colour", value="red"),
    "a draw of no anchor": put("draws", 0, "anchor", value=999),
    "a draw with too few scores": put("draws", 0, "scores", value=[1.0]),
    "ids are null": put("seen_ids", value=None),
    "a milestone cut": put("story", value=[[1, "system_alarm"]]),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_snapshot_is_refused(damage: str) -> None:
    state = through_json(with_everything_outstanding().snapshot())
    DAMAGES[damage](state)
    with pytest.raises(SnapshotError, match=r"damaged|another config") as caught:
        Monitor.restore(state)
    assert "\n" not in str(caught.value)


def test_a_number_that_changed_on_its_way_is_noticed_even_where_it_could_be_right() -> None:
    state = through_json(make_monitor().snapshot())
    state["main"]["strata"][0][0] += 1.0
    with pytest.raises(SnapshotError, match="checksum"):
        Monitor.restore(state)
