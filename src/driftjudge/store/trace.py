"""Evidence over time, at a bounded number of positions: when there are too many, every other one goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from driftjudge.store.tables import trace as table

MOST_POINTS = 800
"""Points kept per monitor; a thinned trace has half as many."""


@dataclass(frozen=True)
class Point:
    """Both families after a position."""

    position: int
    log_e_system: float
    log_e_judge: float | None
    strong_calls: int
    anchor_calls: int
    at: float


def stride_of(position: int) -> int:
    """Distance between kept positions when the stream is this long: a power of two, so that thinning keeps its points.

    >>> stride_of(799), stride_of(800), stride_of(1_000_000)
    (1, 2, 2048)
    """
    stride = 1
    while position // stride >= MOST_POINTS:
        stride *= 2
    return stride


def add(tx: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert points."""
    if rows:
        tx.execute(insert(table), list(rows))


def row_of(monitor_id: int, point: Point) -> dict[str, Any]:
    """The row of a point."""
    return {"monitor_id": monitor_id, **vars(point)}


def thin(tx: Connection, monitor_id: int, stride: int) -> None:
    """Keep positions that are multiples of the stride."""
    tx.execute(delete(table).where(table.c.monitor_id == monitor_id, table.c.position % stride != 0))


def read(tx: Connection, monitor_id: int) -> list[Point]:
    """The points, in order."""
    columns = (table.c[name] for name in Point.__dataclass_fields__)
    rows = tx.execute(select(*columns).where(table.c.monitor_id == monitor_id).order_by(table.c.position))
    return [Point(*row) for row in rows]
