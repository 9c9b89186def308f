"""The anchors one by one: how often each was re-scored in this epoch, and how, for the report on disagreements."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from driftjudge.store.tables import rescores as table


@dataclass(frozen=True)
class Rescored:
    """One anchor's re-scores in one epoch of the anchors."""

    anchor_id: str
    epoch: int
    count: int
    unscored: int
    totals: tuple[float, ...]
    last: tuple[float, ...] | None
    at: float

    def with_scores(self, scores: tuple[float, ...] | None, at: float) -> Rescored:
        """One more re-score; None for one that gave no scores."""
        if scores is None:
            return Rescored(self.anchor_id, self.epoch, self.count, self.unscored + 1, self.totals, self.last, at)
        totals = tuple(a + b for a, b in zip(self.totals or (0.0,) * len(scores), scores, strict=True))
        return Rescored(self.anchor_id, self.epoch, self.count + 1, self.unscored, totals, scores, at)


def read(tx: Connection, monitor_id: int, *, epoch: int) -> dict[str, Rescored]:
    """The anchors that were re-scored in an epoch of the anchors."""
    rows = tx.execute(select(table).where(table.c.monitor_id == monitor_id, table.c.epoch == epoch))
    return {row.anchor_id: _rescored(row) for row in rows}


def write(tx: Connection, monitor_id: int, found: Mapping[str, Rescored]) -> None:
    """Keep the newest state of these anchors."""
    for anchor_id, one in sorted(found.items()):
        values = {
            "epoch": one.epoch,
            "count": one.count,
            "unscored": one.unscored,
            "totals": json.dumps(one.totals),
            "last": None if one.last is None else json.dumps(one.last),
            "at": one.at,
        }
        mine = (table.c.monitor_id == monitor_id) & (table.c.anchor_id == anchor_id)
        if tx.execute(update(table).where(mine).values(**values)).rowcount == 0:
            tx.execute(insert(table).values(monitor_id=monitor_id, anchor_id=anchor_id, **values))


def _rescored(row: Any) -> Rescored:
    last = None if row.last is None else tuple(json.loads(row.last))
    return Rescored(
        row.anchor_id,
        int(row.epoch),
        int(row._mapping["count"]),
        int(row.unscored),
        tuple(json.loads(row.totals)),
        last,
        row.at,
    )
