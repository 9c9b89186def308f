"""After a verdict: acknowledging a drop, accepting a new judge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from driftjudge import Failure, Monitor
from driftjudge.monitor import clock as ck
from driftjudge.monitor.errors import AnchorError, CalibrationError, EpochError, UnaskedError
from driftjudge.monitor.layout import NULL, SEEN, WEALTH
from tests.monitor.builders import (
    BAD,
    GOOD,
    answer_all,
    bars_at,
    make_anchors,
    make_calibration,
    make_config,
    make_monitor,
    raise_judge_alarm,
    raise_system_alarm,
    refused,
    rescore_all,
    restored,
)


def with_system_verdict(**settings: Any) -> Monitor:
    monitor = make_monitor(**{"budget": 1.0, "anchor_every": 2, **settings})
    raise_system_alarm(monitor)
    rescore_all(monitor)
    assert (monitor.verdict.kind, monitor.verdict.status) == ("system", "final")
    return monitor


def with_judge_verdict(**settings: Any) -> Monitor:
    monitor = make_monitor(**{"budget": 1.0, "anchor_every": 1, **settings})
    raise_judge_alarm(monitor)
    assert (monitor.verdict.kind, monitor.verdict.status) == ("judge", "final")
    return monitor


def new_judge(monitor: Monitor) -> dict[str, Any]:
    return {"anchors": make_anchors(seed=8, prefix="b"), "calibration": make_calibration(monitor.config, seed=8)}


def test_acknowledging_starts_the_main_family_anew_in_a_new_epoch() -> None:
    monitor = with_system_verdict()
    monitor.acknowledge()
    assert monitor.epoch == monitor.verdict.epoch == 2
    assert (monitor._main.cells[:, WEALTH] == 1.0).all()
    assert not monitor._main.strata[:, SEEN].any()
    assert (monitor.verdict.kind, monitor.verdict.status, monitor.verdict.position) == ("none", "watching", 0)
    assert (monitor.verdict.system_alarm_at, monitor.verdict.cells) == (None, ())


def test_acknowledging_lets_the_anchors_go_on() -> None:
    monitor = with_system_verdict()
    before = monitor.snapshot()["anchor"]
    drawn = monitor._clock[[ck.DRAWN, ck.CLOSED, ck.ANCHOR_CALLS]].tolist()
    monitor.acknowledge()
    assert monitor.snapshot()["anchor"] == before
    assert monitor._clock[[ck.DRAWN, ck.CLOSED, ck.ANCHOR_CALLS]].tolist() == drawn


def test_positions_and_costs_count_on_over_epochs() -> None:
    monitor = with_system_verdict()
    at, cost = monitor.position, monitor.evidence().cost
    monitor.acknowledge()
    assert monitor.position == at
    assert monitor.evidence().cost == cost


def test_a_system_that_stays_below_its_bar_alarms_again_in_the_new_epoch() -> None:
    monitor = with_system_verdict(burst=12)
    first = monitor.verdict.system_alarm_at
    assert first is not None
    monitor.acknowledge()
    second = raise_system_alarm(monitor, prefix="again")
    assert second > first
    assert len(monitor.pending_anchors) >= 12
    rescore_all(monitor)
    assert (monitor.verdict.kind, monitor.verdict.status, monitor.verdict.epoch) == ("system", "final", 2)


def test_a_new_calibration_accepts_the_new_level_as_the_bar() -> None:
    monitor = with_system_verdict()
    lower = bars_at(0.3, monitor.config)
    monitor.acknowledge(lower)
    assert monitor.calibration is lower
    assert monitor._main.cells[:, NULL] == pytest.approx(0.25)
    for n in range(200):
        monitor.observe(f"low{n}", stratum="coding", cheap=(0.4, 0.4))
        answer_all(monitor, (0.4, 0.4))
        rescore_all(monitor)
    assert monitor.verdict.kind == "none"


def test_an_unattributed_verdict_can_be_acknowledged_too() -> None:
    monitor = make_monitor(anchored=False, budget=1.0)
    raise_system_alarm(monitor)
    monitor.acknowledge()
    assert (monitor.epoch, monitor.verdict.kind) == (2, "none")


def test_nothing_can_be_acknowledged_while_nothing_happened() -> None:
    monitor = make_monitor()
    with refused(EpochError, "'none'", "nothing final to acknowledge", monitor=monitor):
        monitor.acknowledge()


def test_nothing_can_be_acknowledged_while_the_guard_is_open() -> None:
    monitor = make_monitor(budget=1.0)
    raise_system_alarm(monitor)
    with refused(EpochError, "'system' and pending", "nothing final", monitor=monitor):
        monitor.acknowledge()


def test_a_judge_verdict_cannot_be_acknowledged_away() -> None:
    monitor = with_judge_verdict()
    with refused(EpochError, "verdict is judge", "reanchor()", monitor=monitor):
        monitor.acknowledge()


def test_an_acknowledgement_is_not_twice_the_same() -> None:
    monitor = with_system_verdict()
    monitor.acknowledge()
    with refused(EpochError, "nothing final", monitor=monitor):
        monitor.acknowledge()


def test_an_acknowledgement_with_bars_that_do_not_fit_is_refused_as_a_whole() -> None:
    monitor = with_system_verdict()
    other = make_config(strata=("one",))
    with refused(CalibrationError, "1 strata", monitor=monitor):
        monitor.acknowledge(bars_at(0.7, other))
    used = make_calibration(monitor.config, ids=["a1", *(f"c{n}" for n in range(599))])
    with refused(AnchorError, "'a1'", monitor=monitor):
        monitor.acknowledge(used)


def test_an_anchor_alarm_after_the_guard_speaks_up_once_the_system_verdict_is_acknowledged() -> None:
    monitor = with_system_verdict(preset="paper", guard=0)
    raise_judge_alarm(monitor)
    assert monitor.verdict.kind == "system"
    monitor.acknowledge()
    assert (monitor.verdict.kind, monitor.verdict.status, monitor.epoch) == ("judge", "final", 2)


@pytest.mark.parametrize("acquisition", ["uniform", "boundary", "escalation", "growth"])
@pytest.mark.parametrize("level", [0.3, 0.94])
def test_items_that_wait_through_an_acknowledgement_belong_to_the_epoch_that_ended(
    acquisition: str, level: float
) -> None:
    """Their pi was fixed under the old bars, and somebody may have seen their labels before choosing the moment."""
    config = make_config(acquisition=acquisition, budget=0.1)
    monitor = Monitor(config, calibration=bars_at(0.5, config))
    raise_system_alarm(monitor)
    for n in range(200):
        monitor.observe(f"wait{n}", stratum="coding", cheap=(0.95, 0.95))
    assert monitor.pending_items
    waiting = monitor.pending_items
    monitor.acknowledge(bars_at(level, config))
    fresh = monitor.snapshot()["main"]
    for item_id in waiting:
        monitor.record_strong(item_id, (1.0, 1.0))
    assert monitor.pending_items == ()
    assert monitor.snapshot()["main"] == fresh


def test_re_anchoring_starts_both_families_anew() -> None:
    monitor = with_judge_verdict()
    monitor.reanchor(**new_judge(monitor))
    fresh = Monitor(monitor.config, **new_judge(monitor))
    assert monitor.snapshot()["main"] == fresh.snapshot()["main"]
    assert monitor.snapshot()["anchor"] == fresh.snapshot()["anchor"]
    assert (monitor.epoch, monitor.verdict.kind, monitor.verdict.status) == (2, "none", "watching")
    assert (monitor.verdict.judge_alarm_at, monitor.verdict.rubrics) == (None, ())


def test_re_anchoring_withdraws_what_was_asked_of_the_old_judge() -> None:
    monitor = make_monitor(budget=1.0, anchor_every=1)
    for n in range(4):
        monitor.observe(f"x{n}", stratum="coding", cheap=GOOD)
    old = monitor.pending_anchors
    monitor.reanchor(**new_judge(monitor))
    assert monitor.pending_anchors == ()
    before = monitor.snapshot()
    for anchor in old:
        monitor.record_anchor(anchor, GOOD)
    unlike = {"stale": None, "checksum": None}
    assert {**monitor.snapshot(), **unlike} == {**before, **unlike}
    assert monitor.observe("next", stratum="coding", cheap=GOOD).anchors[0].startswith("b")


def test_late_answers_of_the_old_judge_are_no_evidence_against_the_new_one_on_anchors_that_stay() -> None:
    monitor = make_monitor(budget=1.0, anchor_every=1)
    for n in range(30):
        monitor.observe(f"x{n}", stratum="coding", cheap=GOOD)
    old = monitor.pending_anchors
    assert monitor.anchors is not None
    monitor.reanchor(monitor.anchors, monitor.calibration)
    for n in range(40):
        monitor.observe(f"y{n}", stratum="coding", cheap=GOOD)
    for anchor in old:
        monitor.record_anchor(anchor, BAD)
    assert monitor._clock[ck.ANCHOR_CALLS] == 0
    rescore_all(restored(monitor))
    rescore_all(monitor)
    assert monitor.verdict.kind == "none"


def test_strong_scores_of_the_old_judge_may_come_but_carry_no_evidence() -> None:
    monitor = make_monitor(budget=1.0)
    for n in range(6):
        monitor.observe(f"old{n}", stratum="coding", cheap=GOOD)
    monitor.reanchor(**new_judge(monitor))
    fresh = monitor.snapshot()["main"]
    for n in range(6):
        monitor.record_strong(f"old{n}", BAD)
    assert monitor.snapshot()["main"] == fresh
    monitor.observe("new", stratum="coding", cheap=GOOD)
    monitor.record_strong("new", BAD)
    assert monitor._main.strata[:, SEEN].sum() == 1


def test_void_items_are_still_void_after_a_restore() -> None:
    monitor = make_monitor(budget=1.0)
    monitor.observe("old", stratum="coding", cheap=GOOD)
    monitor.reanchor(**new_judge(monitor))
    again = restored(monitor)
    again.record_strong("old", BAD)
    assert again._main.strata[:, SEEN].sum() == 0


def test_re_anchoring_gives_an_unattributed_alarm_its_anchors() -> None:
    monitor = make_monitor(anchored=False, budget=1.0, anchor_every=1)
    raise_system_alarm(monitor)
    monitor.reanchor(**new_judge(monitor))
    assert monitor.observe("next", stratum="coding", cheap=GOOD).anchors
    answer_all(monitor)
    raise_system_alarm(monitor, prefix="again")
    rescore_all(monitor)
    assert monitor.verdict.kind == "system"


BAD_JUDGES: dict[str, tuple[Any, type[Exception], str]] = {
    "anchors with other rubrics": (
        lambda judge: {**judge, "anchors": make_anchors(rubrics=3)},
        AnchorError,
        "3 rubrics",
    ),
    "too few anchors": (lambda judge: {**judge, "anchors": make_anchors(count=2, passes=2)}, AnchorError, "2 anchors"),
    "bars of another shape": (
        lambda judge: {**judge, "calibration": bars_at(0.7, make_config(strata=("one",)))},
        CalibrationError,
        "1 strata",
    ),
    "an anchor that was calibrated on": (
        lambda judge: {
            **judge,
            "calibration": make_calibration(make_config(), ids=["b1", *(f"c{n}" for n in range(599))]),
        },
        AnchorError,
        "'b1'",
    ),
}


@pytest.mark.parametrize("case", BAD_JUDGES)
def test_a_re_anchoring_that_does_not_fit_is_refused_as_a_whole(case: str) -> None:
    spoil, error, words = BAD_JUDGES[case]
    monitor = make_monitor(budget=1.0, anchor_every=1)
    for n in range(3):
        monitor.observe(f"x{n}", stratum="coding", cheap=BAD)
    monitor.record_strong("x0", BAD)
    before, bars = monitor.snapshot(), monitor.calibration
    with pytest.raises(error, match=words):
        monitor.reanchor(**spoil(new_judge(monitor)))
    assert monitor.snapshot() == before
    assert monitor.calibration is bars
    answer_all(monitor, BAD)
    rescore_all(monitor)


def test_a_re_score_of_an_anchor_of_the_old_set_is_refused() -> None:
    monitor = with_judge_verdict()
    old = make_anchors().ids
    monitor.reanchor(**new_judge(monitor))
    idle = next(anchor for anchor in old if anchor not in monitor._withdrawn)
    with refused(UnaskedError, "nobody asked", repr(idle), monitor=monitor):
        monitor.record_anchor(idle, GOOD)


def test_the_story_runs_through_all_epochs() -> None:
    monitor = with_system_verdict()
    monitor.acknowledge()
    raise_judge_alarm(monitor)
    judge = new_judge(monitor)
    monitor.reanchor(**judge)
    story = monitor.evidence().story
    assert [m.kind for m in story] == ["system_alarm", "guard_closed", "acknowledged", "judge_alarm", "reanchored"]
    assert judge["anchors"].freeze_hash[:12] in story[-1].text
    assert story[-1].position == monitor.position
    assert monitor.epoch == 3


def test_a_new_epoch_survives_a_restore() -> None:
    monitor = with_system_verdict()
    monitor.acknowledge(bars_at(0.4, monitor.config))
    again = restored(monitor)
    assert again.snapshot() == monitor.snapshot()
    assert (again.epoch, again.verdict) == (2, monitor.verdict)
    assert np.array_equal(again.calibration.bars, monitor.calibration.bars)


def test_a_burst_in_flight_does_not_reach_the_next_judges_evidence_through_another_anchor_set() -> None:
    monitor = make_monitor(budget=1.0, burst=12)
    raise_system_alarm(monitor)
    burst = monitor.pending_anchors
    monitor.reanchor(**new_judge(monitor))
    fresh = monitor.snapshot()["anchor"]
    for anchor in burst:
        monitor.record_anchor(anchor, Failure("refusal"))
    assert monitor.snapshot()["anchor"] == fresh


def test_an_answer_that_names_its_request_is_told_from_the_old_judges_late_ones() -> None:
    monitor = make_monitor(budget=1.0, anchor_every=1)
    ask = monitor.observe("x", stratum="coding", cheap=GOOD)
    anchor, old = ask.anchors[0], ask.draws[0]
    assert monitor.anchors is not None
    monitor.reanchor(monitor.anchors, monitor.calibration)
    for _ in range(500):
        item = f"y{monitor.position}"
        monitor.observe(item, stratum="coding", cheap=GOOD)
        monitor.record_strong(item, GOOD)
        for number, other in monitor.pending_draws:
            if other != anchor:
                monitor.record_anchor(other, GOOD, number)
        if anchor in monitor.pending_anchors:
            break
    fresh = {name: number for number, name in monitor.pending_draws}[anchor]
    calls = monitor.cost.anchor_calls
    monitor.record_anchor(anchor, GOOD, fresh)
    assert monitor.cost.anchor_calls == calls + 1  # taken in, although an answer of the old judge is still to come
    monitor.record_anchor(anchor, GOOD, old)
    assert monitor.cost.anchor_calls == calls + 1
