"""The one thread that changes monitors: it commits whatever has queued up in one transaction, then answers.

Group commit: a single item pays for a whole flush to disk only when it is alone. A command that is refused leaves no
trace; when anything else goes wrong, the transaction is given up, what memory knows of the monitors it touched is
thrown away, and the commands are run again one by one, so that a bad one fails alone.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection

from driftjudge.monitor.errors import MonitorError
from driftjudge.service.batch import Batch
from driftjudge.service.clock import Clock
from driftjudge.service.errors import (
    BackPressureError,
    ClosedError,
    ConflictError,
    ServiceError,
    UnavailableError,
)
from driftjudge.service.host import Host
from driftjudge.service.hosts import Hosts
from driftjudge.service.options import ServiceOptions
from driftjudge.store import Store, leases
from driftjudge.store import errors as store_errors
from driftjudge.store.log import write_snapshot

T = TypeVar("T")

RETRY_AFTER = 1.0
REFUSED = (ServiceError, MonitorError, store_errors.KeyReusedError)
"""Errors of the caller: the command was checked, refused, and has changed nothing."""


@dataclass
class Job(Generic[T]):
    """A command in the queue. `name` is None for one that needs no monitor."""

    name: str | None
    run: Callable[[Connection, Host | None, Batch], T]
    weight: int
    future: Future[T] = field(default_factory=Future)
    result: Any = None
    error: Exception | None = None


class Writer:
    """The queue and its thread."""

    def __init__(
        self,
        store: Store,
        hosts: Hosts,
        options: ServiceOptions,
        clock: Clock,
        committed: Callable[[Batch], None],
    ) -> None:
        self._store, self._hosts, self._options, self._clock = store, hosts, options, clock
        self._committed = committed
        self._queue: deque[Job[Any]] = deque()
        self._queued = 0
        self._wake = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="driftjudge-writer", daemon=True)
        self.commits = 0
        self.failed_commits = 0

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def close(self, timeout: float) -> bool:
        """Take nothing new, finish what is queued; False when that took too long."""
        with self._wake:
            self._closing = True
            self._wake.notify_all()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    @property
    def queued(self) -> int:
        """Items and commands waiting."""
        return self._queued

    def submit(
        self, name: str | None, run: Callable[[Connection, Host | None, Batch], T], *, weight: int = 1
    ) -> Future[T]:
        """Queue a command; its future is done when its effects are durable."""
        job = Job(name, run, weight)
        with self._wake:
            if self._closing:
                raise ClosedError("the service is shutting down; send it again in a moment")
            if self._queued + weight > self._options.max_queued:
                raise BackPressureError(
                    f"{self._queued} items wait to be written, the limit; come back in {RETRY_AFTER:g} s", RETRY_AFTER
                )
            self._queue.append(job)
            self._queued += weight
            self._wake.notify()
        return job.future

    def _work(self) -> None:
        while True:
            with self._wake:
                while not self._queue and not self._closing:
                    self._wake.wait()
                if not self._queue:
                    return
                group = self._take_group()
            try:
                self._run(group)
            except BaseException as error:  # a defect of ours must not leave callers waiting for ever
                for job in group:
                    if not job.future.done():
                        job.future.set_exception(error)
            finally:
                with self._wake:
                    self._queued -= sum(job.weight for job in group)

    def _take_group(self) -> list[Job[Any]]:
        group, weight = [self._queue.popleft()], 0
        weight = group[0].weight
        while self._queue and weight + self._queue[0].weight <= self._options.max_group:
            group.append(self._queue.popleft())
            weight += group[-1].weight
        return group

    def _run(self, group: list[Job[Any]]) -> None:
        alive = [job for job in group if job.future.set_running_or_notify_cancel()]
        try:
            batch = self._transact(alive)
        except store_errors.UnavailableError as error:
            self._fail(alive, UnavailableError(f"{error}; nothing of this was taken", RETRY_AFTER))
        except Exception as error:
            if len(alive) == 1:
                self._fail(alive, error)
                return
            for job in alive:  # one of them is to blame: alone, it fails alone
                job.result, job.error = None, None
                try:
                    self._after(self._transact([job]))
                except store_errors.UnavailableError as gone:
                    self._fail([job], UnavailableError(f"{gone}; nothing of this was taken", RETRY_AFTER))
                except Exception as alone:
                    self._fail([job], alone)
        else:
            self._after(batch)

    def _after(self, batch: Batch) -> None:
        """Everything is durable and answered; what follows may fail without harm."""
        self._keep_snapshots(batch)
        self._committed(batch)

    @staticmethod
    def _fail(jobs: list[Job[Any]], error: Exception) -> None:
        for job in jobs:
            if not job.future.done():
                job.future.set_exception(job.error if job.error is not None else error)

    def _transact(self, group: list[Job[Any]]) -> Batch:
        """One transaction for the group. Raises with memory and database as they were before."""
        batch = Batch(self._clock.now())
        taken: set[int] = set()
        locked: dict[str, Host] = {}
        try:
            with self._store.begin() as tx:
                self._check_leases(tx, group)
                for job in group:
                    self._apply(tx, job, batch, taken, locked)
                batch.write(tx)
        except BaseException:
            self.failed_commits += 1
            for name, host in locked.items():
                host.stale = True
                self._hosts.drop(name)
            for monitor_id in taken:
                self._hosts.tokens.pop(monitor_id, None)
            raise
        finally:
            for host in locked.values():
                host.lock.release()
        self.commits += 1
        for job in group:
            if job.error is not None:
                job.future.set_exception(job.error)
            else:
                job.future.set_result(job.result)
        return batch

    def _check_leases(self, tx: Connection, group: list[Job[Any]]) -> None:
        ids = {self._hosts.ids[job.name] for job in group if job.name is not None and job.name in self._hosts.ids}
        tokens = {one: self._hosts.tokens[one] for one in ids if one in self._hosts.tokens}
        if tokens:
            for monitor_id in leases.lost(tx, tokens):
                self._hosts.lose(monitor_id)

    def _apply(self, tx: Connection, job: Job[Any], batch: Batch, taken: set[int], locked: dict[str, Host]) -> None:
        before = batch.effects
        try:
            host = None
            if job.name is not None:
                host = self._hosts.open(tx, job.name, taken)
                if job.name not in locked:
                    host.lock.acquire()
                    locked[job.name] = host
            job.result = job.run(tx, host, batch)
        except REFUSED as error:
            if batch.effects != before:
                raise RuntimeError("a command failed half way; the transaction is given up") from error
            refused = isinstance(error, store_errors.KeyReusedError)
            job.error = ConflictError(str(error)) if refused else error

    def _keep_snapshots(self, batch: Batch) -> None:
        """Snapshots are a cache: one that cannot be written now is written later."""
        due = [host for host in batch.hosts.values() if host.unsaved >= self._options.snapshot_every]
        surplus = self._hosts.surplus()
        self.write_snapshots([*due, *(host for host in surplus if host.unsaved > 100)])
        for host in surplus:
            self._hosts.drop(host.name)

    def write_snapshots(self, hosts: list[Host]) -> None:
        """Keep the state of these monitors; nothing is lost where that fails."""
        for host in hosts:
            if host.monitor is None or host.id not in self._hosts.tokens or host.seq == host.snapshot_seq:
                continue
            try:
                with host.lock, self._store.begin() as tx:
                    if leases.lost(tx, {host.id: self._hosts.tokens[host.id]}):
                        continue
                    write_snapshot(tx, host.id, host.monitor.snapshot(), host.seq, at=self._clock.now())
                host.snapshot_seq = host.seq
            except store_errors.StoreError:
                return
