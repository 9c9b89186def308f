"""What the judges score before a monitor starts or is re-anchored: baseline passes and calibration items."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from driftjudge.store.tables import setup_calls as table


@dataclass(frozen=True)
class SetupCall:
    """One score that is wanted, or was given."""

    role: str
    """`baseline` or `calibration`."""
    pass_: int
    place: int
    """Its row in the anchor set or among the calibration items."""
    subject: str
    stratum: str
    scores: Any | None


def add(tx: Connection, monitor_id: int, calls: Sequence[SetupCall]) -> None:
    """Want these scored; those that come with scores are done already."""
    rows = [
        {
            "monitor_id": monitor_id,
            "role": call.role,
            "pass_": call.pass_,
            "place": call.place,
            "subject": call.subject,
            "stratum": call.stratum,
            "scores": None if call.scores is None else json.dumps(call.scores),
        }
        for call in calls
    ]
    if rows:
        tx.execute(insert(table), rows)


def wanted(tx: Connection, monitor_id: int, *, limit: int) -> list[SetupCall]:
    """What is still to be scored."""
    mine = (table.c.monitor_id == monitor_id) & table.c.scores.is_(None)
    return [_call(row) for row in tx.execute(select(table).where(mine).order_by(*_ORDER).limit(limit))]


def everything(tx: Connection, monitor_id: int) -> list[SetupCall]:
    """All calls of this set-up, in order."""
    return [_call(row) for row in tx.execute(select(table).where(table.c.monitor_id == monitor_id).order_by(*_ORDER))]


def record(tx: Connection, monitor_id: int, call: SetupCall, scores: Mapping[str, Any] | Sequence[float]) -> bool:
    """Write an answer down; False where there is one already or nobody wants it any more."""
    mine = (table.c.monitor_id == monitor_id) & (table.c.role == call.role) & (table.c.pass_ == call.pass_)
    changed = tx.execute(
        update(table)
        .where(mine, table.c.place == call.place, table.c.subject == call.subject, table.c.scores.is_(None))
        .values(scores=json.dumps(scores))
    )
    return changed.rowcount == 1


def progress(tx: Connection, monitor_id: int) -> tuple[int, int]:
    """How many are done, of how many."""
    query = select(func.count(), func.count(table.c.scores)).where(table.c.monitor_id == monitor_id)
    total, done = tx.execute(query).one()
    return int(done), int(total)


def clear(tx: Connection, monitor_id: int) -> None:
    """The set-up is over."""
    tx.execute(delete(table).where(table.c.monitor_id == monitor_id))


_ORDER = (table.c.role, table.c.pass_, table.c.place)


def _call(row: Any) -> SetupCall:
    scores = None if row.scores is None else json.loads(row.scores)
    return SetupCall(row.role, int(row._mapping[table.c.pass_]), int(row.place), row.subject, row.stratum, scores)
