"""Alarms from their opening to their end, with the story of each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from driftjudge.store.tables import alarms as table
from driftjudge.store.tables import monitors

MOST_LINES = 200
"""Lines kept of one story: the first and the latest."""


@dataclass(frozen=True)
class AlarmRow:
    """One alarm as it is stored."""

    id: int
    monitor_id: int
    monitor: str
    epoch: int
    dedup_key: str
    state: str
    verdict: Mapping[str, Any]
    story: tuple[Mapping[str, Any], ...]
    opened_at: float
    acknowledged_at: float | None
    closed_at: float | None


def open_(
    tx: Connection, monitor_id: int, *, epoch: int, dedup_key: str, verdict: Mapping[str, Any],
    story: Sequence[Mapping[str, Any]], at: float,
) -> int:  # fmt: skip
    """A new alarm."""
    row = {"monitor_id": monitor_id, "epoch": epoch, "dedup_key": dedup_key, "state": "open", "opened_at": at}
    made = insert(table).values(**row, verdict=json.dumps(verdict), story=json.dumps(list(story)))
    return int(tx.execute(made.returning(table.c.id)).scalar_one())


def change(
    tx: Connection, alarm: AlarmRow, *, verdict: Mapping[str, Any] | None = None,
    lines: Sequence[Mapping[str, Any]] = (), **columns: Any,
) -> None:  # fmt: skip
    """Another verdict, state or moment, and what is to be told of it."""
    story = [*alarm.story, *lines]
    if len(story) > MOST_LINES:
        story = [*story[: MOST_LINES // 2], *story[-(MOST_LINES // 2) :]]
    values = {**columns, "story": json.dumps(story)}
    if verdict is not None:
        values["verdict"] = json.dumps(verdict)
    tx.execute(update(table).where(table.c.id == alarm.id).values(**values))


def latest(tx: Connection, monitor_id: int, *, epoch: int) -> AlarmRow | None:
    """The alarm of an epoch that is not closed."""
    mine = (table.c.monitor_id == monitor_id) & (table.c.epoch == epoch) & (table.c.state != "closed")
    row = tx.execute(_QUERY.where(mine).order_by(table.c.id.desc()).limit(1)).first()
    return None if row is None else _row(row)


def in_epoch(tx: Connection, monitor_id: int, *, epoch: int) -> int:
    """How many alarms an epoch has had."""
    query = select(func.count()).select_from(table).where(table.c.monitor_id == monitor_id, table.c.epoch == epoch)
    return int(tx.execute(query).scalar_one())


def get(tx: Connection, alarm_id: int) -> AlarmRow | None:
    """One alarm."""
    row = tx.execute(_QUERY.where(table.c.id == alarm_id)).first()
    return None if row is None else _row(row)


def unfinished(tx: Connection, monitor_id: int) -> list[AlarmRow]:
    """Alarms of a monitor that are not closed, oldest first."""
    mine = (table.c.monitor_id == monitor_id) & (table.c.state != "closed")
    return [_row(row) for row in tx.execute(_QUERY.where(mine).order_by(table.c.id))]


def page(tx: Connection, *, monitor_id: int | None, open_only: bool, before: int | None, limit: int) -> list[AlarmRow]:
    """Alarms, newest first."""
    query = _QUERY.order_by(table.c.id.desc()).limit(limit)
    if monitor_id is not None:
        query = query.where(table.c.monitor_id == monitor_id)
    if open_only:
        query = query.where(table.c.state != "closed")
    if before is not None:
        query = query.where(table.c.id < before)
    return [_row(row) for row in tx.execute(query)]


_QUERY = select(table, monitors.c.name).join(monitors, monitors.c.id == table.c.monitor_id)


def _row(row: Any) -> AlarmRow:
    return AlarmRow(
        int(row.id),
        int(row.monitor_id),
        row.name,
        int(row.epoch),
        row.dedup_key,
        row.state,
        json.loads(row.verdict),
        tuple(json.loads(row.story)),
        row.opened_at,
        row.acknowledged_at,
        row.closed_at,
    )
