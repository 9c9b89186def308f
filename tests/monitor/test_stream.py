from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from driftjudge import Monitor
from driftjudge.monitor import clock as ck
from driftjudge.monitor.block import run_block
from driftjudge.monitor.stream import APPLIED_QUIETLY, APPLIED_WITH_ALARM, ASKED, WAITS, take_item
from tests.monitor.builders import make_monitor, make_world


def take(monitor: Monitor, cheap: tuple[float, float] = (0.75, 0.75), **settings: Any) -> tuple[int, float]:
    """One item of the first stratum; the coin falls on 'do not ask' unless told otherwise."""
    arguments = {"every": 0, "room": True, "scored": True, "coin": 0.99, "first_in_line": True, **settings}
    outcome, pi = take_item(
        monitor._main_fields, monitor._asking_fields, monitor._clock, 60, 0, arguments["every"], arguments["room"],
        0, np.array(cheap), arguments["scored"], arguments["coin"], arguments["first_in_line"],
    )  # fmt: skip
    return int(outcome), float(pi)


def test_an_unasked_item_with_nothing_before_it_is_applied_at_once() -> None:
    monitor = make_monitor()
    assert take(monitor) == (APPLIED_QUIETLY, 0.3)
    assert monitor._clock[[ck.POSITION, ck.APPLIED, ck.STRONG_CALLS]].tolist() == [1, 1, 0]


@pytest.mark.parametrize(("coin", "outcome"), [(0.29, ASKED), (0.3, APPLIED_QUIETLY)])
def test_an_item_is_asked_about_when_its_coin_falls_below_pi(coin: float, outcome: int) -> None:
    assert take(make_monitor(), coin=coin)[0] == outcome


def test_an_asked_item_counts_as_a_call_and_leaves_the_evidence_alone() -> None:
    monitor = make_monitor()
    before = monitor._main.cells.copy()
    take(monitor, coin=0.0)
    assert monitor._clock[[ck.POSITION, ck.APPLIED, ck.STRONG_CALLS]].tolist() == [1, 0, 1]
    assert np.array_equal(monitor._main.cells, before)


def test_an_unasked_item_behind_another_waits() -> None:
    monitor = make_monitor()
    before = monitor._main.cells.copy()
    assert take(monitor, first_in_line=False)[0] == WAITS
    assert np.array_equal(monitor._main.cells, before)


def test_an_item_that_raises_the_alarm_says_so_and_draws_the_burst() -> None:
    monitor = make_monitor()
    outcomes = [take(monitor, (0.0, 0.0))[0] for _ in range(300)]
    assert outcomes.count(APPLIED_WITH_ALARM) == 1
    assert monitor._clock[ck.SYSTEM_AT] == outcomes.index(APPLIED_WITH_ALARM) + 1
    assert monitor._clock[ck.DRAWN] == 60


def test_every_so_many_positions_one_anchor_is_drawn() -> None:
    monitor = make_monitor()
    drawn = []
    for _ in range(9):
        take(monitor, every=4)
        drawn.append(int(monitor._clock[ck.DRAWN]))
    assert drawn == [0, 0, 0, 1, 1, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("cheap", "rubric"), [((1.5, 0.5), 0), ((0.5, -0.1), 1), ((math.nan, 0.5), 0), ((0.5, math.inf), 1)]
)
def test_a_number_that_is_no_score_is_named_by_its_rubric_and_changes_nothing(
    cheap: tuple[float, float], rubric: int
) -> None:
    monitor = make_monitor()
    before = monitor.snapshot()
    assert take(monitor, cheap, every=1) == (-1 - rubric, 0.0)
    assert monitor.snapshot() == before


def test_an_unscored_item_is_counted() -> None:
    monitor = make_monitor()
    take(monitor, (math.nan, math.nan), scored=False)
    assert monitor._clock[ck.CHEAP_UNSCORED] == 1


def test_a_stream_is_read_to_its_end_through_every_alarm() -> None:
    monitor = make_monitor(anchor_every=5)
    world = make_world(monitor, 400, drop_at=50)
    run_block(monitor, world.block)
    assert monitor._clock[[ck.POSITION, ck.APPLIED]].tolist() == [400, 400]
    assert 50 < monitor._clock[ck.SYSTEM_AT] < 400
    assert monitor._clock[ck.DRAWN] == monitor._clock[ck.CLOSED] == 400 // 5 + 60
