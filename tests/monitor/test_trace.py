from __future__ import annotations

import math

import numpy as np
import pytest

from driftjudge.monitor.evidence import Trace
from driftjudge.monitor.trace import traced_run
from tests.monitor.builders import make_monitor, make_world


def test_looking_changes_nothing() -> None:
    plain, watched = (make_monitor(anchor_every=5) for _ in range(2))
    world = make_world(plain, 300, drop_at=100)
    plain.observe_block(world.block)
    traced_run(watched, world.block, points=37)
    assert watched.snapshot() == plain.snapshot()


def test_a_trace_ends_where_the_monitor_stands() -> None:
    monitor = make_monitor(anchor_every=5)
    trace = traced_run(monitor, make_world(monitor, 200).block, points=20)
    cost = monitor.evidence().cost
    assert trace.position[-1] == 200
    assert trace.system[-1] == math.log(monitor.system_evalue)
    assert trace.judge[-1] == math.log(monitor.judge_evalue)
    assert (trace.strong_calls[-1], trace.anchor_calls[-1]) == (cost.strong_calls, cost.anchor_calls)
    assert trace.system_threshold == math.log(monitor.config.system_threshold)


@pytest.mark.parametrize(("items", "points", "length"), [(300, 20, 20), (7, 20, 7), (0, 20, 0), (300, 1, 1)])
def test_a_trace_has_a_bounded_number_of_increasing_positions(items: int, points: int, length: int) -> None:
    monitor = make_monitor()
    trace = traced_run(monitor, make_world(monitor, items).block, points=points)
    assert len(trace.position) == len(trace.system) == length
    assert (np.diff(trace.position) > 0).all()
    assert monitor.position == items


def test_the_whole_block_is_run_even_when_no_point_of_it_is_wanted() -> None:
    monitor = make_monitor()
    traced_run(monitor, make_world(monitor, 50).block, points=0)
    assert monitor.position == 50


def test_without_anchors_the_judges_line_is_empty() -> None:
    monitor = make_monitor(anchored=False)
    assert np.isnan(traced_run(monitor, make_world(monitor, 30).block).judge).all()


def test_progress_is_reported_point_by_point() -> None:
    monitor = make_monitor()
    seen: list[Trace] = []
    trace = traced_run(monitor, make_world(monitor, 60).block, points=6, on_progress=seen.append)
    assert [len(partial.position) for partial in seen] == [1, 2, 3, 4, 5, 6]
    assert seen[2].position.tolist() == trace.position[:3].tolist()


def test_a_second_block_goes_on_from_the_first() -> None:
    monitor = make_monitor()
    block = make_world(monitor, 60).block
    traced_run(monitor, block.part(0, 40), points=4)
    assert traced_run(monitor, block.part(40, 60), points=4).position.tolist() == [45, 50, 55, 60]
