"""What has to be done now and then: keep the leases, take over from the dead, notice silence, delete what is old."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress

from sqlalchemy import Connection

from driftjudge.service.batch import Batch
from driftjudge.service.clock import Clock
from driftjudge.service.codec import from_json
from driftjudge.service.errors import ServiceError
from driftjudge.service.host import Host
from driftjudge.service.hosts import Hosts
from driftjudge.service.hub import Hub
from driftjudge.service.options import ServiceOptions
from driftjudge.service.stream import open_condition
from driftjudge.service.values import MonitorSettings
from driftjudge.store import Store, conditions, idempotency, leases, outbox, payloads, registry
from driftjudge.store.errors import StoreError

logger = logging.getLogger(__name__)

TAKEN_AT_ONCE = 100
LOOKED_AT = 10_000
SILENCE_EVERY = 5.0
"""Seconds between two looks for silent streams, at most."""
PURGE_EVERY = 60.0

Submit = Callable[[str, Callable[[Connection, Host | None, Batch], None]], Future[None]]


class Housekeeping:
    """One thread; `tick` does one round and can be called by hand."""

    def __init__(
        self,
        store: Store,
        hosts: Hosts,
        hub: Hub,
        options: ServiceOptions,
        clock: Clock,
        submit: Submit,
        poke: Callable[[str], None],
    ) -> None:
        self._store, self._hosts, self._hub = store, hosts, hub
        self._options, self._clock, self._submit, self._poke = options, clock, submit, poke
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="driftjudge-housekeeping", daemon=True)
        self._renewed = self._silence = self._purged = float("-inf")
        self._awake = False

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def close(self, timeout: float) -> None:
        """Stop."""
        self._stop.set()
        self._thread.join(timeout)

    def _work(self) -> None:
        away = False
        while not self._stop.wait(self._options.tick_seconds):
            try:
                self.tick()
                away = False
            except (StoreError, ServiceError) as error:
                logger.log(logging.DEBUG if away else logging.WARNING, "housekeeping is put off: %s", error)
                away = True
            except Exception:
                logger.exception("housekeeping failed")

    def tick(self) -> None:
        """One round."""
        now = self._clock.now()
        self._hub.poll()
        if not self._awake:
            self.wake_all()
        if now - self._renewed >= self._options.lease_seconds / 3:
            self.renew()
            self._renewed = now
        self.take_over()
        if now - self._silence >= SILENCE_EVERY:
            self.notice_silence(now)
            self._silence = now
        if now - self._purged >= PURGE_EVERY:
            self.purge(now)
            self._purged = now

    def renew(self) -> None:
        """Say that we are alive. What somebody else has taken meanwhile is theirs: the writer must hear of it, because

        a monitor that we only believe to hold is read from old memory, and is not taken over when its holder dies.
        """
        tokens = dict(self._hosts.tokens)
        if not tokens:
            return
        with self._store.begin() as tx:
            now = self._store.now(tx, self._clock.now())
            kept = leases.renew(tx, tokens, now=now, seconds=self._options.lease_seconds)
        for name, monitor_id in list(self._hosts.ids.items()):
            if monitor_id in tokens and monitor_id not in kept:
                self._do(name, _nothing)

    def take_over(self) -> None:
        """Monitors whose holder is gone are loaded here, so that their judges go on."""
        with self._store.read() as tx:
            now = self._store.now(tx, self._clock.now())
            ids = [one for one in leases.expired(tx, now=now, limit=TAKEN_AT_ONCE) if one not in self._hosts.tokens]
            names = [row.name for row in registry.by_ids(tx, ids) if row.state != "archived"] if ids else []
        for name in names:
            self._wake(name)

    def wake_all(self) -> None:
        """After a start: load the monitors whose judges have something to do."""
        after = ""
        while True:
            with self._store.read() as tx:
                page = registry.page(tx, after=after, limit=1_000, archived=False)
            for row in page:
                if (row.summary or {}).get("waits"):
                    self._wake(row.name)
            if not page:
                self._awake = True
                return
            after = page[-1].name

    def notice_silence(self, now: float) -> None:
        """Open `no_data` where nothing came for too long."""
        with self._store.read() as tx:
            rows = registry.silent(tx, since=now, limit=LOOKED_AT)
            opened = conditions.open_kinds(tx, [row.id for row in rows])
        for row in rows:
            after = from_json(MonitorSettings, row.settings).no_data_after
            if after is None or row.last_item_at is None or now - row.last_item_at < after:
                continue
            if "no_data" not in opened.get(row.id, ()):
                self._do(row.name, _Silence(now, after))

    def purge(self, now: float) -> None:
        """Delete texts, keys and delivered messages that are old enough."""
        with self._store.begin() as tx:
            idempotency.forget(tx, before=now - idempotency.KEPT_SECONDS)
            outbox.forget(tx, before=now - outbox.KEPT_SECONDS)
        after = ""
        while True:
            with self._store.read() as tx:
                page = registry.page(tx, after=after, limit=1_000, archived=True)
            for row in page:
                before = now - from_json(MonitorSettings, row.settings).keep_texts_days * 86_400.0
                with self._store.read() as tx:
                    purged = payloads.PURGED_AT_ONCE if payloads.has_old(tx, row.id, before=before) else 0
                while purged == payloads.PURGED_AT_ONCE and not self._stop.is_set():
                    with self._store.begin() as tx:
                        purged = payloads.purge(tx, row.id, before=before)
            if not page:
                return
            after = page[-1].name

    def _wake(self, name: str) -> None:
        """Take a monitor and let its judges go on."""
        self._do(name, _nothing)
        self._poke(name)

    def _do(self, name: str, command: Callable[[Connection, Host | None, Batch], None]) -> None:
        with suppress(ServiceError):  # held by another process, or the database is away: there is a next round
            self._submit(name, command).result()


def _nothing(_tx: Connection, _host: Host | None, _batch: Batch) -> None:
    """Loading it is all that is wanted."""


class _Silence:
    """The command that opens `no_data`, if it is still silent by then."""

    def __init__(self, now: float, after: float) -> None:
        self._now, self._after = now, after

    def __call__(self, tx: Connection, host: Host | None, batch: Batch) -> None:
        assert host is not None
        if host.last_item_at is None or self._now - host.last_item_at < self._after:
            return
        open_condition(tx, host, batch, "no_data", f"no item came for {self._after:.0f} seconds; check what sends them")
