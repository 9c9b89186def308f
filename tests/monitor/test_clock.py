from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from driftjudge.monitor import clock as ck
from driftjudge.monitor.clock import note_anchor, note_main


def clock_at(**fields: int) -> NDArray[np.int64]:
    clock = ck.new_clock()
    for name, value in fields.items():
        clock[getattr(ck, name)] = value
    return clock


def test_a_new_clock_has_seen_nothing() -> None:
    assert not ck.new_clock().any()


@pytest.mark.parametrize(("evalue", "alarms"), [(9.999, False), (10.0, True), (11.0, True)])
def test_the_main_alarm_rises_at_the_threshold(evalue: float, alarms: bool) -> None:
    clock = clock_at(POSITION=50)
    assert note_main(clock, 42, evalue, 10.0, 0) is alarms
    assert clock[ck.APPLIED] == 42
    assert clock[ck.SYSTEM_AT] == (42 if alarms else 0)


def test_only_the_first_main_alarm_of_an_epoch_counts() -> None:
    clock = clock_at(SYSTEM_AT=42)
    assert not note_main(clock, 50, 99.0, 10.0, 60)
    assert (clock[ck.SYSTEM_AT], clock[ck.DRAWN], clock[ck.APPLIED]) == (42, 0, 50)


def test_a_main_alarm_draws_the_burst_and_the_guard_ends_with_its_last_draw() -> None:
    clock = clock_at(DRAWN=7, CLOSED=7)
    note_main(clock, 42, 10.0, 10.0, 60)
    assert (clock[ck.DRAWN], clock[ck.GUARD_DRAW]) == (67, 67)


def test_a_main_alarm_after_the_anchors_spoke_draws_no_burst() -> None:
    clock = clock_at(DRAWN=7, CLOSED=7, JUDGE_AT=30, JUDGE_DRAW=5)
    note_main(clock, 42, 10.0, 10.0, 60)
    assert (clock[ck.DRAWN], clock[ck.GUARD_DRAW]) == (7, 7)


@pytest.mark.parametrize(("evalue", "alarms"), [(9.999, False), (10.0, True)])
def test_the_anchor_alarm_rises_at_the_threshold(evalue: float, alarms: bool) -> None:
    clock = clock_at(DRAWN=3, CLOSED=2)
    assert note_anchor(clock, 42, evalue, 10.0) is alarms
    assert (clock[ck.CLOSED], clock[ck.ANCHOR_CALLS]) == (3, 1)
    assert (clock[ck.JUDGE_AT], clock[ck.JUDGE_DRAW]) == ((42, 3) if alarms else (0, 0))


def test_an_anchor_alarm_closes_every_draw_that_was_still_to_come_without_counting_it_as_a_call() -> None:
    clock = clock_at(DRAWN=60, CLOSED=5, ANCHOR_CALLS=5)
    note_anchor(clock, 42, 10.0, 10.0)
    assert (clock[ck.CLOSED], clock[ck.JUDGE_DRAW], clock[ck.ANCHOR_CALLS]) == (60, 6, 6)


def test_only_the_first_anchor_alarm_of_an_epoch_counts() -> None:
    clock = clock_at(JUDGE_AT=42, JUDGE_DRAW=6, DRAWN=61, CLOSED=60)
    assert not note_anchor(clock, 50, 99.0, 10.0)
    assert (clock[ck.JUDGE_AT], clock[ck.JUDGE_DRAW], clock[ck.CLOSED]) == (42, 6, 61)
