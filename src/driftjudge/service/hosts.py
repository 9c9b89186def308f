"""The monitors this process holds: taken by lease, loaded when needed, and put away when others need the room."""

from __future__ import annotations

from collections import OrderedDict

from sqlalchemy import Connection

from driftjudge.service.clock import Clock
from driftjudge.service.errors import ElsewhereError, UnknownMonitorError
from driftjudge.service.host import Host
from driftjudge.service.options import ServiceOptions
from driftjudge.store import Store, leases, registry

FEW = 2
"""Monitors that are always kept: without them nothing could be done."""


class Hosts:
    """Used by the writer's thread, except for `loaded`, `tokens` and `ids`, which anybody may read."""

    def __init__(self, store: Store, options: ServiceOptions, clock: Clock, *, alone: bool) -> None:
        self._store, self._options, self._clock = store, options, clock
        self._alone = alone
        """Nobody else can use this database: leases of a process that died are taken at once."""
        self._loaded: OrderedDict[str, Host] = OrderedDict()
        self.tokens: dict[int, int] = {}
        self.ids: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._loaded)

    def loaded(self, name: str) -> Host | None:
        """A monitor, if it is in memory."""
        return self._loaded.get(name)

    def open(self, tx: Connection, name: str, taken: set[int]) -> Host:
        """The monitor under a lease of ours; those taken now are noted, because the transaction may still fail."""
        host = self._loaded.get(name)
        if host is not None and host.id in self.tokens:
            self._loaded.move_to_end(name)
            return host
        row = registry.get(tx, name)
        if row is None:
            raise UnknownMonitorError(f"there is no monitor {name[:100]!r}; create it, or check the name")
        if row.id not in self.tokens:
            self.take(tx, row.id, row.name, taken)
        host = Host.load(tx, row)
        self._loaded[name] = host
        self.ids[name] = row.id
        return host

    def take(self, tx: Connection, monitor_id: int, name: str, taken: set[int]) -> None:
        """Take the lease, or say who has it."""
        now = self._store.now(tx, self._clock.now())
        options = self._options
        lease = leases.take(
            tx,
            monitor_id,
            owner=options.owner,
            address=options.address,
            now=float("inf") if self._alone else now,
            until=now + options.lease_seconds,
        )
        if lease.owner != options.owner:
            wait = max(0.1, lease.expires_at - now)
            raise ElsewhereError(
                f"another process holds monitor {name!r}; send it there, or here again in {wait:.0f} s",
                lease.address,
                wait,
            )
        self.tokens[monitor_id] = lease.token
        taken.add(monitor_id)

    def adopt(self, host: Host) -> None:
        """A monitor that was just created."""
        self._loaded[host.name] = host
        self.ids[host.name] = host.id

    def drop(self, name: str) -> None:
        """Throw away what memory knows of a monitor; the database knows it."""
        self._loaded.pop(name, None)

    def lose(self, monitor_id: int) -> None:
        """Somebody else has it now."""
        self.tokens.pop(monitor_id, None)
        for name in [name for name, host in self._loaded.items() if host.id == monitor_id]:
            self.drop(name)

    def surplus(self) -> list[Host]:
        """The longest unused monitors beyond what memory may hold: most of it are the ids a monitor remembers."""
        hosts = list(self._loaded.values())
        if len(hosts) <= FEW:
            return []
        sizes = [min(host.accepted, host.config.id_memory) for host in hosts]
        over, ids = len(hosts) - self._options.max_loaded, sum(sizes) - self._options.max_ids
        gone: list[Host] = []
        for host, size in zip(hosts, sizes, strict=True):
            if over <= 0 and ids <= 0:
                break
            gone.append(host)
            over, ids = over - 1, ids - size
        return gone

    def everything(self) -> list[Host]:
        """All monitors in memory."""
        return list(self._loaded.values())
