"""The audit trail: who did which administrative act, and when; rows are only ever added."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from driftjudge.store.tables import audit as table


@dataclass(frozen=True)
class Act:
    """One administrative act."""

    id: int
    at: float
    actor: str
    action: str
    monitor: str
    detail: Mapping[str, Any]


def note(
    tx: Connection, *, actor: str, action: str, monitor: str = "", detail: Mapping[str, Any] | None = None, at: float
) -> None:
    """Write an act down, in the transaction that performs it."""
    row = {"at": at, "actor": actor, "action": action, "monitor": monitor, "detail": json.dumps(dict(detail or {}))}
    tx.execute(insert(table).values(**row))


def page(tx: Connection, *, before: int | None = None, monitor: str | None = None, limit: int = 100) -> list[Act]:
    """Acts, newest first."""
    query = select(table).order_by(table.c.id.desc()).limit(limit)
    if before is not None:
        query = query.where(table.c.id < before)
    if monitor is not None:
        query = query.where(table.c.monitor == monitor)
    return [
        Act(int(row.id), row.at, row.actor, row.action, row.monitor, json.loads(row.detail))
        for row in tx.execute(query)
    ]
