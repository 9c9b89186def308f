"""The guard after a main alarm: who may still claim it, and what it takes to close it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from driftjudge import Ask, Failure, Monitor
from driftjudge.monitor import clock as ck
from driftjudge.monitor.errors import BufferFullError, ConfigError, UnaskedError
from tests.monitor.builders import (
    BAD,
    GOOD,
    answer_all,
    make_anchors,
    make_monitor,
    raise_judge_alarm,
    raise_system_alarm,
    refused,
    rescore,
    rescore_all,
)


def calm_item(monitor: Monitor, name: str) -> tuple[str, ...]:
    """A healthy item with its strong score; what is asked of the anchors is left to the caller."""
    ask = monitor.observe(name, stratum="creative", cheap=GOOD)
    answer_all(monitor)
    return ask.anchors


def alarmed(**settings: Any) -> tuple[Monitor, int]:
    monitor = make_monitor(**{"budget": 1.0, **settings})
    return monitor, raise_system_alarm(monitor)


def alarmed_by_an_unasked_item(**settings: Any) -> tuple[Monitor, Ask]:
    """A main alarm that rises within `observe`, and the answer to that item."""
    monitor = make_monitor(**{"budget": 0.05, "proxies": (1.0,), **settings})
    for n in range(400):
        ask = monitor.observe(f"bad{n}", stratum="coding", cheap=BAD)
        if monitor._clock[ck.SYSTEM_AT]:
            return monitor, ask
        answer_all(monitor, BAD)
        assert not monitor._clock[ck.SYSTEM_AT]
        rescore_all(monitor)
    raise AssertionError("the main family never alarmed")


def in_paper_mode(**settings: Any) -> tuple[Monitor, int]:
    return alarmed(**{"preset": "paper", "anchor_every": 5, "guard": 20, **settings})


def test_a_main_alarm_is_pending_until_the_guard_closes_at_its_last_position() -> None:
    monitor, at = in_paper_mode()
    while monitor.position < at + 20:
        assert (monitor.verdict.kind, monitor.verdict.status) == ("system", "pending")
        calm_item(monitor, f"calm{monitor.position}")
        rescore_all(monitor)
    assert (monitor.verdict.kind, monitor.verdict.status) == ("system", "final")
    assert [(m.position, m.kind) for m in monitor.evidence().story] == [(at, "system_alarm"), (at + 20, "guard_closed")]


def drift_after_alarm(guard: int) -> Monitor:
    """The judge turns harsher right after the main alarm; both families speak."""
    monitor, _ = in_paper_mode(anchor_every=1, guard=guard)
    raise_judge_alarm(monitor)
    return monitor


def test_an_anchor_alarm_at_the_last_position_of_the_guard_claims_it_and_one_later_does_not() -> None:
    verdict = drift_after_alarm(guard=10_000).verdict
    assert verdict.system_alarm_at is not None
    assert verdict.judge_alarm_at is not None
    apart = verdict.judge_alarm_at - verdict.system_alarm_at
    assert apart > 2
    assert drift_after_alarm(guard=apart).verdict.kind == "judge"
    assert drift_after_alarm(guard=apart - 1).verdict.kind == "system"


def test_an_anchor_alarm_after_the_guard_leaves_the_verdict_with_the_system() -> None:
    monitor = drift_after_alarm(guard=3)
    assert (monitor.verdict.kind, monitor.verdict.status) == ("system", "final")
    assert [m.kind for m in monitor.evidence().story] == ["system_alarm", "guard_closed", "judge_alarm"]


def test_an_anchor_alarm_before_the_main_alarm_makes_it_the_judges() -> None:
    monitor = make_monitor(preset="paper", anchor_every=1, budget=1.0)
    raise_judge_alarm(monitor)
    raise_system_alarm(monitor)
    assert (monitor.verdict.kind, monitor.verdict.status) == ("judge", "final")


def test_the_papers_guard_does_not_close_while_a_re_score_of_it_is_outstanding() -> None:
    monitor, _ = in_paper_mode()
    first = ""
    for n in range(60):
        asked = calm_item(monitor, f"calm{n}")
        first = first or next(iter(asked), "")
        for anchor in asked:
            if anchor != first:
                rescore(monitor, anchor)
        assert monitor.verdict.status == "pending"
    while first in monitor.pending_anchors:
        rescore(monitor, first)
    assert (monitor.verdict.kind, monitor.verdict.status) == ("system", "final")


def test_the_papers_guard_does_not_close_while_the_judge_is_down() -> None:
    monitor, at = in_paper_mode()
    for n in range(60):
        for anchor in calm_item(monitor, f"calm{n}"):
            monitor.record_anchor(anchor, Failure("transport"))
        assert (monitor.verdict.kind, monitor.verdict.status) == ("system", "pending")
    for anchor in calm_item(monitor, "back"):
        rescore(monitor, anchor)
    assert monitor.position > at + 20
    assert (monitor.verdict.kind, monitor.verdict.status) == ("system", "final")


def test_every_draw_of_an_anchor_that_was_drawn_twice_is_asked_for_again_after_it_failed() -> None:
    monitor, _ = alarmed(burst=60, anchor_every=0)
    burst = monitor.pending_anchors
    assert len(set(burst)) < len(burst)
    for anchor in burst:
        monitor.record_anchor(anchor, Failure("transport"))
    assert monitor.pending_anchors == ()
    assert calm_item(monitor, "next") == burst


def test_what_comes_back_after_the_judge_was_down_can_still_claim_the_alarm() -> None:
    monitor, at = in_paper_mode(anchor_every=1)
    for n in range(60):
        for anchor in calm_item(monitor, f"calm{n}"):
            monitor.record_anchor(anchor, Failure("transport"))
    for anchor in calm_item(monitor, "back"):
        rescore(monitor, anchor, -0.25)
    assert monitor.verdict.judge_alarm_at is not None
    assert monitor.verdict.judge_alarm_at <= at + 20
    assert (monitor.verdict.kind, monitor.verdict.status) == ("judge", "final")


def test_the_guard_does_not_close_on_silence_when_the_line_of_re_scores_was_full() -> None:
    """What could not even be asked for within the guard is silence too."""
    monitor = make_monitor(preset="paper", anchor_every=5, guard=20, max_pending=1, budget=1.0)
    while not monitor.pending_anchors:
        calm_item(monitor, f"calm{monitor.position}")
    only = monitor.pending_anchors[0]
    while monitor.verdict.system_alarm_at is None:
        name = f"bad{monitor.position}"
        monitor.observe(name, stratum="coding", cheap=BAD)
        monitor.record_strong(name, BAD)
    for n in range(40):
        with suppress(BufferFullError):  # refusing to go on would be honest, too
            calm_item(monitor, f"after{n}")
    rescore(monitor, only)
    assert monitor._clock[ck.ANCHOR_CALLS] == 1
    assert (monitor.verdict.kind, monitor.verdict.status) == ("system", "pending")


def test_draws_that_found_no_room_do_not_take_an_alarm_within_the_guard_from_the_judge() -> None:
    """tau_anc <= tau_sys + W also when the main alarm came in late and some scheduled draws were never issued."""
    monitor = make_monitor(preset="paper", anchor_every=1, guard=5, max_pending=40, budget=1.0)
    for n in range(40):
        calm_item(monitor, f"calm{n}")
    monitor.observe("slow", stratum="creative", cheap=GOOD)
    for n in range(39):
        monitor.observe(f"bad{n}", stratum="coding", cheap=BAD)
        monitor.record_strong(f"bad{n}", BAD)
    monitor.record_strong("slow", GOOD)
    rescore_all(monitor, -0.25)
    verdict = monitor.verdict
    assert verdict.system_alarm_at is not None
    assert verdict.judge_alarm_at is not None
    assert verdict.judge_alarm_at <= verdict.system_alarm_at + 5
    assert verdict.kind == "judge"


def test_anchors_that_would_never_be_re_scored_are_refused() -> None:
    """Without a schedule and without a burst the guard could only close on silence."""
    with refused(ConfigError, "anchor_every", "burst"):
        make_monitor(preset="paper", anchor_every=0, burst=0)


def test_a_guard_of_no_positions_still_waits_for_the_re_score_of_the_alarms_own_position() -> None:
    monitor, ask = alarmed_by_an_unasked_item(preset="paper", anchor_every=1, guard=0)
    assert len(ask.anchors) == 1
    assert (monitor.verdict.kind, monitor.verdict.status) == ("system", "pending")
    rescore_all(monitor)
    assert (monitor.verdict.kind, monitor.verdict.status) == ("system", "final")


def test_a_burst_that_a_strong_score_set_off_is_among_the_pending_anchors() -> None:
    monitor, _ = alarmed(burst=12)
    assert len(monitor.pending_anchors) == 12
    assert (monitor.verdict.kind, monitor.verdict.status) == ("system", "pending")


def test_a_burst_that_an_unasked_item_set_off_is_in_the_answer_to_it() -> None:
    monitor, ask = alarmed_by_an_unasked_item(burst=12, anchor_every=0)
    assert len(ask.anchors) == 12
    assert ask.anchors == monitor.pending_anchors
    assert (monitor.verdict.kind, monitor.verdict.status) == ("system", "pending")


def test_the_guard_of_a_burst_closes_with_its_last_re_score_and_not_before() -> None:
    monitor, at = alarmed(burst=12)
    for left in range(12, 0, -1):
        assert len(monitor.pending_anchors) == left
        assert (monitor.verdict.kind, monitor.verdict.status) == ("system", "pending")
        rescore(monitor, monitor.pending_anchors[-1])
    assert (monitor.verdict.kind, monitor.verdict.status) == ("system", "final")
    assert [(m.position, m.kind) for m in monitor.evidence().story] == [(at, "system_alarm"), (at, "guard_closed")]


def test_the_guard_of_a_burst_does_not_close_with_the_passing_of_items() -> None:
    monitor, _ = alarmed(burst=12, guard=3)
    for n in range(200):
        calm_item(monitor, f"calm{n}")
    assert (monitor.verdict.kind, monitor.verdict.status) == ("system", "pending")
    rescore_all(monitor)
    assert (monitor.verdict.kind, monitor.verdict.status) == ("system", "final")


def test_the_guard_of_a_burst_does_not_close_while_the_judge_is_down() -> None:
    monitor, _ = alarmed(burst=12, anchor_every=0)
    burst = monitor.pending_anchors
    for anchor in burst:
        monitor.record_anchor(anchor, Failure("transport"))
    for n in range(5):
        assert monitor.pending_anchors == ()
        assert calm_item(monitor, f"calm{n}") == burst == monitor.pending_anchors
        assert monitor.verdict.status == "pending"
        for anchor in burst:
            monitor.record_anchor(anchor, Failure("transport"))
    calm_item(monitor, "back")
    rescore_all(monitor)
    assert (monitor.verdict.kind, monitor.verdict.status) == ("system", "final")


def test_a_burst_stops_early_when_the_anchors_fire() -> None:
    monitor, at = alarmed(burst=60, measure=0)
    calls = 0
    while monitor.pending_anchors:
        rescore(monitor, monitor.pending_anchors[0], -0.25)
        calls += 1
    assert 0 < calls < 30
    assert monitor.evidence().cost.anchor_calls == calls
    assert (monitor.verdict.kind, monitor.verdict.status) == ("judge", "final")
    assert monitor.verdict.judge_alarm_at == at


def test_what_a_burst_no_longer_needs_is_withdrawn_and_ignored_when_it_comes() -> None:
    monitor, _ = alarmed(burst=60, measure=0)
    burst = monitor.pending_anchors
    calls = 0
    while monitor.pending_anchors:
        rescore(monitor, burst[calls], -0.25)
        calls += 1
    before = monitor.snapshot()
    for anchor in burst[calls:]:
        rescore(monitor, anchor, -0.25)
    after = monitor.snapshot()
    assert after.pop("clock")[ck.ANCHOR_CALLS] == len(burst)  # no evidence any more, but they were paid for
    del before["clock"], before["checksum"], after["checksum"]
    assert after == before


def test_a_stranger_is_refused_also_after_a_burst_was_withdrawn() -> None:
    monitor, _ = alarmed(burst=3)
    while monitor.pending_anchors:
        rescore(monitor, monitor.pending_anchors[0], -0.25)
    idle = next(anchor for anchor in make_anchors().ids if anchor not in monitor._withdrawn)
    with refused(UnaskedError, "nobody asked", monitor=monitor):
        rescore(monitor, idle)


def test_no_burst_is_drawn_when_the_anchors_spoke_before() -> None:
    monitor = make_monitor(anchor_every=1, burst=12, budget=1.0)
    raise_judge_alarm(monitor)
    for n in range(300):
        monitor.observe(f"bad{n}", stratum="coding", cheap=BAD)
        answer_all(monitor, BAD)
        assert len(monitor.pending_anchors) <= 1
        rescore_all(monitor, -0.25)
    assert monitor.verdict.system_alarm_at is not None
    assert (monitor.verdict.kind, monitor.verdict.status) == ("judge", "final")


def test_only_the_first_main_alarm_draws_a_burst() -> None:
    monitor, _ = alarmed(burst=12, anchor_every=0)
    rescore_all(monitor)
    for n in range(50):
        monitor.observe(f"worse{n}", stratum="coding", cheap=BAD)
        answer_all(monitor, BAD)
    assert monitor.pending_anchors == ()


@pytest.mark.parametrize("preset", ["paper", "robust"])
def test_without_anchors_an_alarm_is_unattributed_for_good(preset: str) -> None:
    monitor = make_monitor(preset=preset, anchored=False, budget=1.0)
    raise_system_alarm(monitor)
    for n in range(400):
        assert (monitor.verdict.kind, monitor.verdict.status) == ("unattributed", "final")
        assert calm_item(monitor, f"calm{n}") == ()
    assert monitor.pending_anchors == ()
    assert [m.kind for m in monitor.evidence().story] == ["system_alarm"]
    assert "without anchors" in monitor.verdict.explain()
