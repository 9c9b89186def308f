"""Every accepted item, for ever: ids are recognised however late they come again, and get the same answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from driftjudge.store.tables import items

CHUNK = 500
"""Ids asked for at once."""


@dataclass(frozen=True)
class Accepted:
    """One accepted item. `position` is None while its cheap scores are still to come."""

    item_id: str
    number: int
    body_hash: bytes
    stratum: str
    position: int | None
    asked: bool | None
    anchors: tuple[str, ...]
    cheap: Any | None
    """The cheap judge's answer, received and not yet observed because an older item waits."""
    strong_hash: bytes | None


def known(tx: Connection, monitor_id: int, ids: Sequence[str]) -> dict[str, Accepted]:
    """Those of the ids that were accepted before."""
    found: dict[str, Accepted] = {}
    for start in range(0, len(ids), CHUNK):
        part = list(ids[start : start + CHUNK])
        for row in tx.execute(select(items).where(items.c.monitor_id == monitor_id, items.c.item_id.in_(part))):
            found[row.item_id] = _accepted(row)
    return found


def row_of(monitor_id: int, item: Accepted) -> dict[str, Any]:
    """The row of a new item, ready to be inserted."""
    return {
        "monitor_id": monitor_id,
        "item_id": item.item_id,
        "number": item.number,
        "body_hash": item.body_hash,
        "stratum": item.stratum,
        "position": item.position,
        "asked": None if item.asked is None else int(item.asked),
        "anchors": json.dumps(item.anchors) if item.anchors else None,
        "cheap": None if item.cheap is None else json.dumps(item.cheap),
        "strong_hash": item.strong_hash,
    }


def add(tx: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert new items."""
    if rows:
        tx.execute(insert(items), list(rows))


def waiting(tx: Connection, monitor_id: int, *, after: int = 0, limit: int) -> list[Accepted]:
    """Items whose cheap scores are not observed yet, in order of acceptance."""
    query = select(items).where(items.c.monitor_id == monitor_id, items.c.position.is_(None), items.c.number > after)
    return [_accepted(row) for row in tx.execute(query.order_by(items.c.number).limit(limit))]


def count_waiting(tx: Connection, monitor_id: int) -> int:
    """How many items wait for the cheap judge."""
    query = select(func.count()).select_from(items)
    return int(tx.execute(query.where(items.c.monitor_id == monitor_id, items.c.position.is_(None))).scalar_one())


def last_waiting(tx: Connection, monitor_id: int) -> int:
    """Number of the newest item that waits; 0 for none."""
    query = select(func.max(items.c.number)).where(items.c.monitor_id == monitor_id, items.c.position.is_(None))
    return int(tx.execute(query).scalar() or 0)


_ONE = (items.c.monitor_id == bindparam("of_monitor")) & (items.c.item_id == bindparam("of_item"))


def keep_cheap(tx: Connection, rows: Sequence[tuple[int, str, Any]]) -> None:
    """Keep cheap answers (monitor, item, answer) that cannot be observed yet."""
    if rows:
        values = [{"of_monitor": m, "of_item": i, "answer": json.dumps(a)} for m, i, a in rows]
        tx.execute(update(items).where(_ONE).values(cheap=bindparam("answer")), values)


def place(tx: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Give waiting items their position and what was asked; keys as made by `place_row`."""
    if rows:
        changed: dict[str, Any] = {"position": bindparam("at_position"), "asked": bindparam("was_asked")}
        tx.execute(
            update(items).where(_ONE).values(anchors=bindparam("with_anchors"), cheap=None, **changed), list(rows)
        )


def place_row(monitor_id: int, item_id: str, position: int, asked: bool, anchors: tuple[str, ...]) -> dict[str, Any]:
    """One row for `place`."""
    named = json.dumps(anchors) if anchors else None
    return {
        "of_monitor": monitor_id,
        "of_item": item_id,
        "at_position": position,
        "was_asked": int(asked),
        "with_anchors": named,
    }


def mark_strong(tx: Connection, rows: Sequence[tuple[int, str, bytes]]) -> None:
    """Remember what strong scores (monitor, item, hash) were recorded, so that the same ones again count once."""
    if rows:
        values = [{"of_monitor": m, "of_item": i, "its_hash": h} for m, i, h in rows]
        tx.execute(update(items).where(_ONE).values(strong_hash=bindparam("its_hash")), values)


def _accepted(row: Any) -> Accepted:
    return Accepted(
        row.item_id,
        int(row.number),
        bytes(row.body_hash),
        row.stratum,
        None if row.position is None else int(row.position),
        None if row.asked is None else bool(row.asked),
        tuple(json.loads(row.anchors)) if row.anchors else (),
        None if row.cheap is None else json.loads(row.cheap),
        None if row.strong_hash is None else bytes(row.strong_hash),
    )
