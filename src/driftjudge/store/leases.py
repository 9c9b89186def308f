"""One writer per monitor: a lease with an expiry, and a token that grows with every change of hands.

The expiry decides when somebody else may take over; safety does not rest on it. Every writing transaction checks its
token, so that a process that was away, and has lost its lease without noticing, cannot write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from driftjudge.store.tables import leases


@dataclass(frozen=True)
class Lease:
    """Who holds a monitor, until when."""

    monitor_id: int
    owner: str
    address: str
    token: int
    expires_at: float


def take(tx: Connection, monitor_id: int, *, owner: str, address: str, now: float, until: float) -> Lease:
    """Take a monitor that is free, expired or already ours; else return the lease of who holds it."""
    held = _held(tx, monitor_id)
    if held is not None and held.owner != owner and held.expires_at > now:
        return held
    lease = Lease(monitor_id, owner, address, 1 if held is None else held.token + 1, until)
    row = {"owner": owner, "address": address, "token": lease.token, "expires_at": lease.expires_at}
    if held is None:
        tx.execute(insert(leases).values(monitor_id=monitor_id, **row))
    else:
        tx.execute(update(leases).where(leases.c.monitor_id == monitor_id).values(**row))
    return lease


def lost(tx: Connection, tokens: Mapping[int, int]) -> set[int]:
    """Inside a writing transaction: which monitors are no longer held under their token; the others stay so until the

    commit, because on Postgres their rows are locked and on SQLite there is one writer at a time.
    """
    query = select(leases.c.monitor_id, leases.c.token).where(leases.c.monitor_id.in_(list(tokens)))
    if tx.dialect.name == "postgresql":
        query = query.order_by(leases.c.monitor_id).with_for_update()
    found = {int(row.monitor_id): int(row.token) for row in tx.execute(query)}
    return {monitor_id for monitor_id, token in tokens.items() if found.get(monitor_id) != token}


def renew(tx: Connection, tokens: Mapping[int, int], *, now: float, seconds: float) -> set[int]:
    """Keep what is still ours for longer; returns the monitors that are."""
    kept = set()
    for monitor_id in sorted(tokens):
        changed = tx.execute(
            update(leases)
            .where(leases.c.monitor_id == monitor_id, leases.c.token == tokens[monitor_id])
            .values(expires_at=now + seconds)
        )
        if changed.rowcount == 1:
            kept.add(monitor_id)
    return kept


def release(tx: Connection, tokens: Mapping[int, int]) -> None:
    """Let others take over at once."""
    for monitor_id in sorted(tokens):
        tx.execute(
            update(leases)
            .where(leases.c.monitor_id == monitor_id, leases.c.token == tokens[monitor_id])
            .values(expires_at=0.0)
        )


def expired(tx: Connection, *, now: float, limit: int) -> list[int]:
    """Monitors whose holder has not been heard of in time."""
    query = select(leases.c.monitor_id).where(leases.c.expires_at <= now).order_by(leases.c.expires_at).limit(limit)
    return [int(found) for found in tx.execute(query).scalars()]


def forget(tx: Connection, monitor_ids: Sequence[int]) -> None:
    """Monitors that nobody needs to hold any more."""
    tx.execute(delete(leases).where(leases.c.monitor_id.in_(list(monitor_ids))))


def _held(tx: Connection, monitor_id: int) -> Lease | None:
    query = select(leases).where(leases.c.monitor_id == monitor_id)
    if tx.dialect.name == "postgresql":
        query = query.with_for_update()
    row = tx.execute(query).first()
    if row is None:
        return None
    return Lease(int(row.monitor_id), row.owner, row.address, int(row.token), row.expires_at)
