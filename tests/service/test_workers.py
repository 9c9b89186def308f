"""The judges at work, in threads as in production; tests wait for what must come, never for time to pass."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from driftjudge.judges.protocol import Item
from driftjudge.monitor.scores import Failure
from driftjudge.service.clock import ManualClock
from driftjudge.service.errors import BackPressureError, BadRequestError, ConflictError
from driftjudge.service.runtime import Service
from driftjudge.service.values import Judging, MonitorSettings
from driftjudge.service.workers import configured_judges
from tests.service.worlds import (
    BAD,
    DAY,
    GOOD,
    NAME,
    QUIET,
    Judges,
    anchors,
    calibration,
    config,
    item,
    judged_by_us,
    service_in,
    start,
    text,
)


def eventually(true: Callable[[], bool]) -> None:
    """Wait for what the workers' threads must bring about."""
    deadline = time.monotonic() + 60.0
    while not true():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.002)


def idle(service: Service) -> bool:
    detail = service.monitor(NAME)
    return not (detail.waiting_cheap or detail.waiting_strong or detail.waiting_anchors)


def test_texts_are_judged_cheaply_first_then_strongly_and_anchors_when_due(tmp_path: Path) -> None:
    judges = Judges()
    with service_in(tmp_path, judges=judges) as service:
        start(service, judged_by_us())
        out = service.ingest(NAME, [text(i) for i in range(20)])
        assert [(one.number, one.position, one.asked_strong) for one in out] == [(i + 1, None, None) for i in range(20)]
        eventually(lambda: idle(service))
        assert Counter(kind for kind, _ in judges.calls) == {"cheap": 20, "strong": 20 + 4}
        observed = [row.body["item_id"] for row in service.events(NAME) if row.body["event"] == "Observed"]
        assert observed == [f"i{i}" for i in range(20)]
        assert {row.fingerprint for row in service.events(NAME)} == {"cheap-1", "strong-1"}
        again = service.ingest(NAME, [text(i) for i in range(20)])
        assert [(one.position, one.duplicate) for one in again] == [(i + 1, True) for i in range(20)]
        assert len(judges.calls) == 44


def test_items_are_observed_in_order_of_acceptance_however_late_their_scores_come(tmp_path: Path) -> None:
    first_may_answer = threading.Event()

    def answer(asked: Item) -> tuple[float, ...] | Failure:
        if asked.id == "i0" and not first_may_answer.is_set():
            return Failure("transport", "slow")
        return GOOD

    with service_in(tmp_path, judges=Judges(answer), options=replace(QUIET, unavailable_after=10**6)) as service:
        start(service, judged_by_us())
        service.ingest(NAME, [text(i) for i in range(10)])
        # The answers on the others are on disk before the first one is: a restart must not pay for them again.
        eventually(lambda: _kept(service) == 9)
        assert service.monitor(NAME).info.position == 0
        first_may_answer.set()
        eventually(lambda: idle(service))
        observed = [row.body["item_id"] for row in service.events(NAME) if row.body["event"] == "Observed"]
        assert observed == [f"i{i}" for i in range(10)]


def _kept(service: Service) -> int:
    from driftjudge.store import items

    with service.store.read() as tx:
        return sum(one.cheap is not None for one in items.waiting(tx, 1, limit=100))


def test_answers_that_wait_for_an_older_item_survive_a_restart_and_are_not_paid_for_again(tmp_path: Path) -> None:
    def stuck(asked: Item) -> tuple[float, ...] | Failure:
        return Failure("transport") if asked.id == "i0" else GOOD

    with service_in(tmp_path, judges=Judges(stuck)) as service:
        start(service, judged_by_us())
        service.ingest(NAME, [text(i) for i in range(6)])
        eventually(lambda: _kept(service) == 5)
    judges = Judges()
    with service_in(tmp_path, judges=judges) as service:
        eventually(lambda: idle(service))
        assert [call for call in judges.calls if call[0] == "cheap"] == [("cheap", "i0")]
        assert service.monitor(NAME).info.position == 6


def test_a_dead_judge_opens_a_condition_closes_no_guard_and_is_asked_until_it_is_back(tmp_path: Path) -> None:
    dead = threading.Event()

    def answer(asked: Item) -> tuple[float, ...] | Failure:
        if dead.is_set():
            return Failure("transport", "connection refused")
        return BAD if asked.id.startswith("i") else GOOD

    with service_in(tmp_path, judges=Judges(answer)) as service:
        start(service, judged_by_us(), anchor_every=0)
        for i in range(200):
            service.ingest(NAME, [text(i)])
            eventually(lambda: service.monitor(NAME).waiting_strong == 0 and service.monitor(NAME).waiting_cheap == 0)
            dead.set() if i == 3 else None
            if service.conditions():
                break
            if i == 3:
                service.ingest(NAME, [text(1_000)])
                eventually(lambda: len(service.conditions()) == 1)
                break
        (condition,) = service.conditions()
        assert (condition.kind, "connection refused" in condition.detail) == ("judge_unavailable", True)
        before = service.snapshot(NAME)
        calls = len(service.events(NAME))
        eventually(lambda: service.health().in_flight in (0, 1))
        assert service.snapshot(NAME) == before
        assert len(service.events(NAME)) == calls
        dead.clear()
        eventually(lambda: service.conditions() == () and service.monitor(NAME).waiting_cheap == 0)
        states = [change.payload["state"] for change in service.changes(after=0) if change.kind == "condition"]
        assert states == ["opened", "closed"]


def test_a_guard_stays_open_while_the_judge_is_away(tmp_path: Path) -> None:
    anchors_answer = threading.Event()

    def answer(asked: Item) -> tuple[float, ...] | Failure:
        if asked.id.startswith("a") and not anchors_answer.is_set():
            return Failure("transport", "timeout")
        return GOOD if asked.id.startswith("a") else BAD

    settings = MonitorSettings(judging=Judging(strong={"model": "s"}))
    with service_in(tmp_path, judges=Judges(answer)) as service:
        start(service, settings, anchor_every=0)
        for i in range(100):
            service.ingest(NAME, [replace(text(i, BAD), strong=BAD)])
            if service.verdict(NAME).kind == "system":
                break
        eventually(lambda: bool(service.conditions()))
        service.ingest(NAME, [replace(text(i, BAD), strong=BAD) for i in range(1_000, 1_400)])
        assert (service.verdict(NAME).kind, service.verdict(NAME).status) == ("system", "pending")
        anchors_answer.set()
        eventually(lambda: service.verdict(NAME).status == "final")
        eventually(lambda: service.conditions() == ())


def test_a_judge_that_raises_is_one_that_is_not_available(tmp_path: Path) -> None:
    broken = threading.Event()
    broken.set()

    def answer(_: Item) -> tuple[float, ...] | Failure:
        if broken.is_set():
            raise OSError("no route")
        return GOOD

    with service_in(tmp_path, judges=Judges(answer)) as service:
        start(service, judged_by_us())
        service.ingest(NAME, [text(0)])
        eventually(lambda: bool(service.conditions()))
        broken.clear()
        eventually(lambda: idle(service) and not service.conditions())


def test_failures_of_the_judge_itself_are_recorded_at_once(tmp_path: Path) -> None:
    judges = Judges(lambda asked: Failure("refusal", "I would rather not") if asked.id == "i1" else GOOD)
    with service_in(tmp_path, judges=judges) as service:
        start(service, judged_by_us())
        service.ingest(NAME, [text(i) for i in range(3)])
        eventually(lambda: idle(service))
        cost = service.evidence(NAME).cost
        assert (cost.cheap_unscored, cost.strong_unscored) == (1, 1)
        assert len(judges.calls) == 6


def test_a_judge_that_does_not_keep_to_its_rubrics_counts_as_unscored(tmp_path: Path) -> None:
    with service_in(tmp_path, judges=Judges(lambda _: (0.5, 0.5, 7.0))) as service:
        start(service, judged_by_us())
        service.ingest(NAME, [text(0)])
        eventually(lambda: idle(service))
        assert service.evidence(NAME).cost.strong_unscored == 1


def test_a_ceiling_stops_the_calls_until_the_next_day(tmp_path: Path) -> None:
    judges, clock = Judges(), ManualClock()
    judges.dollars = 1.0
    with service_in(tmp_path, judges=judges, clock=clock) as service:
        start(service, judged_by_us(daily_dollars=5.0))
        service.ingest(NAME, [text(i) for i in range(10)])
        eventually(lambda: bool(service.conditions()))
        assert service.conditions()[0].kind == "budget_exhausted"
        assert service.costs(NAME).dollars_today == 5.0
        assert len(judges.calls) == 5
        clock.advance(DAY)
        eventually(lambda: len(judges.calls) == 10)
        eventually(lambda: service.costs(NAME).dollars_total == 10.0)


def test_the_judges_score_anchors_and_calibration_and_the_monitor_starts_by_itself(tmp_path: Path) -> None:
    judges = Judges()
    with service_in(tmp_path, judges=judges) as service:
        service.create_monitor(NAME, config(), judged_by_us(passes=3))
        service.set_anchors(NAME, anchors(texts=True))
        service.freeze_anchors(NAME)
        assert service.calibrate(NAME, calibration(200, None)).state == "scoring"
        with pytest.raises(ConflictError, match="scoring"):
            service.ingest(NAME, [text(0)])
        eventually(lambda: service.monitor(NAME).info.state == "running")
        assert len(judges.calls) == 3 * 8 + 200
        assert service.anchors_report(NAME).passes == 3
        roles = {line.role: line.answers for line in service.costs(NAME).lines}
        assert roles == {"baseline": 24, "calibration": 200}
        service.ingest(NAME, [text(0)])
        eventually(lambda: idle(service))


def test_set_up_goes_on_after_a_restart_and_pays_for_nothing_twice(tmp_path: Path) -> None:
    stop_at = 50
    judges = Judges()
    judges.answer = lambda _: GOOD if len(judges.calls) <= stop_at else Failure("transport")
    with service_in(tmp_path, judges=judges) as service:
        service.create_monitor(NAME, config(), judged_by_us(passes=2, concurrency=1))
        service.set_anchors(NAME, anchors(texts=True))
        service.freeze_anchors(NAME)
        service.calibrate(NAME, calibration(200, None))
        eventually(lambda: service.monitor(NAME).setup_done == stop_at)
    later = Judges()
    with service_in(tmp_path, judges=later) as service:
        eventually(lambda: service.monitor(NAME).info.state == "running")
    assert len(later.calls) == 2 * 8 + 200 - stop_at


def test_a_set_up_that_cannot_lead_to_a_monitor_says_why(tmp_path: Path) -> None:
    with service_in(tmp_path, judges=Judges(lambda _: (0.0, 0.0))) as service:
        service.create_monitor(NAME, config(), judged_by_us())
        service.calibrate(NAME, calibration(100, None))
        eventually(lambda: service.monitor(NAME).setup_error is not None)
        detail = service.monitor(NAME)
        assert (detail.info.state, "bar" in str(detail.setup_error)) == ("draft", True)


def test_re_anchoring_with_the_configured_judge_scores_the_same_anchors_anew(tmp_path: Path) -> None:
    judges = Judges()
    with service_in(tmp_path, judges=judges) as service:
        start(service, judged_by_us(passes=2))
        service.ingest(NAME, [text(i) for i in range(10)])
        eventually(lambda: idle(service))
        judges.answer = lambda _: (0.5, 0.5)
        service.reanchor(NAME, calibration(200, None))
        with pytest.raises(ConflictError, match="already"):
            service.reanchor(NAME, calibration(200, None))
        eventually(lambda: service.verdict(NAME).epoch == 2)
        assert service.evidence(NAME).cells[0].bar == 0.5
        assert service.anchors_report(NAME).lines[0].usual == (0.5, 0.5)
        service.ingest(NAME, [text(i) for i in range(10, 30)])
        eventually(lambda: idle(service))


def test_items_that_come_with_scores_and_texts_are_judged_strongly_only(tmp_path: Path) -> None:
    judges = Judges()
    with service_in(tmp_path, judges=judges) as service:
        start(service, MonitorSettings(judging=Judging(strong={"model": "s"})), anchored=False)
        service.ingest(NAME, [text(0, GOOD), item(1)])
        eventually(lambda: service.monitor(NAME).waiting_strong == 1)
        assert judges.calls == [("strong", "i0")]
        assert service.wanted_strong(NAME) == ("i1",)  # no text: only its sender can judge it


def test_texts_need_a_judge(tmp_path: Path) -> None:
    with service_in(tmp_path) as service:
        start(service)
        with pytest.raises(BadRequestError, match="no cheap judge"):
            service.ingest(NAME, [text(0)])
        with pytest.raises(BadRequestError, match="no passes and no strong judge"):
            service.set_anchors(NAME, anchors(texts=True))


def test_a_line_for_the_cheap_judge_has_an_end(tmp_path: Path) -> None:
    judges = Judges(lambda _: Failure("transport"))
    with service_in(tmp_path, judges=judges, options=replace(QUIET, max_waiting=5)) as service:
        start(service, judged_by_us())
        service.ingest(NAME, [text(i) for i in range(5)])
        with pytest.raises(BackPressureError, match="wait for the cheap judge"):
            service.ingest(NAME, [text(5)])


def test_calls_keep_to_their_rate(tmp_path: Path) -> None:
    judges = Judges()
    with service_in(tmp_path, judges=judges) as service:
        start(service, judged_by_us(calls_per_second=200.0), anchored=False)
        began = time.monotonic()
        service.ingest(NAME, [text(i) for i in range(20)])
        eventually(lambda: idle(service))
        assert time.monotonic() - began >= 19 / 200.0  # a floor: a slow machine only takes longer


def test_the_configured_judge_is_made_from_the_settings() -> None:
    strong = {"model": "m", "base_url": "http://127.0.0.1:9/v1"}
    judging = Judging(strong=strong, rubrics={"helpfulness": "Does it help?"}, scale=(1.0, 5.0))
    judge = configured_judges("strong", config(), judging)
    assert judge.rubrics == config().rubrics
    other = configured_judges("strong", config(), replace(judging, scale=(0.0, 4.0)))
    assert judge.fingerprint != other.fingerprint


def test_a_full_writers_queue_makes_the_judges_wait_and_forget_nothing(tmp_path: Path) -> None:
    judges = Judges()
    may_answer = threading.Event()
    full = threading.Event()
    refused: list[str] = []

    with service_in(tmp_path, judges=judges) as service:
        wanted = service._desk.wanted

        def busy(name: str, limit: int) -> object:
            if full.is_set() and not may_answer.is_set():
                refused.append(name)
                raise BackPressureError("the queue is full", 0.01)
            return wanted(name, limit)

        service._desk.wanted = busy  # type: ignore[method-assign, assignment]
        start(service, judged_by_us())
        full.set()
        service.ingest(NAME, [text(0)])
        eventually(lambda: len(refused) >= 2)
        may_answer.set()
        eventually(lambda: ("strong", "i0") in judges.calls and idle(service))
        assert Counter(judges.calls)["cheap", "i0"] == 1


def test_a_re_anchoring_that_is_refused_leaves_nothing_behind(tmp_path: Path) -> None:
    with service_in(tmp_path) as service:
        start(service, judged_by_us())
        with pytest.raises(BadRequestError):
            service.reanchor(NAME, [])
        service.set_anchors(NAME, anchors(texts=True))  # would be refused if a frozen draft were in the way


def test_items_that_wait_for_room_in_the_monitor_get_it_with_a_new_epoch(tmp_path: Path) -> None:
    judges = Judges()
    cheap_only = MonitorSettings(judging=Judging(cheap={"model": "c"}))
    judges.answer = lambda _: BAD
    with service_in(tmp_path, judges=judges) as service:
        start(service, cheap_only, anchored=False, max_pending=5)
        count = 0
        while service.verdict(NAME).kind == "none":
            service.ingest(NAME, [item(count, BAD, strong=BAD)])
            count += 1
        service.ingest(NAME, [text(i) for i in range(count, count + 8)])
        eventually(lambda: len(service.wanted_strong(NAME)) == 5)
        eventually(lambda: len([one for one in judges.calls if one[0] == "cheap"]) == 8)
        eventually(lambda: service.health().in_flight == 0)
        assert service.monitor(NAME).waiting_cheap == 3
        service.acknowledge(NAME)
        assert service.monitor(NAME).waiting_cheap == 0
        assert len(service.wanted_strong(NAME)) == 3
