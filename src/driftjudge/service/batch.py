"""What one transaction writes: commands put rows in, and they go to the database in a few bulk statements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, insert

from driftjudge.judges.protocol import Usage
from driftjudge.service.clock import day_of
from driftjudge.store import items, outbox, payloads, registry, rescores, spending, trace
from driftjudge.store.log import event_rows
from driftjudge.store.tables import events

if TYPE_CHECKING:
    from driftjudge.service.host import Host


class Batch:
    """Rows to be written together. `effects` counts what has been done: a command that was refused has done nothing."""

    def __init__(self, at: float) -> None:
        self.at = at
        self.effects = 0
        self.hosts: dict[int, Host] = {}
        self.items: list[dict[str, Any]] = []
        self.placed: list[dict[str, Any]] = []
        self.cheap: list[tuple[int, str, Any]] = []
        self.strong: list[tuple[int, str, bytes]] = []
        self.payloads: list[dict[str, Any]] = []
        self.released: list[tuple[int, str]] = []
        self.points: list[dict[str, Any]] = []
        self.thinned: dict[int, int] = {}
        self.spent: dict[spending.Key, spending.Spent] = {}
        self.messages: list[outbox.Message] = []

    def touch(self, host: Host) -> None:
        """A command changes this monitor."""
        self.effects += 1
        self.hosts[host.id] = host

    def spend(self, host: Host, role: str, fingerprint: str, usage: Usage | None, *, unscored: bool) -> None:
        """Book an answer; without `usage` it was a client's, who pays for it elsewhere."""
        used = usage or Usage(calls=0)
        key = (host.id, day_of(self.at), role, fingerprint)
        unpriced = int(usage is not None and usage.dollars is None and usage.calls > 0)
        one = spending.Spent(
            1, int(unscored), used.calls, used.input_tokens, used.output_tokens, used.dollars or 0.0, unpriced
        )
        before = self.spent.get(key)
        self.spent[key] = one if before is None else before.plus(one)

    def tell(self, tx: Connection, *, monitor: str, dedup_key: str, kind: str, payload: Mapping[str, Any]) -> None:
        """Put a change into the outbox."""
        sent = outbox.add(tx, monitor=monitor, dedup_key=dedup_key, kind=kind, payload=payload, at=self.at)
        self.messages.append(sent)

    def write(self, tx: Connection) -> None:
        """Write everything."""
        logged = []
        for host in self.hosts.values():
            new, marks = [one for one, _ in host.new_events], [mark for _, mark in host.new_events]
            logged += event_rows(host.id, new, after=host.seq, at=self.at, fingerprints=marks)
            host.seq += len(new)
            host.new_events.clear()
            host.fresh.clear()
            host.marked.clear()
        if logged:
            tx.execute(insert(events), logged)
        items.add(tx, self.items)
        items.place(tx, self.placed)
        items.keep_cheap(tx, self.cheap)
        items.mark_strong(tx, self.strong)
        payloads.add(tx, self.payloads)
        payloads.release(tx, self.released)
        trace.add(tx, self.points)
        for monitor_id, stride in self.thinned.items():
            trace.thin(tx, monitor_id, stride)
        spending.add(tx, self.spent)
        for host in self.hosts.values():
            rescores.write(tx, host.id, host.take_rescored())
            registry.change(tx, host.id, **host.columns())
