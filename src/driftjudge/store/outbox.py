"""The transactional outbox: an alert is a row written with the change it tells of, and delivered at least once.

`add` is called inside the transaction of the verdict or condition change. A deliverer registers its sinks with `enroll`
(rows from then on are theirs), takes what is `due`, and reports `accepted` or `failed`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, exists, func, insert, or_, select, update

from driftjudge.store.tables import alarms, conditions, deliveries, outbox

KINDS = ("opened", "attributed", "acknowledged", "closed", "condition")
"""`acknowledged` is for subscribers and for sinks that know such a state; others skip it by accepting it."""
KEPT_SECONDS = 30 * 86_400.0
"""How long messages stay after their alarm is over; subscribers can make up for what they missed since."""
FORGOTTEN_AT_ONCE = 1_000
MOST_REPEATED = 1_000
MOST_ERROR = 500
"""Characters kept of a refusal."""


@dataclass(frozen=True)
class Message:
    """One change to be told."""

    id: int
    monitor: str
    dedup_key: str
    kind: str
    payload: Mapping[str, Any]
    at: float


@dataclass(frozen=True)
class Delivery:
    """One message on its way to one sink."""

    message: Message
    sink: str
    attempts: int
    next_attempt_at: float
    accepted_at: float | None
    last_error: str


def add(tx: Connection, *, monitor: str, dedup_key: str, kind: str, payload: Mapping[str, Any], at: float) -> Message:
    """Write a change down; it is told if, and only if, the transaction commits."""
    assert kind in KINDS, kind
    row: dict[str, Any] = {"monitor": monitor, "dedup_key": dedup_key, "kind": kind, "at": at}
    row["payload"] = json.dumps(payload)
    made = tx.execute(insert(outbox).values(**row).returning(outbox.c.id)).scalar_one()
    return Message(int(made), monitor, dedup_key, kind, json.loads(row["payload"]), at)


def messages(tx: Connection, *, after: int, limit: int = 1_000) -> list[Message]:
    """Changes after an id, in order."""
    rows = tx.execute(select(outbox).where(outbox.c.id > after).order_by(outbox.c.id).limit(limit)).all()
    return [message_of(row) for row in rows]


def last_id(tx: Connection) -> int:
    """Id of the newest change; 0 for none."""
    return int(tx.execute(select(func.max(outbox.c.id))).scalar() or 0)


def enroll(tx: Connection, sink: str, *, after: int, now: float, limit: int = 1_000) -> int:
    """Make deliveries to `sink` for messages after an id that have none yet; returns how many were made."""
    known = exists().where(deliveries.c.outbox_id == outbox.c.id, deliveries.c.sink == sink)
    ids = tx.execute(select(outbox.c.id).where(outbox.c.id > after, ~known).order_by(outbox.c.id).limit(limit))
    rows = [
        {
            "outbox_id": int(made),
            "sink": sink,
            "attempts": 0,
            "next_attempt_at": now,
            "accepted_at": None,
            "last_error": "",
        }
        for made in ids.scalars()
    ]
    if rows:
        tx.execute(insert(deliveries), rows)
    return len(rows)


def due(tx: Connection, *, now: float, sinks: Sequence[str], limit: int = 100) -> list[Delivery]:
    """Deliveries whose time has come, oldest message first."""
    query = select(outbox, deliveries).join(deliveries, deliveries.c.outbox_id == outbox.c.id)
    waiting = deliveries.c.accepted_at.is_(None) & (deliveries.c.next_attempt_at <= now) & deliveries.c.sink.in_(sinks)
    return [_delivery(row) for row in tx.execute(query.where(waiting).order_by(outbox.c.id).limit(limit))]


def heads(tx: Connection, *, now: float, limit: int = 100) -> list[Delivery]:
    """Of every alarm and sink the oldest message still on its way, where its time has come; sinks take turns.

    Taking turns matters: a sink that is away for days must not fill every round with what waits for it.
    """
    waiting = deliveries.c.accepted_at.is_(None)
    first = (
        select(deliveries.c.sink, func.min(outbox.c.id).label("id"))
        .join(outbox, deliveries.c.outbox_id == outbox.c.id)
        .where(waiting)
        .group_by(deliveries.c.sink, outbox.c.dedup_key)
        .subquery()
    )
    turn = func.row_number().over(
        partition_by=deliveries.c.sink, order_by=(deliveries.c.next_attempt_at, deliveries.c.outbox_id)
    )
    query = (
        select(outbox, deliveries)
        .join(deliveries, deliveries.c.outbox_id == outbox.c.id)
        .join(first, (first.c.id == deliveries.c.outbox_id) & (first.c.sink == deliveries.c.sink))
        .where(waiting, deliveries.c.next_attempt_at <= now)
        .order_by(turn, outbox.c.id)
        .limit(limit)
    )
    return [_delivery(row) for row in tx.execute(query)]


def undelivered(tx: Connection, *, limit: int = 1_000) -> list[Delivery]:
    """Everything still on its way, oldest first."""
    query = select(outbox, deliveries).join(deliveries, deliveries.c.outbox_id == outbox.c.id)
    return [
        _delivery(row)
        for row in tx.execute(query.where(deliveries.c.accepted_at.is_(None)).order_by(outbox.c.id).limit(limit))
    ]


def accepted(tx: Connection, outbox_id: int, sink: str, *, at: float) -> None:
    """The sink took it."""
    tx.execute(
        update(deliveries)
        .where(deliveries.c.outbox_id == outbox_id, deliveries.c.sink == sink)
        .values(accepted_at=at, attempts=deliveries.c.attempts + 1, last_error="")
    )


def failed(tx: Connection, outbox_id: int, sink: str, *, error: str, next_attempt_at: float, at: float) -> None:
    """The sink did not take it; it is tried again then."""
    tx.execute(
        update(deliveries)
        .where(deliveries.c.outbox_id == outbox_id, deliveries.c.sink == sink)
        .values(
            attempts=deliveries.c.attempts + 1,
            next_attempt_at=next_attempt_at,
            last_error=error[:MOST_ERROR],
            failed_at=at,
        )
    )


def repeat(tx: Connection, sinks: Sequence[str], *, taken_before: float, now: float) -> int:
    """Of every alarm that is not over, let these sinks have again what they took last, if that was long ago."""
    later, told = outbox.alias(), deliveries.alias()
    followed = exists().where(
        later.c.dedup_key == outbox.c.dedup_key,
        later.c.id > outbox.c.id,
        told.c.outbox_id == later.c.id,
        told.c.sink == deliveries.c.sink,
    )
    open_keys = select(alarms.c.dedup_key).where(alarms.c.state != "closed")
    open_keys_too = select(conditions.c.dedup_key).where(conditions.c.closed_at.is_(None))
    query = (
        select(deliveries.c.outbox_id, deliveries.c.sink)
        .join(outbox, deliveries.c.outbox_id == outbox.c.id)
        .where(
            outbox.c.dedup_key.in_(open_keys.union_all(open_keys_too)),
            deliveries.c.sink.in_(list(sinks)),
            deliveries.c.accepted_at <= taken_before,
            ~followed,
        )
        .order_by(deliveries.c.accepted_at)
        .limit(MOST_REPEATED)
    )
    found = tx.execute(query).all()
    for row in found:
        mine = deliveries.c.outbox_id == row.outbox_id, deliveries.c.sink == row.sink
        tx.execute(update(deliveries).where(*mine).values(accepted_at=None, attempts=0, next_attempt_at=now))
    return len(found)


def bring_forward(tx: Connection, outbox_id: int, sink: str, *, at: float) -> None:
    """What was told earlier of the same alarm and is only held back for a sink goes out by then too.

    A later message never overtakes an earlier one, so whoever may be told of the later one now is told of both.
    """
    key = select(outbox.c.dedup_key).where(outbox.c.id == outbox_id).scalar_subquery()
    earlier = select(outbox.c.id).where(outbox.c.id < outbox_id, outbox.c.dedup_key == key)
    held = (
        deliveries.c.outbox_id.in_(earlier),
        deliveries.c.sink == sink,
        deliveries.c.accepted_at.is_(None),
        deliveries.c.attempts == 0,
        deliveries.c.last_error == "",  # otherwise it is being sent
        deliveries.c.next_attempt_at > at,
    )
    tx.execute(update(deliveries).where(*held).values(next_attempt_at=at))


def forget(tx: Connection, *, before: float) -> int:
    """Delete what was told of alarms that are over, if all of it is older than a moment and every sink has taken it.

    An alarm goes as a whole: who is told of its end depends on who was told of its beginning.
    """
    told = outbox.alias()
    sent = exists().where(deliveries.c.outbox_id == told.c.id)
    waiting = sent.where(deliveries.c.accepted_at.is_(None))
    kept = exists().where(told.c.dedup_key == outbox.c.dedup_key, or_(told.c.at >= before, waiting, ~sent))
    query = select(outbox.c.id).where(outbox.c.at < before, ~kept, ~_unfinished()).order_by(outbox.c.id)
    ids = [int(made) for made in tx.execute(query.limit(FORGOTTEN_AT_ONCE)).scalars()]
    if ids:
        tx.execute(delete(deliveries).where(deliveries.c.outbox_id.in_(ids)))
        tx.execute(delete(outbox).where(outbox.c.id.in_(ids)))
    return len(ids)


def _unfinished() -> ColumnElement[bool]:
    """The alarm or condition of a message is not over."""
    return or_(
        exists().where(alarms.c.dedup_key == outbox.c.dedup_key, alarms.c.state != "closed"),
        exists().where(conditions.c.dedup_key == outbox.c.dedup_key, conditions.c.closed_at.is_(None)),
    )


def message_of(row: Any) -> Message:
    """A row of the outbox as a value."""
    return Message(int(row.id), row.monitor, row.dedup_key, row.kind, json.loads(row.payload), row.at)


def _delivery(row: Any) -> Delivery:
    return Delivery(message_of(row), row.sink, row.attempts, row.next_attempt_at, row.accepted_at, row.last_error)
