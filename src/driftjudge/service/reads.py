"""Reads. A monitor in memory is read under its lock; one that is not, or that another process holds, from the log."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from sqlalchemy import Connection, func, select

from driftjudge.monitor import MonitorConfig
from driftjudge.monitor.events import event_to_json
from driftjudge.monitor.verdict import Verdict
from driftjudge.service.alarms import alarm_of
from driftjudge.service.clock import day_of
from driftjudge.service.codec import from_json
from driftjudge.service.errors import ConflictError, UnknownMonitorError
from driftjudge.service.host import Host
from driftjudge.service.hosts import Hosts
from driftjudge.service.values import (
    MOST_LISTED,
    Alarm,
    AnchorIn,
    AnchorLine,
    AnchorsReport,
    Condition,
    Costs,
    LoggedEvent,
    MonitorDetail,
    MonitorInfo,
    SpendingLine,
)
from driftjudge.store import (
    Store,
    alarms,
    conditions,
    items,
    payloads,
    registry,
    rescores,
    setup_calls,
    spending,
    tables,
)
from driftjudge.store.log import read_events

T = TypeVar("T")
FOLLOWED = 32
"""Monitors held for reading only."""


class Reads:
    """Everything that changes nothing."""

    def __init__(self, store: Store, hosts: Hosts) -> None:
        self._store, self._hosts = store, hosts
        self._followed: OrderedDict[str, Host] = OrderedDict()
        self._lock = threading.Lock()

    def row(self, tx: Connection, name: str) -> registry.Row:
        """A monitor as it is stored."""
        row = registry.get(tx, name)
        if row is None:
            raise UnknownMonitorError(f"there is no monitor {name[:100]!r}; create it, or check the name")
        return row

    def on(self, name: str, look: Callable[[Host, Connection], T]) -> T:
        """Look at a running monitor while nobody changes it."""
        host = self._hosts.loaded(name)
        if host is not None:
            with host.lock:
                if not host.stale and host.monitor is not None:
                    with self._store.read() as tx:
                        return look(host, tx)
        with self._lock, self._store.read() as tx:
            return look(self._follow(tx, name), tx)

    def _follow(self, tx: Connection, name: str) -> Host:
        row = self.row(tx, name)
        host = self._followed.get(name)
        if host is None or host.monitor is None or host.anchor_epoch != (row.summary or {}).get("anchor_epoch", 1):
            host = Host.load(tx, row)
            if host.monitor is None:
                raise ConflictError(f"monitor {name!r} is {host.state}: it has no evidence until it is calibrated")
            self._followed[name] = host
            while len(self._followed) > FOLLOWED:
                self._followed.popitem(last=False)
            return host
        self._followed.move_to_end(name)
        assert host.monitor is not None
        while page := read_events(tx, host.id, after=host.seq, limit=1_000):
            host.monitor.fold(one.event for one in page)
            host.seq = page[-1].seq
        fresh = Host(row, host.config)
        host.summary, host.state, host.settings = fresh.summary, fresh.state, fresh.settings
        return host

    # Lists and pages.

    def monitors(self, after: str, limit: int, archived: bool) -> tuple[MonitorInfo, ...]:
        """By name."""
        with self._store.read() as tx:
            rows = registry.page(tx, after=after, limit=min(limit, MOST_LISTED), archived=archived)
            return self._infos(tx, rows)

    def info(self, tx: Connection, name: str) -> MonitorInfo:
        """One of them."""
        return self._infos(tx, [self.row(tx, name)])[0]

    def _infos(self, tx: Connection, rows: Sequence[registry.Row]) -> tuple[MonitorInfo, ...]:
        ids = [row.id for row in rows]
        opened = conditions.open_kinds(tx, ids)
        counted = select(tables.alarms.c.monitor_id, func.count()).where(tables.alarms.c.state == "open")
        alarmed = {int(m): int(n) for m, n in tx.execute(counted.group_by(tables.alarms.c.monitor_id))}
        return tuple(_info(row, opened.get(row.id, ()), alarmed.get(row.id, 0)) for row in rows)

    def detail(self, tx: Connection, name: str, host: Host | None = None) -> MonitorDetail:
        """One monitor with everything it was set up with."""
        row = self.row(tx, name)
        shown = host or Host(row, MonitorConfig.from_json(row.config))
        done, wanted = setup_calls.progress(tx, row.id)
        strong = anchors = 0
        if host is None and (row.summary or {}).get("waits") and row.state == "running":
            strong, anchors = self.on(name, lambda found, _: _waiting(found))
        elif host is not None:
            strong, anchors = _waiting(host)
        return MonitorDetail(
            info=self._infos(tx, [row])[0],
            config=shown.config,
            settings=shown.settings,
            waiting_cheap=items.count_waiting(tx, row.id),
            waiting_strong=strong,
            waiting_anchors=anchors,
            setup_done=done,
            setup_wanted=wanted,
            setup_error=(row.summary or {}).get("setup_error"),
        )

    def verdict(self, name: str) -> Verdict:
        """As committed."""
        with self._store.read() as tx:
            row = self.row(tx, name)
        summary = row.summary or {}
        if "verdict" not in summary:
            raise ConflictError(f"monitor {name!r} is {row.state}: it has no verdict until it is calibrated")
        return from_json(Verdict, summary["verdict"])

    def events(self, name: str, after: int, limit: int) -> tuple[LoggedEvent, ...]:
        """One page of the log."""
        with self._store.read() as tx:
            row = self.row(tx, name)
            page = read_events(tx, row.id, after=after, limit=min(limit, MOST_LISTED))
        return tuple(LoggedEvent(one.seq, one.at, event_to_json(one.event), one.fingerprint) for one in page)

    def alarms(self, name: str | None, open_only: bool, before: int | None, limit: int) -> tuple[Alarm, ...]:
        """Newest first."""
        with self._store.read() as tx:
            monitor_id = None if name is None else self.row(tx, name).id
            limit = min(limit, MOST_LISTED)
            found = alarms.page(tx, monitor_id=monitor_id, open_only=open_only, before=before, limit=limit)
        return tuple(alarm_of(row) for row in found)

    def conditions(self, name: str | None, open_only: bool, limit: int) -> tuple[Condition, ...]:
        """Newest first."""
        with self._store.read() as tx:
            monitor_id = None if name is None else self.row(tx, name).id
            limit = min(limit, MOST_LISTED)
            found = conditions.page(tx, monitor_id=monitor_id, open_only=open_only, limit=limit)
        return tuple(Condition(**vars(row)) for row in found)

    def costs(self, name: str, days: int, now: float) -> Costs:
        """Newest day first."""
        with self._store.read() as tx:
            row = self.row(tx, name)
            lines = spending.lines(tx, row.id, limit=min(MOST_LISTED, max(1, days) * 20))
            today = spending.dollars(tx, row.id, day=day_of(now))
            total = spending.dollars(tx, row.id)
        shown = Host(row, MonitorConfig.from_json(row.config))
        relative = None
        if row.summary is not None and "verdict" in row.summary:
            relative = self.on(name, lambda host, _: host.monitor.cost if host.monitor is not None else None)
        kept = sorted({key[1] for key, _ in lines}, reverse=True)[: max(1, days)]
        return Costs(
            relative=relative,
            dollars_today=today,
            dollars_total=total,
            daily_dollars=shown.settings.judging.daily_dollars,
            lines=tuple(SpendingLine(key[1], key[2], key[3], *one) for key, one in lines if key[1] in kept),
        )

    def anchors_report(self, name: str, offset: int, limit: int) -> AnchorsReport:
        """Largest disagreement first."""

        def look(host: Host, tx: Connection) -> AnchorsReport:
            return anchors_report(host, tx, max(0, offset), min(limit, MOST_LISTED))

        return self.on(name, look)

    def frozen_anchors(self, name: str) -> tuple[tuple[AnchorIn, ...], float | None]:
        """The set in force, in its own order, and its resolution."""
        return self.on(name, frozen_anchors)


def frozen_anchors(host: Host, tx: Connection) -> tuple[tuple[AnchorIn, ...], float | None]:
    """The anchors as they were uploaded, without their passes."""
    anchors = host.running.anchors
    if anchors is None:
        return (), None
    texts = payloads.get(tx, host.id, "anchor", anchors.ids)
    strata = anchors.strata or (None,) * len(anchors.ids)
    found = [
        AnchorIn(anchor, tuple(human), texts[anchor].fields if anchor in texts else None, stratum)
        for anchor, human, stratum in zip(anchors.ids, anchors.human.tolist(), strata, strict=True)
    ]
    return tuple(found), anchors.resolution


def anchors_report(host: Host, tx: Connection, offset: int, limit: int) -> AnchorsReport:
    """How the judge stands to the humans and to itself."""
    monitor = host.monitor
    assert monitor is not None
    anchors, baseline = monitor.anchors, monitor.baseline
    if anchors is None or baseline is None:
        return AnchorsReport(None, 0, (), None, (), 0, ("no anchors: an alarm cannot be attributed",))
    rescored = rescores.read(tx, host.id, epoch=host.anchor_epoch)
    kept = {int(a): i for i, a in enumerate(baseline.kept.tolist())}
    lines = []
    for place, anchor in enumerate(anchors.ids):
        human = tuple(anchors.human[place].tolist())
        usual: tuple[float | None, ...] = (None,) * len(human)
        if place in kept:
            usual = tuple(None if np.isnan(x) else float(x) for x in baseline.usual[kept[place]])
        one = rescored.get(anchor)
        last = None if one is None else one.last
        mean = None if one is None or not one.count else tuple(total / one.count for total in one.totals)
        apart = None if last is None else max(abs(a - b) for a, b in zip(last, human, strict=True))
        count, unscored = (0, 0) if one is None else (one.count, one.unscored)
        stratum = None if anchors.strata is None else anchors.strata[place]
        lines.append(AnchorLine(anchor, human, usual, last, mean, count, unscored, apart, place in kept, None, stratum))
    lines.sort(key=lambda line: (-(line.disagreement if line.disagreement is not None else -1.0), line.id))
    page = lines[offset : offset + limit]
    texts = payloads.get(tx, host.id, "anchor", [line.id for line in page])
    shown = tuple(
        AnchorLine(**{**vars(line), "texts": texts[line.id].fields if line.id in texts else None}) for line in page
    )
    return AnchorsReport(
        frozen=anchors.freeze_hash,
        passes=len(anchors.passes),
        shifts=monitor.evidence().shifts,
        last_scored_at=host.summary.get("rescored_at"),
        lines=shown,
        total=len(lines),
        notes=baseline.notes,
    )


def _waiting(host: Host) -> tuple[int, int]:
    if host.monitor is None:
        return 0, 0
    return len(host.monitor.pending_items), len(host.monitor.pending_anchors)


def _info(row: registry.Row, opened: Sequence[str], alarmed: int) -> MonitorInfo:
    summary: dict[str, Any] = dict(row.summary or {})
    return MonitorInfo(
        name=row.name,
        state=row.state,  # type: ignore[arg-type]
        created_at=row.created_at,
        last_item_at=row.last_item_at if summary.get("accepted") else None,
        accepted=int(summary.get("accepted", 0)),
        position=int(summary.get("position", 0)),
        verdict=from_json(Verdict, summary["verdict"]) if "verdict" in summary else None,
        log_e_system=summary.get("log_e_system"),
        log_e_judge=summary.get("log_e_judge"),
        conditions=tuple(opened),  # type: ignore[arg-type]
        open_alarms=alarmed,
        anchored=bool(summary.get("anchored", False)),
        anchors=int(summary.get("anchors", 0)),
        frozen=summary.get("frozen"),
        system_threshold=summary.get("thresholds", [None, None])[0],
        judge_threshold=summary.get("thresholds", [None, None])[1],
    )
