"""The durable state of a project: its event log, the ids it has seen, and texts that a judge still has to see."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from driftjudge.judges.protocol import Item
from driftjudge.monitor import Ask
from driftjudge.monitor.events import AnchorRescored, Event, Observed, Reanchored
from driftjudge.monitor.scores import Failure
from driftjudge.project.record import Record
from driftjudge.store import EventLog, create_log, open_log, open_store, payloads
from driftjudge.store import items as item_rows

DATABASE = "state.db"
SNAPSHOT_EVERY = 1_000
"""Events after which the state is kept as a snapshot, so that a later start need not fold the whole log."""


class Watch:
    """The monitor of a project and its log, always in step: what memory knows is on the disk before anybody acts."""

    def __init__(self, log: EventLog, record: Record) -> None:
        self.log = log
        self.record = record
        self.monitor, self.head = log.load()
        self._kept = self.head
        if self.reanchoring_is_owed:
            self.reanchor()

    @property
    def reanchoring_is_owed(self) -> bool:
        """A baseline was written down by `reanchor`, which was killed before it reached the log."""
        return self.record.round > 1 and self.record.after == self.head and self.record.after > 0

    def sorted_out(self, items: Sequence[Item]) -> tuple[list[Item], list[Item]]:
        """Those of the items that were never observed, each once, and those that carry the id of another item."""
        with self.log.store.read() as tx:
            known = item_rows.known(tx, self.log.monitor_id, [item.id for item in items])
        bodies = {name: accepted.body_hash for name, accepted in known.items()}
        new: list[Item] = []
        others: list[Item] = []
        for item in items:
            body = _body(item)
            if item.id not in bodies:
                bodies[item.id] = body
                new.append(item)
            elif bodies[item.id] != body:
                others.append(item)
        return new, others

    def observe(self, items: Sequence[Item], cheap: Sequence[tuple[float, ...] | Failure]) -> None:
        """Take in a batch of new items, all of them or none, in one transaction."""
        events: list[Event] = []
        rows, texts = [], []
        now = time.time()
        for item, scores in zip(items, cheap, strict=True):
            event = Observed(item.id, item.stratum, scores)
            ask = self.monitor.apply(event)
            assert isinstance(ask, Ask)
            events.append(event)
            rows.append(self._row(item, ask))
            if ask.strong:
                texts.append(
                    payloads.row_of(
                        self.log.monitor_id, "item", item.id, item.stratum, item.fields, needed=True, at=now
                    )
                )
        with self.log.store.begin() as tx:
            self.head = self.log.append_in(tx, events, after=self.head, at=now)
            item_rows.add(tx, rows)
            payloads.add(tx, texts)
        self._keep()

    def _row(self, item: Item, ask: Ask) -> dict[str, object]:
        accepted = item_rows.Accepted(
            item_id=item.id,
            number=self.monitor.position,
            body_hash=_body(item),
            stratum=item.stratum,
            position=self.monitor.position,
            asked=ask.strong,
            anchors=ask.anchors,
            cheap=None,
            strong_hash=None,
        )
        return item_rows.row_of(self.log.monitor_id, accepted)

    def wanted_items(self) -> list[tuple[int, Item]]:
        """Items the strong judge is still to be asked about, with their positions, oldest first."""
        wanted = self.monitor.pending_items
        with self.log.store.read() as tx:
            texts = payloads.get(tx, self.log.monitor_id, "item", wanted)
            places = item_rows.known(tx, self.log.monitor_id, wanted)
        return [
            (places[name].position or 0, Item(name, texts[name].fields, texts[name].stratum))
            for name in wanted
            if name in texts
        ]

    def record_answer(self, event: Event, fingerprint: str) -> None:
        """Take in an answer of the strong judge; durable when this returns."""
        self.monitor.apply(event)
        with self.log.store.begin() as tx:
            self.head = self.log.append_in(tx, [event], after=self.head, at=time.time(), fingerprints=[fingerprint])
            if not isinstance(event, AnchorRescored):
                payloads.release(tx, [(self.log.monitor_id, getattr(event, "item_id", ""))])
        self._keep()

    def append(self, events: Sequence[Event]) -> None:
        """Take in other events."""
        for event in events:
            self.monitor.apply(event)
        self.head = self.log.append(events, after=self.head, at=time.time())
        self._keep(now=True)

    def reanchor(self) -> None:
        """Put the record's baseline into the log: a new epoch for both families.

        Re-scores that were wanted of the old judge are called off first; nobody is on the way with one.
        """
        called_off: list[Event] = [
            AnchorRescored(anchor, Failure("transport", "called off by reanchor"))
            for anchor in self.monitor.pending_anchors
        ]
        self.append([*called_off, Reanchored(self.record.anchors, self.record.calibration)])
        with self.log.store.begin() as tx:
            payloads.drop(tx, self.log.monitor_id, "item")

    def forget_texts(self) -> None:
        """Texts that no judge needs any more are deleted."""
        with self.log.store.begin() as tx:
            while payloads.purge(tx, self.log.monitor_id, before=time.time()):
                pass

    def _keep(self, *, now: bool = False) -> None:
        if now or self.head - self._kept >= SNAPSHOT_EVERY:
            self.log.save_snapshot(self.monitor.snapshot(), self.head, at=time.time())
            self._kept = self.head


def _body(item: Item) -> bytes:
    """What an id stands for."""
    return hashlib.sha256(json.dumps([item.stratum, dict(item.fields)], sort_keys=True).encode()).digest()


@contextmanager
def open_watch(state: Path, record: Record) -> Iterator[Watch]:
    """The watch that stands on a baseline; it is made when it is first opened."""
    store = open_store(state / DATABASE)
    try:
        log = open_log(store, record.monitor)
        if log is None:
            log = create_log(
                store,
                record.monitor,
                record.config,
                calibration=record.calibration,
                anchors=record.anchors,
                at=time.time(),
            )
        watch = Watch(log, record)
        yield watch
        watch.forget_texts()
    finally:
        store.close()


def log_head(state: Path, record: Record) -> int:
    """How much the watch on a baseline has seen; 0 where it has not begun."""
    if not (state / DATABASE).exists():
        return 0
    store = open_store(state / DATABASE)
    try:
        log = open_log(store, record.monitor)
        return 0 if log is None else log.head()
    finally:
        store.close()
