"""Keys under which an answer is kept: the same body gets it again, another body is refused."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from driftjudge.store.errors import KeyReusedError
from driftjudge.store.tables import idempotency as table

KEPT_SECONDS = 7 * 86_400.0
LONGEST_KEY = 255


def answer(tx: Connection, scope: str, key: str, body: str) -> Any | None:
    """The answer given before to the same body; None for a new key."""
    row = tx.execute(select(table.c.body, table.c.answer).where(table.c.scope == scope, table.c.key == key)).first()
    if row is None:
        return None
    if row.body != body:
        raise KeyReusedError(
            f"the idempotency key {key[:80]!r} was used for another request; use a new key for a new request"
        )
    return json.loads(row.answer)


def keep(tx: Connection, scope: str, key: str, body: str, given: Any, *, at: float) -> None:
    """Keep an answer, in the transaction that made it."""
    tx.execute(insert(table).values(scope=scope, key=key, body=body, answer=json.dumps(given), at=at))


def forget(tx: Connection, *, before: float) -> int:
    """Delete keys older than a moment; returns how many."""
    return int(tx.execute(delete(table).where(table.c.at < before)).rowcount)
