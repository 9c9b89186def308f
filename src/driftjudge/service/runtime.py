"""The service as one object: commands that are durable before they are answered, and reads.

A command is applied to the in-memory monitor, appended to its log and committed; only then is it answered. If the
commit fails, the in-memory monitor is thrown away and read again from the log: memory never knows more than the disk.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from types import TracebackType
from typing import Any, TypeVar

from sqlalchemy import Connection

from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.events import Acknowledged
from driftjudge.monitor.evidence import Evidence, Trace
from driftjudge.monitor.verdict import Verdict
from driftjudge.service import alarms, setup, stream
from driftjudge.service.batch import Batch
from driftjudge.service.checks import LONGEST_NOTE, check_many, check_settings, checked_items, checked_name
from driftjudge.service.clock import Clock, SystemClock
from driftjudge.service.codec import from_json, to_json
from driftjudge.service.desk import Desk
from driftjudge.service.errors import BadRequestError, UnavailableError
from driftjudge.service.host import Host
from driftjudge.service.hosts import Hosts
from driftjudge.service.housekeeping import Housekeeping
from driftjudge.service.hub import Hub, Subscription, change_of
from driftjudge.service.options import ServiceOptions
from driftjudge.service.reads import Reads
from driftjudge.service.values import (
    MOST_LISTED,
    Alarm,
    AnchorIn,
    AnchorScoreIn,
    AnchorsReport,
    CalibrationIn,
    Change,
    Condition,
    ConditionKind,
    Costs,
    Health,
    Idempotency,
    ItemIn,
    ItemOut,
    LoggedEvent,
    MonitorDetail,
    MonitorInfo,
    MonitorSettings,
    Recorded,
    StrongIn,
)
from driftjudge.service.workers import JudgeMaker, Workers, configured_judges
from driftjudge.service.writer import Writer
from driftjudge.store import Store, audit, leases, outbox, registry
from driftjudge.store import errors as store_errors
from driftjudge.store import idempotency as keys
from driftjudge.store.filelock import FileLock, lock_of

__all__ = ["Service", "ServiceOptions", "Subscription"]

logger = logging.getLogger(__name__)

T = TypeVar("T")

FEW_EVENTS = 200
"""Events that are quicker read again at the next start than kept as a snapshot at the end."""
PROGRESS_EVERY = 1.0
"""Seconds between two `progress` changes of a monitor, at least."""


class Service:
    """Everything the HTTP layer, the page and the command line talk to. All methods are thread-safe and blocking.

    Errors: `service.errors.ServiceError` and, for values the statistics refuse, `monitor.errors.MonitorError`.
    `by` is who acts, for the audit trail and the alarm's story. Every command takes `idempotency`: the same key with
    the same body gets the same answer for a week, with another body a ConflictError.
    """

    def __init__(
        self,
        store: Store,
        *,
        judges: JudgeMaker = configured_judges,
        clock: Clock | None = None,
        options: ServiceOptions | None = None,
    ) -> None:
        self.store = store
        self.clock = clock or SystemClock()
        self.options = options or ServiceOptions()
        self._judges = judges
        self._lock: FileLock | None = None
        self._progressed: dict[str, float] = {}
        self._hub = Hub(store, self.options.max_subscribers, self.options.subscriber_queue)
        self._running = False

    def start(self) -> Service:
        """Start the writer, the judge workers and the housekeeping; returns itself for use in `with`."""
        self._lock = lock_of(self.store)
        self._hosts = Hosts(self.store, self.options, self.clock, alone=self._lock is not None)
        self._reads = Reads(self.store, self._hosts)
        self._writer = Writer(self.store, self._hosts, self.options, self.clock, self._committed)
        self._desk = Desk(self._submit)
        self._workers = Workers(self._desk, self._judges, self.options, self.clock)
        self.housekeeping = Housekeeping(
            self.store, self._hosts, self._hub, self.options, self.clock, self._submit, self._workers.poke
        )
        self._running = True
        self._workers.start()
        self._writer.start()
        try:
            self._hub.poll()
            self.housekeeping.wake_all()
        except store_errors.StoreError as error:
            logger.warning("the database is away at the start: %s", error)
        self.housekeeping.start()
        return self

    def close(self, timeout: float = 30.0) -> None:
        """Finish what was accepted, write snapshots, release the leases."""
        if not self._running:
            return
        self._running = False
        self._workers.close(timeout)
        self.housekeeping.close(timeout)
        if self._writer.close(timeout):
            self._writer.write_snapshots([host for host in self._hosts.everything() if host.unsaved > FEW_EVENTS])
            try:
                with self.store.begin() as tx:
                    leases.release(tx, self._hosts.tokens)
            except store_errors.StoreError as error:
                logger.warning("the leases could not be released and will expire: %s", error)
        self._hub.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Service:
        return self if self._running else self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # How commands run.

    def _submit(
        self, name: str | None, run: Callable[[Connection, Host | None, Batch], T], *, weight: int = 1
    ) -> Future[T]:
        return self._writer.submit(name, run, weight=weight)

    def _command(
        self, name: str, run: Callable[[Connection, Host, Batch], T], kind: type[T], key: Idempotency | None,
        *, weight: int = 1,
    ) -> Future[T]:  # fmt: skip
        """A command on a monitor whose answer is kept under its idempotency key."""

        def keyed(tx: Connection, host: Host | None, batch: Batch) -> T:
            assert host is not None
            if key is None:
                return run(tx, host, batch)
            before = keys.answer(tx, key.scope, key.key, key.body)
            if before is not None:
                return from_json(kind, before["answer"])
            answer = run(tx, host, batch)
            batch.touch(host)
            keys.keep(tx, key.scope, key.key, key.body, {"answer": to_json(answer)}, at=batch.at)
            return answer

        if key is not None and not 1 <= len(key.key) <= keys.LONGEST_KEY:
            raise BadRequestError(f"an idempotency key has 1 to {keys.LONGEST_KEY} characters")
        return self._submit(name, keyed, weight=weight)

    def _act(
        self, name: str, action: str, run: Callable[[Connection, Host, Batch], None], by: str,
        key: Idempotency | None, **detail: Any,
    ) -> MonitorInfo:  # fmt: skip
        """An administrative act: audited, answered with the monitor as it is then."""

        def act(tx: Connection, host: Host, batch: Batch) -> MonitorInfo:
            run(tx, host, batch)
            batch.touch(host)
            audit.note(tx, actor=by, action=action, monitor=host.name, detail=detail, at=batch.at)
            registry.change(tx, host.id, **host.columns())
            return self._reads.info(tx, host.name)

        return self._command(name, act, MonitorInfo, key).result()

    def _committed(self, batch: Batch) -> None:
        """After a commit: tell subscribers, wake the judges."""
        for message in batch.messages:
            self._hub.publish(change_of(message))
        for host in batch.hosts.values():
            if host.waits and (host.settings.judging.cheap is not None or host.settings.judging.strong is not None):
                self._workers.poke(host.name)
            if batch.at - self._progressed.get(host.name, 0.0) >= PROGRESS_EVERY and host.monitor is not None:
                self._progressed[host.name] = batch.at
                system, judge = host.log_es()
                known = {"position": host.monitor.position, "accepted": host.accepted}
                payload = {**known, "log_e_system": system, "log_e_judge": judge}
                self._hub.publish(Change(None, host.name, "progress", "", batch.at, payload))

    # Setting up.

    def create_monitor(
        self, name: str, config: MonitorConfig, settings: MonitorSettings | None = None, *, by: str = "",
        idempotency: Idempotency | None = None,
    ) -> MonitorInfo:  # fmt: skip
        """A new monitor in the state `draft`. The name is its address: letters, digits, `-`, `_`, `.`."""
        checked_name(name)
        chosen = settings or MonitorSettings()
        check_settings(chosen)
        return self._submit(None, partial(self._create, name, config, chosen, by, idempotency)).result()

    def _create(
        self, name: str, config: MonitorConfig, settings: MonitorSettings, by: str, key: Idempotency | None,
        tx: Connection, _host: Host | None, batch: Batch,
    ) -> MonitorInfo:  # fmt: skip
        if key is not None and (before := keys.answer(tx, key.scope, key.key, key.body)) is not None:
            return from_json(MonitorInfo, before["answer"])
        registry.create(tx, name=name, config=config.to_json(), settings=to_json(settings), at=batch.at)
        batch.effects += 1
        audit.note(tx, actor=by, action="create_monitor", monitor=name, at=batch.at)
        info = self._reads.info(tx, name)
        if key is not None:
            keys.keep(tx, key.scope, key.key, key.body, {"answer": to_json(info)}, at=batch.at)
        return info

    def change_settings(
        self, name: str, settings: MonitorSettings, *, by: str = "", idempotency: Idempotency | None = None
    ) -> MonitorDetail:
        """Other judges, ceilings, retention. The statistics' config never changes in a monitor's life."""
        check_settings(settings)

        def change(tx: Connection, host: Host, batch: Batch) -> None:
            batch.touch(host)
            host.settings = settings
            registry.change(tx, host.id, settings=to_json(settings))
            # What nobody looks for any more would never be seen to end.
            if settings.no_data_after is None:
                stream.close_condition(tx, host, batch, "no_data", "silence is no longer looked for")
            if settings.judging.cheap is None and settings.judging.strong is None:
                for kind in ("judge_unavailable", "budget_exhausted"):
                    stream.close_condition(tx, host, batch, kind, "no judge is configured any more")

        self._act(name, "change_settings", change, by, idempotency)
        self._workers.poke(name)
        return self.monitor(name)

    def archive_monitor(self, name: str, *, by: str = "", idempotency: Idempotency | None = None) -> MonitorInfo:
        """Stop it for good; what it knew stays readable."""

        def archive(tx: Connection, host: Host, batch: Batch) -> None:
            batch.touch(host)
            for kind in sorted(host.open_conditions):
                stream.close_condition(tx, host, batch, kind, "the monitor was archived")
            if host.monitor is not None:
                alarms.close_all(tx, host, batch, note="the monitor was archived", by=by)
                unjudged = [*host.monitor.pending_items, *(line.item_id for line in host.line)]
                batch.released += [(host.id, item_id) for item_id in unjudged]
            host.state = "archived"
            host.summary.pop("setup", None)

        return self._act(name, "archive_monitor", archive, by, idempotency)

    def set_anchors(
        self, name: str, anchors: Sequence[AnchorIn], passes: Sequence[Sequence[Sequence[float | None]]] = (), *,
        resolution: float | None = None, by: str = "", idempotency: Idempotency | None = None,
    ) -> MonitorInfo:  # fmt: skip
        """Upload the anchor set of a draft, or the next one of a running monitor for `reanchor`.

        `passes`: time-0 scorings by the strong judge, each anchors x rubrics, None for unscored. Left out, the
        configured strong judge makes them after freezing.
        """

        def upload(tx: Connection, host: Host, batch: Batch) -> None:
            setup.set_anchors(tx, host, batch, anchors, passes, resolution)

        return self._act(name, "set_anchors", upload, by, idempotency, anchors=len(anchors), passes=len(passes))

    def freeze_anchors(self, name: str, *, by: str = "", idempotency: Idempotency | None = None) -> MonitorInfo:
        """From here on items and labels of the uploaded set cannot be changed."""
        return self._act(name, "freeze_anchors", setup.freeze_anchors, by, idempotency)

    def calibrate(
        self, name: str, items: Sequence[CalibrationIn], *, skip_low_bars: bool = False, by: str = "",
        idempotency: Idempotency | None = None,
    ) -> MonitorInfo:  # fmt: skip
        """Give a draft its bars and start it: at once where all scores are there, else when the judges are done.

        Anchors must be frozen before; a monitor without anchors starts too, and will not attribute.
        """

        def calibrate(tx: Connection, host: Host, batch: Batch) -> None:
            setup.calibrate(tx, host, batch, items, skip_low_bars=skip_low_bars, by=by)

        return self._act(name, "calibrate", calibrate, by, idempotency, items=len(items))

    def reanchor(
        self, name: str, items: Sequence[CalibrationIn], *, skip_low_bars: bool = False, by: str = "",
        idempotency: Idempotency | None = None,
    ) -> MonitorInfo:  # fmt: skip
        """Accept the current judge: new baseline passes and new bars from `items`; a new epoch, open alarms close.

        The passes are those of the set uploaded since; without one, the configured judge scores the same anchors anew.
        """

        def reanchor(tx: Connection, host: Host, batch: Batch) -> None:
            setup.reanchor(tx, host, batch, items, skip_low_bars=skip_low_bars, by=by)

        return self._act(name, "reanchor", reanchor, by, idempotency, items=len(items))

    # The stream.

    def ingest(
        self, name: str, items: Sequence[ItemIn], *, idempotency: Idempotency | None = None
    ) -> tuple[ItemOut, ...]:
        """Take in items, all or none, in this order. Answers when they are durable.

        Items with cheap scores are observed at once; items with texts alone when the cheap judge has answered, in
        their order of acceptance. A stream that mixes both kinds is observed in order within each kind.
        """
        return self.ingest_soon(name, items, idempotency=idempotency).result()

    def ingest_soon(
        self, name: str, items: Sequence[ItemIn], *, idempotency: Idempotency | None = None
    ) -> Future[tuple[ItemOut, ...]]:
        """As `ingest`, without blocking; raises BackPressureError at once when too much is queued up."""
        checked_items(items)

        def take(tx: Connection, host: Host, batch: Batch) -> tuple[ItemOut, ...]:
            return stream.ingest(tx, host, batch, items, self.options.max_waiting)

        return self._command(name, take, tuple[ItemOut, ...], idempotency, weight=len(items))

    def record_strong(
        self, name: str, scores: Sequence[StrongIn], *, idempotency: Idempotency | None = None
    ) -> Recorded:
        """Strong scores by clients that judge themselves; the same scores again count once."""
        check_many([one.item_id for one in scores], "strong scores", distinct=True)

        def record(tx: Connection, host: Host, batch: Batch) -> Recorded:
            return stream.record_strong(tx, host, batch, scores, None)

        return self._command(name, record, Recorded, idempotency, weight=len(scores)).result()

    def record_anchors(
        self, name: str, scores: Sequence[AnchorScoreIn], *, idempotency: Idempotency | None = None
    ) -> Recorded:
        """Re-scores by clients that judge themselves."""
        check_many([one.anchor_id for one in scores], "re-scores", distinct=False)

        def record(tx: Connection, host: Host, batch: Batch) -> Recorded:
            return stream.record_anchors(tx, host, batch, scores, None)

        return self._command(name, record, Recorded, idempotency, weight=len(scores)).result()

    # After an alarm.

    def acknowledge(
        self, name: str, *, note: str = "", calibration: Sequence[CalibrationIn] = (), by: str = "",
        idempotency: Idempotency | None = None,
    ) -> Alarm:  # fmt: skip
        """Take note of a final system or unattributed verdict: the main family starts a new epoch.

        With `calibration` (scores already made) the new level becomes the bar. The alarm stays listed as
        `acknowledged` until it is closed. A judge verdict is refused here: it needs `reanchor`.
        """

        def acknowledge(tx: Connection, host: Host, batch: Batch) -> Alarm:
            stream.needs_running(host)
            event = Acknowledged(setup.calibration_of(host, calibration) if calibration else None)
            outstanding = host.running.pending_items
            alarm = alarms.acknowledge(tx, host, batch, event, note=note[:LONGEST_NOTE], by=by)
            stream.begin_epoch(tx, host, batch, outstanding)
            detail = {"alarm": alarm.id, "calibration": len(calibration)}
            audit.note(tx, actor=by, action="acknowledge", monitor=name, detail=detail, at=batch.at)
            return alarm

        return self._command(name, acknowledge, Alarm, idempotency).result()

    def close_alarm(
        self, name: str, alarm: int, *, note: str = "", by: str = "", idempotency: Idempotency | None = None
    ) -> Alarm:
        """The incident is over: sinks are told so. Allowed once the alarm is acknowledged."""

        def close(tx: Connection, host: Host, batch: Batch) -> Alarm:
            closed = alarms.close(tx, host, batch, alarm, note=note[:LONGEST_NOTE], by=by)
            batch.touch(host)
            detail = {"alarm": alarm}
            audit.note(tx, actor=by, action="close_alarm", monitor=name, detail=detail, at=batch.at)
            return closed

        return self._command(name, close, Alarm, idempotency).result()

    # Reads.

    def monitors(self, *, after: str = "", limit: int = 1_000, archived: bool = False) -> tuple[MonitorInfo, ...]:
        """All monitors by name, one page."""
        return self._read(lambda: self._reads.monitors(after, limit, archived))

    def monitor(self, name: str) -> MonitorDetail:
        """One monitor."""

        def look() -> MonitorDetail:
            with self.store.read() as tx:
                return self._reads.detail(tx, name)

        return self._read(look)

    def verdict(self, name: str) -> Verdict:
        """Who drifted, as far as the evidence goes. ConflictError while the monitor is a draft."""
        return self._read(lambda: self._reads.verdict(name))

    def evidence(self, name: str) -> Evidence:
        """Everything behind the verdict."""
        return self._on(name, lambda host, _: host.running.evidence())

    def trace(self, name: str) -> Trace:
        """Both families over time, at a bounded number of positions, the last one now."""
        return self._on(name, lambda host, tx: host.trace(tx, self.clock.now()))

    def events(self, name: str, *, after: int = 0, limit: int = 1_000) -> tuple[LoggedEvent, ...]:
        """The log after a sequence number, one page."""
        return self._read(lambda: self._reads.events(name, after, limit))

    def costs(self, name: str, *, days: int = 31) -> Costs:
        """What was spent."""
        return self._read(lambda: self._reads.costs(name, days, self.clock.now()))

    def anchors_report(self, name: str, *, offset: int = 0, limit: int = 100) -> AnchorsReport:
        """Gap and shift per rubric, and disagreements with the humans anchor by anchor, largest first."""
        return self._read(lambda: self._reads.anchors_report(name, offset, limit))

    def frozen_anchors(self, name: str) -> tuple[tuple[AnchorIn, ...], float | None]:
        """The anchor set in force, in its own order, and its resolution: for an upload with new passes."""
        return self._read(lambda: self._reads.frozen_anchors(name))

    def wanted_strong(self, name: str, *, limit: int = 1_000) -> tuple[str, ...]:
        """Items whose strong scores are wanted now, oldest first."""
        return self._on(name, lambda host, _: host.running.pending_items[: min(limit, MOST_LISTED)])

    def wanted_anchors(self, name: str) -> tuple[str, ...]:
        """Anchors whose re-scores are wanted now, oldest first, one entry per re-score."""
        return self._on(name, lambda host, _: host.running.pending_anchors[:MOST_LISTED])

    def alarms(
        self, name: str | None = None, *, open_only: bool = False, before: int | None = None, limit: int = 100
    ) -> tuple[Alarm, ...]:
        """Alarms, newest first, one page: `before` is the id where the last page ended."""
        return self._read(lambda: self._reads.alarms(name, open_only, before, limit))

    def conditions(self, name: str | None = None, *, open_only: bool = True, limit: int = 100) -> tuple[Condition, ...]:
        """Conditions, newest first."""
        return self._read(lambda: self._reads.conditions(name, open_only, limit))

    def changes(self, *, after: int, limit: int = 1_000) -> tuple[Change, ...]:
        """What subscribers missed: durable changes after an id, in order."""

        def look() -> tuple[Change, ...]:
            with self.store.read() as tx:
                found = outbox.messages(tx, after=after, limit=min(limit, MOST_LISTED))
            return tuple(change_of(message) for message in found)

        return self._read(look)

    def subscribe(self, name: str | None = None) -> Subscription:
        """Changes from now on, of one monitor or of all; also those made by other processes on the same database."""
        return self._hub.subscribe(name)

    def snapshot(self, name: str) -> dict[str, Any]:
        """The monitor's whole state, as `Monitor.restore` reads it."""
        return self._on(name, lambda host, _: host.running.snapshot())

    def export_log(self, name: str) -> Iterator[LoggedEvent]:
        """The whole log, row by row."""
        after = 0
        while page := self.events(name, after=after):
            yield from page
            after = page[-1].seq

    def health(self) -> Health:
        """Whether it can take items now. Asks the database."""
        ready, detail = self._running, "ready" if self._running else "the service is not running"
        try:
            with self.store.read() as tx:
                outbox.last_id(tx)
        except store_errors.StoreError as error:
            ready, detail = False, str(error)
        return Health(
            ready=ready,
            detail=detail,
            loaded=len(self._hosts),
            leased=len(self._hosts.tokens),
            queued=self._writer.queued,
            in_flight=self._workers.in_flight,
            commits=self._writer.commits,
            failed_commits=self._writer.failed_commits,
        )

    def _on(self, name: str, look: Callable[[Host, Connection], T]) -> T:
        return self._read(lambda: self._reads.on(name, look))

    def _read(self, look: Callable[[], T]) -> T:
        try:
            return look()
        except store_errors.UnavailableError as error:
            raise UnavailableError(str(error)) from error

    def open_condition(self, name: str, kind: ConditionKind, detail: str) -> None:
        """Say that something keeps a monitor from seeing."""
        self._desk.condition(name, kind, detail).result()

    def close_condition(self, name: str, kind: ConditionKind) -> None:
        """Say that it sees again."""
        self._desk.condition(name, kind, None).result()
