"""The append-only log of one monitor. Its state is a fold over the log; the snapshot is a cache of that fold."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, func, insert, select, update

from driftjudge.monitor import AnchorSet, Calibration, Monitor, MonitorConfig
from driftjudge.monitor.errors import SnapshotError
from driftjudge.monitor.events import Event, event_from_json, event_to_json
from driftjudge.store.engine import Store
from driftjudge.store.errors import DamagedError, OutOfOrderError
from driftjudge.store.tables import events, monitors, snapshots

PAGE = 1_000
"""Rows fetched at a time, so that a long log never lies in memory."""


class Logged(NamedTuple):
    """One row of a log."""

    seq: int
    event: Event
    at: float
    fingerprint: str
    """Which judge the scores are from, where somebody said so."""


class EventLog:
    """The log of one monitor.

    Appending says after which sequence number it believes to append: whoever is wrong about it gets an
    OutOfOrderError and has changed nothing.
    """

    def __init__(self, store: Store, monitor_id: int) -> None:
        self.store = store
        self.monitor_id = monitor_id

    def append(self, new: Sequence[Event], *, after: int, at: float, fingerprints: Sequence[str] = ()) -> int:
        """Append in a transaction of its own; returns the new head. Durable when it returns."""
        with self.store.begin() as tx:
            return self.append_in(tx, new, after=after, at=at, fingerprints=fingerprints)

    def append_in(
        self, tx: Connection, new: Sequence[Event], *, after: int, at: float, fingerprints: Sequence[str] = ()
    ) -> int:
        """Append as part of a transaction, together with whatever else belongs to it."""
        head = self.head(tx)
        if head != after:
            raise OutOfOrderError(
                f"the log ends at {head}, not at {after}: something else appended to it; read it again first"
            )
        rows = event_rows(self.monitor_id, new, after=after, at=at, fingerprints=fingerprints)
        if rows:
            tx.execute(insert(events), rows)
        return after + len(rows)

    def head(self, tx: Connection | None = None) -> int:
        """The last sequence number; 0 for an empty log."""
        if tx is None:
            with self.store.read() as reading:
                return self.head(reading)
        found = tx.execute(select(func.max(events.c.seq)).where(events.c.monitor_id == self.monitor_id)).scalar()
        return int(found or 0)

    def read(self, after: int = 0, *, limit: int | None = None) -> Iterator[Logged]:
        """Events after a sequence number, in order, page by page."""
        left = limit
        while left is None or left > 0:
            with self.store.read() as tx:
                page = read_events(tx, self.monitor_id, after=after, limit=PAGE if left is None else min(PAGE, left))
            yield from page
            if not page:
                return
            after = page[-1].seq
            left = None if left is None else left - len(page)

    # The cache.

    def save_snapshot(self, state: Mapping[str, Any], seq: int, *, at: float) -> None:
        """Keep the state after `seq`; replaces an older one."""
        with self.store.begin() as tx:
            write_snapshot(tx, self.monitor_id, state, seq, at=at)

    def load_snapshot(self) -> tuple[dict[str, Any], int] | None:
        """The state kept and its sequence number; None where there is none or it is damaged: it is only a cache."""
        with self.store.read() as tx:
            return read_snapshot(tx, self.monitor_id)

    def load(self) -> tuple[Monitor, int]:
        """The monitor as the log has it: from the snapshot where one can be used, and the events since."""
        with self.store.read() as tx:
            return load_monitor(tx, self.monitor_id)

    def founding(self) -> dict[str, Any] | None:
        """What the fold starts from: `config`, `calibration` and `anchors` as JSON; None for a draft."""
        with self.store.read() as tx:
            return _founding(tx, self.monitor_id)


def create_log(
    store: Store,
    name: str,
    config: MonitorConfig,
    *,
    calibration: Calibration,
    anchors: AnchorSet | None = None,
    at: float,
) -> EventLog:
    """A new monitor with an empty log, founded on what its fold starts from."""
    with store.begin() as tx:
        row = {"name": name, "state": "running", "config": json.dumps(config.to_json()), "settings": "{}"}
        made = tx.execute(insert(monitors).values(**row, created_at=at).returning(monitors.c.id)).scalar_one()
        found(tx, int(made), config, calibration, anchors)
    return EventLog(store, int(made))


def open_log(store: Store, name: str) -> EventLog | None:
    """The log of a monitor by its name; None where there is none."""
    with store.read() as tx:
        made = tx.execute(select(monitors.c.id).where(monitors.c.name == name)).scalar()
    return None if made is None else EventLog(store, int(made))


def found(
    tx: Connection, monitor_id: int, config: MonitorConfig, calibration: Calibration, anchors: AnchorSet | None
) -> None:
    """Write down what a monitor's fold starts from; this is done once in its life."""
    body = {
        "config": config.to_json(),
        "calibration": calibration.to_json(),
        "anchors": anchors.to_json() if anchors is not None else None,
    }
    changed = tx.execute(
        update(monitors)
        .where(monitors.c.id == monitor_id, monitors.c.founding.is_(None))
        .values(founding=json.dumps(body), state="running")
    )
    if changed.rowcount != 1:
        raise OutOfOrderError("the monitor was started already; its foundation cannot be laid twice")


def event_rows(
    monitor_id: int, new: Iterable[Event], *, after: int, at: float, fingerprints: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """The rows of new events, ready to be inserted."""
    marks = list(fingerprints)
    return [
        {
            "monitor_id": monitor_id,
            "seq": seq,
            "body": json.dumps(event_to_json(one), separators=(",", ":")),
            "fingerprint": marks[i] if i < len(marks) else "",
            "at": at,
        }
        for i, (seq, one) in enumerate(enumerate(new, after + 1))
    ]


def read_events(tx: Connection, monitor_id: int, *, after: int, limit: int) -> list[Logged]:
    """One page of a log."""
    query = select(events.c.seq, events.c.body, events.c.at, events.c.fingerprint)
    rows = tx.execute(
        query.where(events.c.monitor_id == monitor_id, events.c.seq > after).order_by(events.c.seq).limit(limit)
    ).all()
    for expected, row in enumerate(rows, after + 1):
        if row.seq != expected:
            raise DamagedError(f"event {expected} of the log is missing; restore the database from a backup")
    return [Logged(int(row.seq), event_from_json(json.loads(row.body)), row.at, row.fingerprint) for row in rows]


def _founding(tx: Connection, monitor_id: int) -> dict[str, Any] | None:
    body = tx.execute(select(monitors.c.founding).where(monitors.c.id == monitor_id)).scalar()
    return None if body is None else dict(json.loads(body))


def load_monitor(tx: Connection, monitor_id: int) -> tuple[Monitor, int]:
    """See `EventLog.load`."""
    monitor, seq = _start(tx, monitor_id)
    while page := read_events(tx, monitor_id, after=seq, limit=PAGE):
        monitor.fold(logged.event for logged in page)
        seq = page[-1].seq
    return monitor, seq


def _start(tx: Connection, monitor_id: int) -> tuple[Monitor, int]:
    cached = read_snapshot(tx, monitor_id)
    if cached is not None:
        try:
            return Monitor.restore(cached[0]), cached[1]
        except SnapshotError:
            pass  # the log has everything
    founding = _founding(tx, monitor_id)
    if founding is None:
        raise DamagedError("the monitor has not been started: it has no calibration yet")
    anchors = AnchorSet.from_json(founding["anchors"]) if founding["anchors"] is not None else None
    config, calibration = MonitorConfig.from_json(founding["config"]), Calibration.from_json(founding["calibration"])
    return Monitor(config, calibration=calibration, anchors=anchors), 0


def write_snapshot(tx: Connection, monitor_id: int, state: Mapping[str, Any], seq: int, *, at: float) -> None:
    """See `EventLog.save_snapshot`."""
    body = json.dumps(state, separators=(",", ":")).encode()
    packed = zlib.compress(body, 1)
    tx.execute(delete(snapshots).where(snapshots.c.monitor_id == monitor_id))
    row = {"monitor_id": monitor_id, "seq": seq, "checksum": _checksum(body, seq), "state": packed, "at": at}
    tx.execute(insert(snapshots).values(**row))


def read_snapshot(tx: Connection, monitor_id: int) -> tuple[dict[str, Any], int] | None:
    """See `EventLog.load_snapshot`."""
    row = tx.execute(select(snapshots).where(snapshots.c.monitor_id == monitor_id)).first()
    if row is None:
        return None
    try:
        body = zlib.decompress(row.state)
    except zlib.error:
        return None
    if _checksum(body, row.seq) != row.checksum:
        return None
    return dict(json.loads(body)), int(row.seq)


def _checksum(body: bytes, seq: int) -> str:
    return hashlib.sha256(b"%d:" % seq + body).hexdigest()
