"""The store's outbox as deliveries see it: routed once, claimed while it is sent, in order per alarm and sink."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from sqlalchemy import Connection, exists, func, insert, select, update

from driftjudge.service.alerts.alert import Alert
from driftjudge.service.alerts.compose import alert_of
from driftjudge.service.alerts.delivery import Delivery
from driftjudge.store import Store
from driftjudge.store import outbox as store_outbox
from driftjudge.store.tables import deliveries, outbox

ROUTED = "@routed"
"""A delivery to nobody that marks an alert as assigned; no sink can have this name, which starts with a sign."""
CLAIM = 60.0
"""Seconds another process leaves a delivery alone that this one has begun: longer than any attempt takes."""
CLAIMED = "being sent"
"""Stands for the last refusal while a delivery is claimed."""
MOST_EARLIER = 20
"""Messages of one alarm that are looked at to see who has heard of it: the first ones decide."""


SETTLED = 3_600.0
"""Seconds after which no transaction is still open that could bring a row in below one that was seen."""


class StoreOutbox:
    """Implements `delivery.Outbox`."""

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: how long something has been so, whatever the time of day."""
        self._store = store
        self._clock = clock
        self._assigned = 0
        """Up to here every alert was assigned, and none can come in any more."""
        self._seen = clock(), 0

    def unrouted(self, limit: int) -> list[tuple[int, Alert]]:
        """Alerts that were not yet assigned to sinks, oldest first."""
        marked = exists().where(deliveries.c.outbox_id == outbox.c.id, deliveries.c.sink == ROUTED)
        query = select(outbox.c.id).where(outbox.c.id > self._assigned, ~marked).order_by(outbox.c.id).limit(limit)
        with self._store.read() as tx:
            ids = [int(made) for made in tx.execute(query).scalars()]
            if not ids:
                self._settle(tx)
            messages = [store_outbox.messages(tx, after=made - 1, limit=1)[0] for made in ids]
        found = []
        for message in messages:
            alert = alert_of(message)
            if alert is None:
                self.route(message.id, {})
            else:
                found.append((message.id, alert))
        return found

    def _settle(self, tx: Connection) -> None:
        """Nothing is unassigned now: what was there an hour ago need not be looked at again.

        Not earlier: on Postgres a row may become visible after others with higher numbers.
        """
        at, last = self._seen
        if self._clock() - at >= SETTLED:
            self._assigned, self._seen = last, (self._clock(), store_outbox.last_id(tx))

    def earlier(self, row: int) -> list[Alert]:
        """What was told of the same alarm before this row, oldest first."""
        key = select(outbox.c.dedup_key).where(outbox.c.id == row).scalar_subquery()
        query = select(outbox).where(outbox.c.id < row, outbox.c.dedup_key == key).order_by(outbox.c.id)
        with self._store.read() as tx:
            messages = [store_outbox.message_of(one) for one in tx.execute(query.limit(MOST_EARLIER))]
        return [alert for alert in map(alert_of, messages) if alert is not None]

    def route(self, row: int, sinks: dict[str, float]) -> None:
        """Assign an alert to sinks, each held back until its time; doing it twice changes nothing."""
        with self._store.begin() as tx:
            taken = deliveries.c.outbox_id == row, deliveries.c.sink == ROUTED
            if tx.execute(select(deliveries.c.sink).where(*taken)).first() is not None:
                return
            rows = [_row(row, sink, at, None) for sink, at in sinks.items()]
            tx.execute(insert(deliveries), [*rows, _row(row, ROUTED, 0.0, 0.0)])
            for sink, at in sinks.items():
                store_outbox.bring_forward(tx, row, sink, at=at)

    def repeat(self, sinks: Sequence[str], taken_before: float, now: float) -> None:
        """Let sinks that may forget have the latest message of every open alarm again, if they took it before then."""
        with self._store.begin() as tx:
            store_outbox.repeat(tx, sinks, taken_before=taken_before, now=now)

    def due(self, now: float, limit: int) -> list[Delivery]:
        """The oldest message of each alarm and sink whose time has come, claimed."""
        with self._store.read() as tx:
            ready = store_outbox.heads(tx, now=now, limit=limit)
        if not ready:  # the usual case must not wait for those who write
            return []
        with self._store.begin() as tx:
            return [self._delivery(head) for head in ready if self._claim(tx, head, now)]

    def release_claims(self, now: float) -> None:
        """After a start: what a process before us was sending when it ended is due again.

        A SQLite file has one process, so every claim in it is stale. On Postgres a claim may be another process's, and
        ends by itself.
        """
        if self._store.dialect != "sqlite":
            return
        with self._store.begin() as tx:
            stale = deliveries.c.accepted_at.is_(None) & (deliveries.c.last_error == CLAIMED)
            tx.execute(update(deliveries).where(stale).values(next_attempt_at=now, last_error=""))

    def _claim(self, tx: Connection, head: store_outbox.Delivery, now: float) -> bool:
        """Ours, unless another process was quicker between the look and the claim."""
        changed = tx.execute(
            update(deliveries)
            .where(
                deliveries.c.outbox_id == head.message.id,
                deliveries.c.sink == head.sink,
                deliveries.c.next_attempt_at == head.next_attempt_at,
                deliveries.c.accepted_at.is_(None),
            )
            .values(next_attempt_at=now + CLAIM, last_error=CLAIMED)
        )
        return changed.rowcount == 1

    def _delivery(self, head: store_outbox.Delivery) -> Delivery:
        alert = alert_of(head.message)
        assert alert is not None, "only alerts are routed to sinks"
        return Delivery(head.message.id, head.sink, alert, head.attempts, head.last_error)

    def accepted(self, delivery: Delivery, now: float) -> None:
        """The receiver took it."""
        with self._store.begin() as tx:
            store_outbox.accepted(tx, delivery.row, delivery.sink, at=now)

    def failed(self, delivery: Delivery, error: str, next_at: float, now: float) -> None:
        """It did not; try again then."""
        with self._store.begin() as tx:
            store_outbox.failed(tx, delivery.row, delivery.sink, error=error, next_attempt_at=next_at, at=now)

    def put_back(self, delivery: Delivery, now: float) -> None:
        """It was not attempted after all."""
        mine = deliveries.c.outbox_id == delivery.row, deliveries.c.sink == delivery.sink
        with self._store.begin() as tx:
            tx.execute(update(deliveries).where(*mine).values(next_attempt_at=now, last_error=delivery.last_error))

    def counts(self, sinks: Sequence[str]) -> dict[str, tuple[int, int, str]]:
        """By sink: messages on their way, messages taken, and the latest refusal of one still on its way."""
        waiting = deliveries.c.accepted_at.is_(None)
        query = (
            select(deliveries.c.sink, waiting.label("waiting"), func.count())
            .where(deliveries.c.sink.in_(list(sinks)))
            .group_by(deliveries.c.sink, waiting)
        )
        newest = (deliveries.c.failed_at.desc(), deliveries.c.outbox_id.desc())
        refused = (
            select(
                deliveries.c.sink,
                deliveries.c.last_error,
                func.row_number().over(partition_by=deliveries.c.sink, order_by=newest).label("turn"),
            )
            .where(
                deliveries.c.sink.in_(list(sinks)),
                waiting,
                deliveries.c.last_error.not_in(("", CLAIMED)),
                deliveries.c.failed_at.is_not(None),
            )
            .subquery()
        )
        counted: dict[tuple[str, bool], int] = {}
        with self._store.read() as tx:
            for sink, is_waiting, number in tx.execute(query):
                counted[sink, bool(is_waiting)] = int(number)
            rows = tx.execute(select(refused.c.sink, refused.c.last_error).where(refused.c.turn == 1)).all()
        errors = {row.sink: str(row.last_error) for row in rows}
        return {s: (counted.get((s, True), 0), counted.get((s, False), 0), errors.get(s, "")) for s in sinks}


def _row(row: int, sink: str, next_at: float, accepted_at: float | None) -> dict[str, object]:
    return {
        "outbox_id": row,
        "sink": sink,
        "attempts": 0,
        "next_attempt_at": next_at,
        "accepted_at": accepted_at,
        "last_error": "",
        "failed_at": None,
    }
