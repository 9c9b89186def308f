"""Conditions: what keeps a monitor from seeing. One of a kind is open at a time, whoever notices it first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from driftjudge.store import outbox
from driftjudge.store.tables import conditions as table
from driftjudge.store.tables import monitors

MOST_DETAIL = 500


@dataclass(frozen=True)
class ConditionRow:
    """One condition as it is stored."""

    id: int
    monitor: str
    kind: str
    dedup_key: str
    detail: str
    opened_at: float
    closed_at: float | None


def open_(tx: Connection, monitor_id: int, monitor: str, kind: str, *, detail: str, at: float) -> outbox.Message | None:
    """Open it and tell the outbox; None where it is open already."""
    key = f"driftjudge:{monitor}:{kind}:{at:.3f}"
    row = {"monitor_id": monitor_id, "kind": kind, "dedup_key": key, "detail": detail[:MOST_DETAIL], "opened_at": at}
    if _open(tx, monitor_id, kind) is not None:
        return None
    try:
        with tx.begin_nested():
            tx.execute(insert(table).values(**row))
    except IntegrityError:  # another process was quicker
        return None
    return _tell(tx, monitor, key, kind, "opened", detail, at)


def close(tx: Connection, monitor_id: int, monitor: str, kind: str, *, detail: str, at: float) -> outbox.Message | None:
    """Close it and tell the outbox; None where it is not open."""
    row = _open(tx, monitor_id, kind)
    if row is None:
        return None
    mine = (table.c.id == row.id) & table.c.closed_at.is_(None)
    if tx.execute(update(table).where(mine).values(closed_at=at)).rowcount != 1:
        return None
    return _tell(tx, monitor, row.dedup_key, kind, "closed", detail, at)


def page(tx: Connection, *, monitor_id: int | None, open_only: bool, limit: int) -> list[ConditionRow]:
    """Conditions, newest first."""
    query = _QUERY.order_by(table.c.id.desc()).limit(limit)
    if monitor_id is not None:
        query = query.where(table.c.monitor_id == monitor_id)
    if open_only:
        query = query.where(table.c.closed_at.is_(None))
    return [_row(row) for row in tx.execute(query)]


def open_kinds(tx: Connection, monitor_ids: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """What is open, by monitor."""
    query = select(table.c.monitor_id, table.c.kind).where(table.c.closed_at.is_(None)).order_by(table.c.kind)
    if len(monitor_ids) <= 100:
        query = query.where(table.c.monitor_id.in_(list(monitor_ids)))
    found: dict[int, tuple[str, ...]] = {}
    for row in tx.execute(query):
        found[int(row.monitor_id)] = (*found.get(int(row.monitor_id), ()), row.kind)
    return found


def _tell(tx: Connection, monitor: str, key: str, kind: str, state: str, detail: str, at: float) -> outbox.Message:
    payload = {"condition": kind, "state": state, "detail": detail[:MOST_DETAIL]}
    return outbox.add(tx, monitor=monitor, dedup_key=key, kind="condition", payload=payload, at=at)


_QUERY = select(table, monitors.c.name).join(monitors, monitors.c.id == table.c.monitor_id)


def _open(tx: Connection, monitor_id: int, kind: str) -> ConditionRow | None:
    mine = (table.c.monitor_id == monitor_id) & (table.c.kind == kind) & table.c.closed_at.is_(None)
    row = tx.execute(_QUERY.where(mine)).first()
    return None if row is None else _row(row)


def _row(row: Any) -> ConditionRow:
    return ConditionRow(int(row.id), row.name, row.kind, row.dedup_key, row.detail, row.opened_at, row.closed_at)
