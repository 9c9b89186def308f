"""The alert desk: a thread that keeps the outbox moving, and answers for the page and /metrics."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from driftjudge.service.alerts.compose import trial_alert
from driftjudge.service.alerts.delivery import Dispatcher, Links, Outcome, Sender
from driftjudge.service.alerts.outbox import StoreOutbox
from driftjudge.service.alerts.settings import AlertSettings
from driftjudge.store import Store
from driftjudge.store.errors import StoreError

log = logging.getLogger("driftjudge.alerts")


@dataclass(frozen=True)
class SinkStatus:
    """One alert sink as the page shows it."""

    name: str
    kind: str
    waiting: int
    accepted: int
    last_error: str


class AlertDesk:
    """Start it once per process; several processes on one database share the work."""

    def __init__(
        self,
        store: Store,
        settings: AlertSettings,
        *,
        base_url: str = "",
        clock: Callable[[], float] = time.time,
        every: float = 1.0,
        timeout: float = 10.0,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._every = every
        self._sender = Sender(settings, Links(base_url), timeout=timeout)
        self._outbox = StoreOutbox(store)
        self._dispatcher = Dispatcher(self._outbox, self._sender, clock=clock)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> AlertDesk:
        """Begin to deliver, first what a process before this one was sending when it ended."""
        self._outbox.release_claims(self._clock())
        self._thread = threading.Thread(target=self._run, name="alerts", daemon=True)
        self._thread.start()
        return self

    def close(self, timeout: float = 15.0) -> None:
        """Finish the attempt at hand; what is not delivered stays in the outbox."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout)
        self._sender.close()

    def step(self) -> int:
        """One round of routing and delivering; the number of attempts."""
        return self._dispatcher.step()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self.step()
            except StoreError as error:  # the database is away: the outbox waits with everything else
                log.warning("alerts wait for the database: %s", error)
            except Exception:
                log.exception("a defect in delivering alerts; trying again")
            self._stop.wait(self._every)

    def status(self) -> list[SinkStatus]:
        """Every sink with what is on its way."""
        counts = self._outbox.counts(list(self._settings.sinks))
        return [SinkStatus(name, sink.kind, *counts[name]) for name, sink in self._settings.sinks.items()]

    def test(self, sink: str) -> Outcome:
        """Send a test message now; it takes no route and is not sent again."""
        return self._sender.send(sink, trial_alert(f"test-{uuid.uuid4().hex}", sink, at=self._clock()))

    @property
    def attempts(self) -> Mapping[tuple[str, str], int]:
        """By (sink, outcome) since the start, for /metrics."""
        return dict(self._dispatcher.counts)
