"""Texts: those of stream items go when they are old and judged, those of anchors stay. Evidence needs neither."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, tuple_, update

from driftjudge.store.tables import payloads

CHUNK = 500
PURGED_AT_ONCE = 1_000
"""Rows deleted in one transaction, so that nobody waits long for it."""


@dataclass(frozen=True)
class Texts:
    """The named texts of one item, anchor or calibration item."""

    subject: str
    stratum: str
    fields: Mapping[str, str]


def row_of(
    monitor_id: int, role: str, subject: str, stratum: str, fields: Mapping[str, str], *, needed: bool, at: float
) -> dict[str, Any]:
    """The row of new texts, ready to be inserted. `needed`: a judge still has to see them."""
    return {
        "monitor_id": monitor_id,
        "role": role,
        "subject": subject,
        "stratum": stratum,
        "fields": json.dumps(dict(fields), separators=(",", ":")),
        "needed": int(needed),
        "at": at,
    }


def add(tx: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert new texts."""
    if rows:
        tx.execute(insert(payloads), list(rows))


def get(tx: Connection, monitor_id: int, role: str, subjects: Sequence[str]) -> dict[str, Texts]:
    """The texts there still are."""
    found: dict[str, Texts] = {}
    for start in range(0, len(subjects), CHUNK):
        part = list(subjects[start : start + CHUNK])
        query = select(payloads.c.subject, payloads.c.stratum, payloads.c.fields)
        mine = (payloads.c.monitor_id == monitor_id) & (payloads.c.role == role) & payloads.c.subject.in_(part)
        for row in tx.execute(query.where(mine)):
            found[row.subject] = Texts(row.subject, row.stratum, json.loads(row.fields))
    return found


def release(tx: Connection, rows: Sequence[tuple[int, str]]) -> None:
    """No judge needs the texts of these stream items (monitor, item) any more."""
    if rows:
        mine = (payloads.c.monitor_id == bindparam("of_monitor")) & (payloads.c.subject == bindparam("of_item"))
        query = update(payloads).where(mine, payloads.c.role == "item").values(needed=0)
        tx.execute(query, [{"of_monitor": m, "of_item": i} for m, i in rows])


def drop(tx: Connection, monitor_id: int, role: str) -> None:
    """Delete all texts of a role, for example of an anchor set that is replaced."""
    tx.execute(delete(payloads).where(payloads.c.monitor_id == monitor_id, payloads.c.role == role))


def has_old(tx: Connection, monitor_id: int, *, before: float) -> bool:
    """Whether there is anything to purge."""
    old = (payloads.c.monitor_id == monitor_id) & (payloads.c.role == "item") & (payloads.c.needed == 0)
    return tx.execute(select(payloads.c.subject).where(old, payloads.c.at < before).limit(1)).first() is not None


def purge(tx: Connection, monitor_id: int, *, before: float) -> int:
    """Delete texts of judged stream items accepted before then, a bounded number; returns how many."""
    old = (payloads.c.monitor_id == monitor_id) & (payloads.c.role == "item") & (payloads.c.needed == 0)
    keys = (payloads.c.monitor_id, payloads.c.role, payloads.c.subject)
    found = [tuple(row) for row in tx.execute(select(*keys).where(old, payloads.c.at < before).limit(PURGED_AT_ONCE))]
    if found:
        tx.execute(delete(payloads).where(tuple_(*keys).in_(found)))
    return len(found)


def rename(tx: Connection, monitor_id: int, role: str, new: str) -> None:
    """Give all texts of a role another one."""
    mine = (payloads.c.monitor_id == monitor_id) & (payloads.c.role == role)
    tx.execute(update(payloads).where(mine).values(role=new))
