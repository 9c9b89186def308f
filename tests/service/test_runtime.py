from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from driftjudge.monitor.errors import CalibrationError, MonitorError, ScoreError, UnaskedError, UnknownStratumError
from driftjudge.monitor.scores import Failure
from driftjudge.service.alerts.desk import AlertDesk
from driftjudge.service.alerts.settings import NO_ALERTS
from driftjudge.service.clock import ManualClock
from driftjudge.service.errors import (
    BackPressureError,
    BadRequestError,
    ClosedError,
    ConflictError,
    UnknownAlarmError,
    UnknownMonitorError,
)
from driftjudge.service.runtime import Service
from driftjudge.service.values import (
    AnchorIn,
    AnchorScoreIn,
    CalibrationIn,
    Idempotency,
    ItemIn,
    MonitorSettings,
    StrongIn,
)
from driftjudge.store import audit, open_store
from driftjudge.store.errors import UnavailableError as StoreUnavailableError
from tests.service.worlds import (
    BAD,
    DAY,
    GOOD,
    NAME,
    QUIET,
    STRATA,
    anchors,
    answer_anchors,
    calibration,
    config,
    drop,
    item,
    passes,
    service_in,
    start,
    text,
)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with service_in(tmp_path) as running:
        yield running


def _key(key: str, body: str = "body") -> Idempotency:
    return Idempotency("me", key, body)


# Setting up.


def test_a_monitor_goes_from_draft_to_running(service: Service) -> None:
    assert service.create_monitor(NAME, config()).state == "draft"
    assert service.set_anchors(NAME, anchors(), passes()).frozen is None
    frozen = service.freeze_anchors(NAME)
    assert frozen.frozen is not None
    assert service.freeze_anchors(NAME) == frozen
    running = service.calibrate(NAME, calibration())
    assert (running.state, running.anchored, running.anchors, running.frozen) == ("running", True, 8, frozen.frozen)
    assert service.verdict(NAME).kind == "none"
    assert service.monitors() == (running,)
    assert service.monitor(NAME).config == config()


def test_a_draft_takes_no_items_and_has_no_verdict(service: Service) -> None:
    service.create_monitor(NAME, config())
    for refused in (
        lambda: service.ingest(NAME, [item(0)]),
        lambda: service.verdict(NAME),
        lambda: service.evidence(NAME),
        lambda: service.reanchor(NAME, calibration()),
    ):
        with pytest.raises(ConflictError, match="draft"):
            refused()


def test_frozen_anchors_cannot_be_changed_and_unfrozen_ones_not_used(service: Service) -> None:
    service.create_monitor(NAME, config())
    service.set_anchors(NAME, anchors(), passes())
    with pytest.raises(ConflictError, match="not frozen"):
        service.calibrate(NAME, calibration())
    service.set_anchors(NAME, anchors(), passes())
    service.freeze_anchors(NAME)
    with pytest.raises(ConflictError, match="frozen"):
        service.set_anchors(NAME, anchors(), passes())


def test_what_the_statistics_refuse_leaves_a_draft_a_draft(service: Service) -> None:
    service.create_monitor(NAME, config())
    with pytest.raises(CalibrationError, match="no calibration scores"):
        service.calibrate(NAME, [CalibrationIn("c0", "coding", GOOD)])
    with pytest.raises(MonitorError, match="human labels"):
        service.set_anchors(NAME, [AnchorIn("a", (0.5,)), AnchorIn("b", (0.5,))], passes())
    assert service.monitor(NAME).info.state == "draft"


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "x" * 101, "ä"])
def test_a_name_that_is_no_address_is_refused(service: Service, name: str) -> None:
    with pytest.raises(BadRequestError, match="no name for a monitor"):
        service.create_monitor(name, config())


def test_a_name_is_given_once(service: Service) -> None:
    service.create_monitor(NAME, config())
    with pytest.raises(ConflictError, match="already"):
        service.create_monitor(NAME, config())


def test_an_unknown_monitor_is_unknown_everywhere(service: Service) -> None:
    for asked in (service.verdict, service.monitor, service.evidence, service.events, service.costs):
        with pytest.raises(UnknownMonitorError, match="'nobody'"):
            asked("nobody")
    with pytest.raises(UnknownMonitorError):
        service.ingest("nobody", [item(0)])


def test_an_archived_monitor_is_read_only(service: Service) -> None:
    start(service)
    service.ingest(NAME, [item(0, strong=GOOD)])
    assert service.archive_monitor(NAME, by="ann").state == "archived"
    with pytest.raises(ConflictError, match="archived"):
        service.ingest(NAME, [item(1)])
    assert service.verdict(NAME).kind == "none"
    assert service.evidence(NAME).cost.items == 1
    assert service.monitors() == ()
    assert [info.name for info in service.monitors(archived=True)] == [NAME]


def test_administrative_acts_are_on_record(service: Service) -> None:
    start(service)
    service.change_settings(NAME, MonitorSettings(description="new"), by="ann")
    assert service.monitor(NAME).settings.description == "new"
    with service.store.read() as tx:
        acts = [(act.actor, act.action) for act in audit.page(tx)]
    assert acts[0] == ("ann", "change_settings")
    assert {action for _, action in acts} >= {"create_monitor", "set_anchors", "freeze_anchors", "calibrate"}


@pytest.mark.parametrize(
    "settings",
    [
        MonitorSettings(no_data_after=0.0),
        MonitorSettings(keep_texts_days=-1.0),
        replace(MonitorSettings(), judging=replace(MonitorSettings().judging, concurrency=0)),
        replace(MonitorSettings(), judging=replace(MonitorSettings().judging, scale=(4.0, 0.0))),
        replace(MonitorSettings(), judging=replace(MonitorSettings().judging, daily_dollars=float("nan"))),
    ],
)
def test_settings_that_cannot_work_are_refused(service: Service, settings: MonitorSettings) -> None:
    with pytest.raises(BadRequestError):
        service.create_monitor(NAME, config(), settings)


# The stream.


def test_items_get_numbers_positions_and_what_is_asked(service: Service) -> None:
    start(service)
    out = service.ingest(NAME, [item(i) for i in range(5)])
    assert [(one.number, one.position, one.asked_strong) for one in out] == [(i, i, True) for i in range(1, 6)]
    assert [len(one.asked_anchors) for one in out] == [0, 0, 0, 0, 1]
    assert service.wanted_strong(NAME) == ("i0", "i1", "i2", "i3", "i4")
    assert service.wanted_anchors(NAME) == out[4].asked_anchors


def test_an_item_sent_again_gets_the_answer_it_got_however_late(service: Service) -> None:
    start(service, id_memory=3)
    first = service.ingest(NAME, [item(i, strong=GOOD) for i in range(20)])
    again = service.ingest(NAME, [item(i, strong=GOOD) for i in range(21)])
    assert [replace(one, duplicate=False) for one in again[:20]] == list(first)
    assert [one.duplicate for one in again] == [True] * 20 + [False]
    assert service.monitor(NAME).info.accepted == 21


@pytest.mark.parametrize(
    "other", [item(0, BAD), item(0, GOOD, strong=BAD), ItemIn("i0", STRATA[1], GOOD), item(0, Failure("refusal"))]
)
def test_another_body_under_the_same_id_is_a_conflict_and_nothing_of_it_is_taken(
    service: Service, other: ItemIn
) -> None:
    start(service)
    service.ingest(NAME, [item(0)])
    with pytest.raises(ConflictError, match="'i0' was accepted before"):
        service.ingest(NAME, [item(1), other])
    assert service.monitor(NAME).info.accepted == 1


def test_the_same_numbers_written_differently_are_the_same_body(service: Service) -> None:
    start(service)
    service.ingest(NAME, [item(0, (1.0, 0.0))])
    (again,) = service.ingest(NAME, [item(0, (1, 0))])
    assert again.duplicate


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (ItemIn("x", "cooking", GOOD), UnknownStratumError),
        (ItemIn("x", "coding", (0.5,)), ScoreError),
        (ItemIn("x", "coding", (0.5, 1.5)), ScoreError),
        (ItemIn("x", "coding", (0.5, float("nan"))), ScoreError),
        (ItemIn("x", "coding", GOOD, strong=(2.0, 0.0)), ScoreError),
        (ItemIn("x", "coding"), BadRequestError),
        (ItemIn("x", "coding", texts={"response": "hello"}), BadRequestError),
        (ItemIn("", "coding", GOOD), BadRequestError),
        (ItemIn("a\0b", "coding", GOOD), BadRequestError),
        (ItemIn("x" * 256, "coding", GOOD), BadRequestError),
        (ItemIn("i0", "coding", GOOD), BadRequestError),
        (ItemIn("x", "coding", GOOD, texts={}), BadRequestError),
        (ItemIn("x", "coding", GOOD, texts={"not a name": "t"}), BadRequestError),
        (ItemIn("x", "coding", GOOD, texts={"t": "x" * 200_001}), BadRequestError),
    ],
)
def test_one_bad_item_refuses_the_whole_request(service: Service, bad: ItemIn, error: type[Exception]) -> None:
    start(service)
    before = service.snapshot(NAME)
    with pytest.raises(error):
        service.ingest(NAME, [item(0), bad])
    assert service.snapshot(NAME) == before
    assert service.monitor(NAME).info.accepted == 0


def test_a_request_has_a_size(service: Service) -> None:
    start(service)
    with pytest.raises(BadRequestError, match="0 items"):
        service.ingest(NAME, [])
    with pytest.raises(BadRequestError, match="1001 items"):
        service.ingest(NAME, [item(i) for i in range(1_001)])


def test_strong_scores_count_once_and_others_are_a_conflict(service: Service) -> None:
    start(service)
    service.ingest(NAME, [item(0), item(1)])
    assert service.record_strong(NAME, [StrongIn("i0", GOOD, "gpt")]).taken == 1
    state = service.snapshot(NAME)
    recorded = service.record_strong(NAME, [StrongIn("i0", GOOD)])
    assert (recorded.taken, recorded.duplicates) == (0, 1)
    with pytest.raises(ConflictError, match="other strong scores"):
        service.record_strong(NAME, [StrongIn("i1", GOOD), StrongIn("i0", BAD)])
    assert service.snapshot(NAME) == state
    assert service.events(NAME)[2].fingerprint == "gpt"


def test_scores_nobody_asked_for_are_refused_whole(service: Service) -> None:
    start(service)
    service.ingest(NAME, [item(i) for i in range(5)])
    wanted = service.wanted_anchors(NAME)[0]
    refusals: list[Callable[[], object]] = [
        lambda: service.record_strong(NAME, [StrongIn("i0", GOOD), StrongIn("nobody", GOOD)]),
        lambda: service.record_strong(NAME, [StrongIn("nobody", GOOD)]),
        lambda: service.record_anchors(NAME, [AnchorScoreIn(wanted, GOOD)] * 2),
        lambda: service.record_anchors(NAME, [AnchorScoreIn("nobody", GOOD)]),
    ]
    for refused in refusals:
        before = service.snapshot(NAME)
        with pytest.raises(UnaskedError):
            refused()
        assert service.snapshot(NAME) == before


def test_an_answer_id_is_taken_once(service: Service) -> None:
    start(service)
    service.ingest(NAME, [item(i, strong=GOOD) for i in range(10)])
    first, second = service.wanted_anchors(NAME)
    assert service.record_anchors(NAME, [AnchorScoreIn(first, GOOD, "x")]).taken == 1
    assert service.record_anchors(NAME, [AnchorScoreIn(first, GOOD, "x")]).duplicates == 1
    with pytest.raises(ConflictError, match="another request"):
        service.record_anchors(NAME, [AnchorScoreIn(second, BAD, "x")])
    assert service.wanted_anchors(NAME) == (second,)


def test_the_same_key_gets_the_same_answer_and_another_body_is_a_conflict(service: Service) -> None:
    start(service)
    first = service.ingest(NAME, [item(0)], idempotency=_key("k"))
    assert service.ingest(NAME, [item(0)], idempotency=_key("k")) == first
    with pytest.raises(ConflictError, match="another request"):
        service.ingest(NAME, [item(1)], idempotency=_key("k", "other"))
    assert service.create_monitor("b", config(), idempotency=_key("c")).state == "draft"
    assert service.create_monitor("b", config(), idempotency=_key("c")).name == "b"
    with pytest.raises(BadRequestError, match="idempotency key"):
        service.ingest(NAME, [item(1)], idempotency=_key("x" * 256))


def test_what_was_refused_is_not_remembered_under_its_key(service: Service) -> None:
    start(service)
    with pytest.raises(ScoreError):
        service.ingest(NAME, [item(0, (9.0, 0.0))], idempotency=_key("k"))
    assert service.ingest(NAME, [item(0)], idempotency=_key("k"))[0].number == 1


def test_many_callers_at_once_lose_nothing_and_count_nothing_twice(service: Service) -> None:
    start(service)

    def send(worker: int) -> None:
        for i in range(30):
            service.ingest(NAME, [ItemIn(f"w{worker}-{i}", "coding", GOOD, strong=GOOD)])
            service.ingest(NAME, [ItemIn(f"shared-{i}", "coding", GOOD, strong=GOOD)])

    threads = [threading.Thread(target=send, args=(worker,)) for worker in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    info = service.monitor(NAME).info
    assert (info.accepted, info.position) == (210, 210)
    assert service.health().commits < 6 * 60  # they were committed in groups
    observed = [row.body["item_id"] for row in service.export_log(NAME) if row.body["event"] == "Observed"]
    assert len(observed) == len(set(observed)) == 210


def test_a_bad_command_in_a_group_fails_alone(service: Service) -> None:
    start(service)
    futures = [service.ingest_soon(NAME, [item(i)]) for i in range(5)]
    futures.append(service.ingest_soon(NAME, [item(2, BAD)]))
    futures.append(service.ingest_soon("nobody", [item(2, BAD)]))
    for future in futures[:5]:
        assert future.result()[0].position is not None
    assert isinstance(futures[5].exception(), ConflictError)
    assert isinstance(futures[6].exception(), UnknownMonitorError)


def test_too_much_at_once_is_sent_away(tmp_path: Path) -> None:
    with service_in(tmp_path, options=replace(QUIET, max_queued=10)) as service:
        start(service)
        with pytest.raises(BackPressureError) as caught:
            service.ingest(NAME, [item(i) for i in range(11)])
        assert caught.value.retry_after > 0.0
        assert len(service.ingest(NAME, [item(i) for i in range(10)])) == 10


def test_a_monitor_that_waits_for_too_many_scores_sends_items_away(service: Service) -> None:
    start(service, max_pending=5)
    service.ingest(NAME, [item(i) for i in range(5)])
    with pytest.raises(BackPressureError, match=r"5 items .* wait"):
        service.ingest(NAME, [item(5)])
    service.record_strong(NAME, [StrongIn("i0", GOOD)])
    assert service.ingest(NAME, [item(5)])[0].position == 6


def test_a_service_that_was_closed_says_so(tmp_path: Path) -> None:
    with service_in(tmp_path) as service:
        start(service)
    with pytest.raises(ClosedError):
        service.ingest(NAME, [item(0)])


def test_a_second_process_on_the_same_file_is_refused(service: Service) -> None:
    assert service.store.engine.url.database is not None
    other = open_store(service.store.engine.url.database)
    with pytest.raises(StoreUnavailableError, match="another process"):
        Service(other).start()
    other.close()


# Alarms.


def test_an_alarm_opens_is_attributed_acknowledged_and_closed(service: Service) -> None:
    start(service)
    with service.subscribe() as subscription:
        count = drop(service)
        (alarm,) = service.alarms(NAME)
        assert (alarm.state, alarm.verdict.kind, alarm.verdict.status) == ("open", "system", "pending")
        assert service.monitors()[0].open_alarms == 1
        with pytest.raises(ConflictError, match="nothing final"):
            service.acknowledge(NAME)
        answer_anchors(service)
        assert service.alarms(NAME)[0].verdict.status == "final"
        with pytest.raises(ConflictError, match="acknowledge it first"):
            service.close_alarm(NAME, alarm.id)
        acknowledged = service.acknowledge(NAME, note="rolled back", by="ann")
        assert (acknowledged.state, acknowledged.story[-1].by) == ("acknowledged", "ann")
        closed = service.close_alarm(NAME, alarm.id, note="healthy again", by="ann")
        assert (closed.state, service.alarms(NAME, open_only=True)) == ("closed", ())
        assert service.close_alarm(NAME, alarm.id) == closed
        told = []
        while (change := subscription.get(timeout=0.0)) is not None:
            told += [change] if change.kind != "progress" else []
    assert [change.kind for change in told] == ["opened", "attributed", "acknowledged", "closed"]
    assert len({change.dedup_key for change in told}) == 1
    assert alarm.dedup_key.startswith(f"driftjudge:{NAME}:")
    assert service.changes(after=0) == tuple(told)
    kinds = [line.kind for line in closed.story]
    assert kinds == ["system_alarm", "guard_closed", "acknowledged", "closed"]
    assert service.verdict(NAME).epoch == 2
    assert closed.story[0].position <= count


def test_a_judge_alarm_is_ended_by_re_anchoring(service: Service) -> None:
    start(service)
    for i in range(400):
        service.ingest(NAME, [item(i, strong=GOOD)])
        answer_anchors(service, BAD)
        if service.verdict(NAME).kind == "judge":
            break
    (alarm,) = service.alarms(NAME)
    assert (alarm.verdict.kind, alarm.dedup_key.split(":")[3]) == ("judge", "*")
    with pytest.raises(ConflictError, match="reanchor"):
        service.acknowledge(NAME)
    with pytest.raises(ConflictError, match="no strong judge"):
        service.reanchor(NAME, calibration())
    service.set_anchors(NAME, anchors(), [[[0.0, 0.0] for _ in range(8)] for _ in range(4)])
    service.freeze_anchors(NAME)
    service.reanchor(NAME, calibration(), by="ann")
    (alarm,) = service.alarms(NAME)
    assert (alarm.state, alarm.story[-1].by) == ("closed", "ann")
    assert (service.verdict(NAME).kind, service.verdict(NAME).epoch) == ("none", 2)
    report = service.anchors_report(NAME)
    assert {line.rescores for line in report.lines} == {0}
    assert report.lines[0].usual == (0.0, 0.0)


def test_without_anchors_an_alarm_is_unattributed_and_can_be_acknowledged_with_new_bars(service: Service) -> None:
    start(service, anchored=False)
    drop(service)
    assert service.alarms(NAME)[0].verdict.kind == "unattributed"
    service.acknowledge(NAME, calibration=calibration(400, (0.5, 0.5)))
    assert service.evidence(NAME).cells[0].bar == 0.5
    assert service.anchors_report(NAME).lines == ()


def test_alarms_are_found_by_their_number_and_monitor(service: Service) -> None:
    start(service)
    start(service, name="other")
    drop(service)
    (alarm,) = service.alarms()
    with pytest.raises(UnknownAlarmError):
        service.close_alarm("other", alarm.id)
    with pytest.raises(UnknownAlarmError):
        service.close_alarm(NAME, 99)
    with pytest.raises(ConflictError, match="no verdict to acknowledge"):
        service.acknowledge("other")
    assert service.alarms("other") == ()
    assert service.alarms(NAME, before=alarm.id) == ()


# Reads.


def test_the_trace_ends_now_and_stays_bounded(service: Service) -> None:
    start(service, max_pending=10_000)
    for first in range(0, 3_000, 500):
        service.ingest(NAME, [item(i, strong=GOOD) for i in range(first, first + 500)])
    service.ingest(NAME, [item(3_000, strong=GOOD)])
    trace = service.trace(NAME)
    assert trace.position[-1] == 3_001
    assert 375 <= len(trace.position) <= 801
    assert (trace.position[1:] > trace.position[:-1]).all()
    assert trace.strong_calls[-1] == 3_001


def test_the_anchors_report_shows_disagreements_with_the_humans(service: Service) -> None:
    start(service)
    service.ingest(NAME, [item(i, strong=GOOD) for i in range(50)])
    wanted = service.wanted_anchors(NAME)
    service.record_anchors(NAME, [AnchorScoreIn(wanted[0], (0.5, 0.0))])
    service.record_anchors(NAME, [AnchorScoreIn(wanted[1], Failure("refusal"))])
    report = service.anchors_report(NAME)
    worst = report.lines[0]
    assert (worst.id, worst.last, worst.disagreement, worst.rescores) == (wanted[0], (0.5, 0.0), 0.75, 1)
    assert (worst.human, worst.usual, worst.watched) == ((0.5, 0.75), GOOD, True)
    assert sum(line.unscored for line in report.lines) == 1
    assert (report.total, len(service.anchors_report(NAME, offset=6).lines)) == (8, 2)
    assert report.shifts[0].rescores == 1


def test_events_are_read_page_by_page(service: Service) -> None:
    start(service)
    service.ingest(NAME, [item(i, strong=GOOD) for i in range(4)])
    page = service.events(NAME, limit=3)
    assert [row.seq for row in page] == [1, 2, 3]
    assert [row.seq for row in service.events(NAME, after=3)] == [4, 5, 6, 7, 8]
    assert page[0].body["event"] == "Observed"
    assert [row.seq for row in service.export_log(NAME)] == list(range(1, 9))


def test_costs_tell_answers_by_role_and_day(tmp_path: Path) -> None:
    clock = ManualClock()
    with service_in(tmp_path, clock=clock) as service:
        start(service)
        service.ingest(NAME, [item(0, strong=GOOD), item(1, Failure("refusal"), strong=Failure("refusal"))])
        clock.advance(DAY)
        service.ingest(NAME, [item(2, strong=GOOD)])
        costs = service.costs(NAME)
        assert [(line.role, line.answers, line.unscored) for line in costs.lines] == [
            ("cheap", 1, 0),
            ("strong", 1, 0),
            ("cheap", 2, 1),
            ("strong", 2, 1),
        ]
        assert costs.relative is not None
        assert costs.relative.strong_unscored == 1
        assert len(service.costs(NAME, days=1).lines) == 2


def test_silence_opens_no_data_and_the_next_item_closes_it(tmp_path: Path) -> None:
    clock = ManualClock()
    with service_in(tmp_path, clock=clock) as service:
        start(service, MonitorSettings(no_data_after=100.0))
        start(service, MonitorSettings(no_data_after=None), name="may-rest")
        service.ingest(NAME, [item(0, strong=GOOD)])
        clock.advance(99.0)
        service.housekeeping.tick()
        assert service.conditions() == ()
        clock.advance(6.0)
        for _ in range(2):
            clock.advance(6.0)
            service.housekeeping.tick()
        (condition,) = service.conditions()
        assert (condition.monitor, condition.kind) == (NAME, "no_data")
        assert service.monitors()[1].conditions == ("no_data",)
        service.ingest(NAME, [item(1, strong=GOOD)])
        assert service.conditions() == ()
        assert [change.payload["state"] for change in service.changes(after=0)] == ["opened", "closed"]


def test_old_texts_are_deleted_and_the_evidence_stays(tmp_path: Path) -> None:
    clock = ManualClock()
    with service_in(tmp_path, clock=clock) as service:
        start(service, MonitorSettings(keep_texts_days=1.0))
        service.ingest(NAME, [replace(text(0, GOOD), strong=GOOD), text(1, GOOD)])
        before = service.snapshot(NAME)
        clock.advance(2 * DAY)
        service.housekeeping.tick()
        from driftjudge.store import payloads

        with service.store.read() as tx:
            assert set(payloads.get(tx, 1, "item", ["i0", "i1"])) == {"i1"}  # still wanted by a judge
        assert service.snapshot(NAME) == before
        assert service.ingest(NAME, [replace(text(0, GOOD), strong=GOOD)])[0].duplicate


def test_a_slow_subscriber_is_dropped_and_the_others_are_not(tmp_path: Path) -> None:
    with service_in(tmp_path, options=replace(QUIET, subscriber_queue=2, max_subscribers=2)) as service:
        start(service)
        slow, other = service.subscribe(), service.subscribe("other")
        with pytest.raises(BackPressureError):
            service.subscribe()
        for i in range(5):
            service.open_condition(NAME, "budget_exhausted", f"{i}")
            service.close_condition(NAME, "budget_exhausted")
        assert slow.dropped
        assert [slow.get(timeout=0.0) is None for _ in range(3)] == [False, False, True]
        assert not other.dropped
        assert other.get(timeout=0.0) is None
        service.subscribe().close()


# Memory and disk.


def test_more_monitors_than_fit_into_memory_work_all_the_same(tmp_path: Path) -> None:
    with service_in(tmp_path, options=replace(QUIET, max_loaded=3)) as service:
        names = [f"m{i}" for i in range(10)]
        for name in names:
            start(service, name=name, anchored=False)
        for i in range(3):
            for name in names:
                assert service.ingest(name, [item(i, strong=GOOD)])[0].position == i + 1
        assert service.health().loaded <= 3
        assert [info.position for info in service.monitors()] == [3] * 10
        assert service.evidence("m0").cost.items == 3


@pytest.mark.parametrize("every", [1, 7, 5_000])
def test_a_restart_changes_nothing(tmp_path: Path, every: int) -> None:
    options = replace(QUIET, snapshot_every=every)
    with service_in(tmp_path, options=options) as service:
        start(service)
        count = drop(service)
        answer_anchors(service)
        before, alarms, trace = service.snapshot(NAME), service.alarms(NAME), service.trace(NAME)
    with service_in(tmp_path, options=options) as service:
        assert service.snapshot(NAME) == before
        assert service.alarms(NAME) == alarms
        assert service.trace(NAME).system.tolist() == trace.system.tolist()
        assert service.ingest(NAME, [item(count - 1, BAD, strong=BAD)])[0].duplicate
        assert service.ingest(NAME, [item(count, GOOD)])[0].position == count + 1


def test_anchors_keep_their_strata_and_need_one_each_that_the_monitor_knows(service: Service) -> None:
    service.create_monitor(NAME, config())
    placed = [replace(anchor, stratum=STRATA[i % 2]) for i, anchor in enumerate(anchors())]
    with pytest.raises(BadRequestError, match="'a1' has no stratum and others have"):
        service.set_anchors(NAME, [placed[0], *anchors()[1:]], passes())
    with pytest.raises(BadRequestError, match="unknown stratum 'nowhere'"):
        service.set_anchors(NAME, [replace(placed[0], stratum="nowhere"), *placed[1:]], passes())
    service.set_anchors(NAME, placed, passes())
    service.freeze_anchors(NAME)
    service.calibrate(NAME, calibration())
    assert {line.stratum for line in service.anchors_report(NAME).lines} == set(STRATA)


# What ends with an epoch, a setting or a lease.


def _kept_texts(service: Service) -> set[str]:
    from driftjudge.store import payloads

    with service.store.read() as tx:
        return set(payloads.get(tx, 1, "item", [f"i{i}" for i in range(1_000)]))


@pytest.mark.parametrize("end", ["acknowledge", "reanchor", "archive"])
def test_texts_that_no_judge_will_see_any_more_are_deleted_too(tmp_path: Path, end: str) -> None:
    clock = ManualClock()
    with service_in(tmp_path, clock=clock) as service:
        start(service, MonitorSettings(keep_texts_days=1.0), anchored=end == "reanchor")
        count = drop(service)
        service.ingest(NAME, [text(count, GOOD)])
        assert service.wanted_strong(NAME) == (f"i{count}",)
        if end == "acknowledge":
            service.acknowledge(NAME)
        elif end == "reanchor":
            service.set_anchors(NAME, anchors(), passes())
            service.reanchor(NAME, calibration())
        else:
            service.archive_monitor(NAME)
        assert _kept_texts(service) == {f"i{count}"}
        clock.advance(2 * DAY)
        service.housekeeping.tick()
        assert _kept_texts(service) == set()


def test_an_alarm_tells_that_the_judge_moved_later(service: Service) -> None:
    start(service)
    count = drop(service)
    answer_anchors(service)
    assert service.verdict(NAME).status == "final"
    assert "as it used to" in service.verdict(NAME).explain()
    for i in range(count, count + 1_000):
        service.ingest(NAME, [item(i, strong=GOOD)])
        answer_anchors(service, BAD)
        if service.verdict(NAME).judge_alarm_at is not None:
            break
    told = service.changes(after=0)
    assert [change.kind for change in told] == ["opened", "attributed", "attributed"]
    assert len({change.dedup_key for change in told}) == 1
    last = told[-1].payload
    assert last["verdict"]["kind"] == "system"
    assert "later the judge moved as well" in last["sentence"]
    assert not any("does not depart" in fact for fact in last["facts"])
    service.acknowledge(NAME)
    assert [(one.state, one.verdict.kind) for one in service.alarms(NAME)] == [
        ("open", "judge"),
        ("acknowledged", "system"),
    ]


def test_a_condition_ends_when_nobody_looks_for_it_any_more(tmp_path: Path) -> None:
    with service_in(tmp_path) as service:
        start(service, MonitorSettings(no_data_after=100.0))
        for kind in ("no_data", "judge_unavailable", "budget_exhausted"):
            service.open_condition(NAME, kind, "for the test")
        service.change_settings(NAME, MonitorSettings(no_data_after=None))
        assert service.conditions() == ()
        assert [change.payload["state"] for change in service.changes(after=0)] == ["opened"] * 3 + ["closed"] * 3


def test_an_answer_id_twice_in_one_request_is_one_answer(service: Service) -> None:
    start(service)
    service.ingest(NAME, [item(i, strong=GOOD) for i in range(10)])
    first, second = service.wanted_anchors(NAME)[:2]
    one = AnchorScoreIn(first, GOOD, "x")
    with pytest.raises(ConflictError, match="two answers"):
        service.record_anchors(NAME, [one, AnchorScoreIn(second, GOOD, "x")])
    recorded = service.record_anchors(NAME, [one, one])
    assert (recorded.taken, recorded.duplicates) == (1, 1)


def test_a_lease_that_was_lost_while_we_were_away_is_noticed_without_a_command(service: Service) -> None:
    from sqlalchemy import update

    from driftjudge.store.tables import leases

    start(service)
    mine = service._hosts.tokens[1]
    before = service._hosts.loaded(NAME)
    with service.store.begin() as tx:  # somebody took it over, and died since
        tx.execute(update(leases).values(owner="other", token=mine + 1, expires_at=0.0))
    service.housekeeping.renew()
    assert service._hosts.tokens[1] == mine + 2
    assert service._hosts.loaded(NAME) is not before, "what we remembered of it may be out of date"


def test_a_batch_with_an_item_of_an_epoch_long_ended_is_refused_whole(service: Service) -> None:
    """Late scores of an ended epoch are ignored as long as they are remembered; then nobody asked for them."""
    start(service, anchored=False, id_memory=1, max_pending=100)
    drop(service)
    service.ingest(NAME, [item(900), item(901)])
    service.acknowledge(NAME)
    service.ingest(NAME, [item(902)])
    assert service.wanted_strong(NAME) == ("i902",)
    with pytest.raises(UnaskedError, match="i900"):
        service.record_strong(NAME, [StrongIn("i902", GOOD), StrongIn("i900", GOOD)])
    assert service.wanted_strong(NAME) == ("i902",)
    assert service.record_strong(NAME, [StrongIn("i902", GOOD), StrongIn("i901", GOOD)]).taken == 2


@pytest.mark.parametrize("number", [-1, 0, 99, 2**63, 2**64])
def test_an_alarm_of_no_number_we_have_is_unknown(service: Service, number: int) -> None:
    start(service)
    with pytest.raises(UnknownAlarmError):
        service.close_alarm(NAME, number)


def test_the_anchors_in_force_are_given_back_as_they_were_uploaded(service: Service) -> None:
    given = [
        AnchorIn(name, (0.5, 0.75), {"response": name} if name == "b" else None, STRATA[0]) for name in ("z", "b", "a")
    ]
    service.create_monitor(NAME, config())
    service.set_anchors(NAME, given, passes(3), resolution=0.2)
    service.freeze_anchors(NAME)
    service.calibrate(NAME, calibration())
    assert service.frozen_anchors(NAME) == (tuple(given), 0.2)
    start(service, name="bare", anchored=False)
    assert service.frozen_anchors("bare") == ((), None)


def test_messages_of_alarms_long_over_are_deleted_and_others_stay(tmp_path: Path) -> None:
    clock = ManualClock()
    with service_in(tmp_path, clock=clock) as service:
        start(service, anchored=False)
        drop(service)
        alarm = service.acknowledge(NAME)
        clock.advance(40 * DAY)
        _deliver(service)
        service.housekeeping.purge(clock.now())
        assert len(service.changes(after=0)) >= 2, "the alarm is not over"
        service.close_alarm(NAME, alarm.id)
        _deliver(service)
        service.housekeeping.purge(clock.now())
        assert service.changes(after=0)[-1].kind == "closed"
        clock.advance(31 * DAY)
        service.housekeeping.purge(clock.now())
        assert service.changes(after=0) == ()


def _deliver(service: Service) -> None:
    desk = AlertDesk(service.store, NO_ALERTS)
    desk.step()
    desk.close()
