"""What the judges cost, per day, role and fingerprint; written with the answers that were paid for."""

from __future__ import annotations

from collections.abc import Mapping
from operator import add as add_two
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, insert, select, update

from driftjudge.store.tables import spending as table

Key = tuple[int, str, str, str]
"""Monitor, day, role, fingerprint."""


class Spent(NamedTuple):
    """Sums over answers; `plus` adds them."""

    answers: int = 0
    unscored: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float = 0.0
    unpriced: int = 0

    def plus(self, other: Spent) -> Spent:
        """The sums of both."""
        return Spent(*map(add_two, self, other))


def add(tx: Connection, spent: Mapping[Key, Spent]) -> None:
    """Add to the sums."""
    for (monitor_id, day, role, fingerprint), one in sorted(spent.items()):
        where = {"monitor_id": monitor_id, "day": day, "role": role, "fingerprint": fingerprint}
        mine = [table.c[name] == value for name, value in where.items()]
        grown: dict[str, Any] = {name: table.c[name] + value for name, value in one._asdict().items()}
        if tx.execute(update(table).where(*mine).values(**grown)).rowcount == 0:
            tx.execute(insert(table).values(**where, **one._asdict()))


def lines(tx: Connection, monitor_id: int, *, limit: int) -> list[tuple[Key, Spent]]:
    """Sums by day, newest first."""
    query = select(table).where(table.c.monitor_id == monitor_id)
    ordered = query.order_by(table.c.day.desc(), table.c.role, table.c.fingerprint).limit(limit)
    return [
        ((monitor_id, row.day, row.role, row.fingerprint), Spent(*(getattr(row, name) for name in Spent._fields)))
        for row in tx.execute(ordered)
    ]


def dollars(tx: Connection, monitor_id: int, *, day: str | None = None) -> float:
    """Dollars of a day, or of all days."""
    query = select(func.sum(table.c.dollars)).where(table.c.monitor_id == monitor_id)
    return float(tx.execute(query if day is None else query.where(table.c.day == day)).scalar() or 0.0)
