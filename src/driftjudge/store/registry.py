"""The monitors there are, and what each was set up with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from driftjudge.store.errors import KeyReusedError
from driftjudge.store.tables import monitors


@dataclass(frozen=True)
class Row:
    """A monitor as it is stored."""

    id: int
    name: str
    state: str
    config: Mapping[str, Any]
    settings: Mapping[str, Any]
    created_at: float
    last_item_at: float | None
    summary: Mapping[str, Any] | None
    """What a list shows of it, kept so that a list of thousands loads none of them."""


def create(tx: Connection, *, name: str, config: Mapping[str, Any], settings: Mapping[str, Any], at: float) -> int:
    """A new monitor in the state `draft`."""
    row = {"name": name, "state": "draft", "config": json.dumps(config), "settings": json.dumps(settings)}
    try:
        with tx.begin_nested():
            made = tx.execute(insert(monitors).values(**row, created_at=at).returning(monitors.c.id)).scalar_one()
    except IntegrityError as error:
        raise KeyReusedError(f"there is a monitor {name!r} already; choose another name") from error
    return int(made)


def get(tx: Connection, name: str) -> Row | None:
    """One monitor by name."""
    row = tx.execute(_QUERY.where(monitors.c.name == name)).first()
    return None if row is None else _row(row)


def by_ids(tx: Connection, ids: Sequence[int]) -> list[Row]:
    """Monitors by their numbers."""
    return [_row(row) for row in tx.execute(_QUERY.where(monitors.c.id.in_(list(ids))))]


def page(tx: Connection, *, after: str, limit: int, archived: bool) -> list[Row]:
    """Monitors by name."""
    query = _QUERY.where(monitors.c.name > after)
    if not archived:
        query = query.where(monitors.c.state != "archived")
    return [_row(row) for row in tx.execute(query.order_by(monitors.c.name).limit(limit))]


def change(tx: Connection, monitor_id: int, **values: Any) -> None:
    """Set columns; mappings are written as JSON."""
    packed = {name: json.dumps(value) if isinstance(value, Mapping) else value for name, value in values.items()}
    tx.execute(update(monitors).where(monitors.c.id == monitor_id).values(**packed))


def silent(tx: Connection, *, since: float, limit: int) -> list[Row]:
    """Running monitors without an item since then."""
    query = _QUERY.where(monitors.c.state == "running", monitors.c.last_item_at < since)
    return [_row(row) for row in tx.execute(query.order_by(monitors.c.last_item_at).limit(limit))]


def anchors_draft(tx: Connection, monitor_id: int) -> dict[str, Any] | None:
    """The anchor set that was uploaded and is not in use yet."""
    body = tx.execute(select(monitors.c.anchors_draft).where(monitors.c.id == monitor_id)).scalar()
    return None if body is None else dict(json.loads(body))


_QUERY = select(
    monitors.c.id,
    monitors.c.name,
    monitors.c.state,
    monitors.c.config,
    monitors.c.settings,
    monitors.c.created_at,
    monitors.c.last_item_at,
    monitors.c.summary,
)


def _row(row: Any) -> Row:
    summary = None if row.summary is None else json.loads(row.summary)
    return Row(
        int(row.id),
        row.name,
        row.state,
        json.loads(row.config),
        json.loads(row.settings),
        row.created_at,
        row.last_item_at,
        summary,
    )
