"""Sending: at least once, in order per alarm, again and again until the receiver takes it.

A delivery is one alert for one sink. It is taken from the outbox, sent, and marked accepted only after a 2xx;
whatever happens in between (a refusal, a timeout, the end of this process) leaves it in the outbox, so it is sent again
under the same id and key. Duplicates are possible, losses are not.
"""

from __future__ import annotations

import random
import smtplib
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from driftjudge.service.alerts.alert import Alert
from driftjudge.service.alerts.errors import TargetError
from driftjudge.service.alerts.settings import AlertSettings, NamedSink
from driftjudge.service.alerts.sinks.alertmanager import Alertmanager
from driftjudge.service.alerts.sinks.email import Email
from driftjudge.service.alerts.targets import check_target

if TYPE_CHECKING:
    import httpx2

FIRST_WAIT = 2.0
LONGEST_WAIT = 900.0
LONGEST_RETRY_AFTER = 3_600.0
TIMEOUT = 10.0
MOST_THREADS = 8
REPEAT_EVERY = 3_600.0
"""Seconds between two rounds in which a sink that may forget is told of open alarms again."""
LONGEST_ROUND = 20.0
"""Seconds after which a slow sink's further messages wait for the next round, so that the others' need not."""


@dataclass(frozen=True)
class Delivery:
    """One alert on its way to one sink."""

    row: int
    """Of the alert in the outbox."""
    sink: str
    alert: Alert
    attempts: int
    last_error: str = ""


class Outbox(Protocol):
    """What delivery needs of the store."""

    def unrouted(self, limit: int) -> Sequence[tuple[int, Alert]]:
        """Alerts that were not yet assigned to sinks, oldest first, with their row ids."""

    def earlier(self, row: int) -> Sequence[Alert]:
        """What was told of the same alarm before this row, oldest first."""

    def route(self, row: int, sinks: dict[str, float]) -> None:
        """Assign an alert to sinks, each with the time (seconds since the epoch) before which it is held back."""

    def due(self, now: float, limit: int) -> Sequence[Delivery]:
        """Deliveries to attempt now, claimed for us; of one alarm and sink only the oldest that was not accepted."""

    def accepted(self, delivery: Delivery, now: float) -> None:
        """The receiver took it."""

    def repeat(self, sinks: Sequence[str], taken_before: float, now: float) -> None:
        """Of every open alarm the latest message these sinks took, if before then, is due for them again."""

    def failed(self, delivery: Delivery, error: str, next_at: float, now: float) -> None:
        """It did not; try again at `next_at`."""

    def put_back(self, delivery: Delivery, now: float) -> None:
        """It was not attempted after all: due as before, and no attempt is counted."""


@dataclass(frozen=True)
class Outcome:
    """How one attempt ended."""

    accepted: bool
    error: str = ""
    retry_after: float = 0.0
    answered: bool = True
    """False where nobody was there, or nobody answered in time."""


@dataclass(frozen=True)
class Links:
    """Where the page and the runbooks are; empty without a public address."""

    base_url: str = ""

    def on(self, alert: Alert) -> Alert:
        """The alert with its two links."""
        if not self.base_url or alert.phase == "test":
            return alert
        base = self.base_url.rstrip("/")
        return replace(
            alert,
            page_url=f"{base}/monitors/{quote(alert.monitor, safe='')}",
            runbook_url=f"{base}/runbooks/{alert.subject}",
        )


class Sender:
    """Sends single alerts; holds the HTTP connections."""

    def __init__(self, settings: AlertSettings, links: Links, *, timeout: float = TIMEOUT) -> None:
        import httpx2

        self.settings = settings
        self.links = links
        self.timeout = timeout
        self._client = httpx2.Client(
            timeout=timeout, follow_redirects=False, trust_env=False, headers={"User-Agent": "driftjudge"}
        )

    def close(self) -> None:
        """Let the connections go."""
        self._client.close()

    def send(self, name: str, alert: Alert) -> Outcome:
        """One attempt; every way it can end is an outcome, and no outcome carries a secret."""
        sink = self.settings.sinks.get(name)
        if sink is None:
            return Outcome(False, f"the sink {name!r} is no longer configured")
        alert = self.links.on(alert)
        if isinstance(sink.sink, Email):
            return self._mail(sink.sink, alert)
        return self._post(sink, alert)

    def _mail(self, sink: Email, alert: Alert) -> Outcome:
        try:
            sink.send(alert, self.timeout)
        except smtplib.SMTPResponseException as error:
            return Outcome(False, f"the mail server answered {error.smtp_code}")
        except (OSError, smtplib.SMTPException) as error:
            return Outcome(
                False, f"the mail server was not reached or refused ({type(error).__name__})", answered=False
            )
        return Outcome(True)

    def _post(self, sink: NamedSink, alert: Alert) -> Outcome:
        import httpx2

        assert not isinstance(sink.sink, Email)
        message = sink.sink.render(alert)
        try:
            target = check_target(message.url, allow_private=sink.allow_private)
        except TargetError as error:
            return Outcome(False, str(error))
        try:
            with self._client.stream(
                "POST",
                target.url,
                content=message.body,
                headers={**message.headers, "Host": target.host_header},
                extensions={"sni_hostname": target.host},
            ) as response:  # the body is not read: only its status counts, and it could be endless
                return _judged(response)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            return Outcome(
                False, f"the receiver was not reached or cut the connection ({type(error).__name__})", answered=False
            )


def _judged(response: httpx2.Response) -> Outcome:
    if response.is_success:
        return Outcome(True)
    return Outcome(
        False, f"the receiver answered {response.status_code}", _retry_after(response.headers.get("Retry-After", ""))
    )


def _retry_after(text: str) -> float:
    """Seconds a receiver asks to be left alone; within reason, since it must not silence an alarm."""
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return 0.0
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER) if seconds == seconds else 0.0


def backoff(attempts: int, draw: float) -> float:
    """Seconds to wait after the `attempts`-th failure: doubling, bounded, spread by a draw of [0, 1).

    >>> [round(backoff(n, 0.5)) for n in (1, 2, 3, 20)]
    [2, 3, 6, 675]
    """
    return min(FIRST_WAIT * 2.0 ** min(attempts - 1, 20), LONGEST_WAIT) * (0.5 + draw / 2.0)


class Dispatcher:
    """Moves what is in the outbox: assigns new alerts to sinks, attempts what is due. Call `step` again and again."""

    def __init__(
        self,
        outbox: Outbox,
        sender: Sender,
        *,
        clock: Callable[[], float] = time.time,
        draw: random.Random | None = None,
    ) -> None:
        self._outbox = outbox
        self._sender = sender
        self._clock = clock
        self._draw = draw or random.Random()
        self._lock = threading.Lock()
        self._forgetful = [name for name, one in sender.settings.sinks.items() if isinstance(one.sink, Alertmanager)]
        self._repeated = -REPEAT_EVERY
        self.counts: dict[tuple[str, str], int] = {}
        """Attempts by (sink, outcome) since the start, for /metrics."""

    def step(self, limit: int = 100) -> int:
        """One round; the number of attempts made. A sink that hangs does not hold up the others."""
        now = self._clock()
        for row, alert in self._outbox.unrouted(limit):
            self._outbox.route(row, self._assigned(alert, self._outbox.earlier(row), now))
        if self._forgetful and now - self._repeated >= REPEAT_EVERY:
            self._outbox.repeat(self._forgetful, now - REPEAT_EVERY / 2, now)
            self._repeated = now
        by_sink: dict[str, list[Delivery]] = {}
        for delivery in self._outbox.due(now, limit):
            by_sink.setdefault(delivery.sink, []).append(delivery)
        if by_sink:
            with ThreadPoolExecutor(min(len(by_sink), MOST_THREADS), "alerts") as pool:
                for done in [pool.submit(self._attempt_all, line) for line in by_sink.values()]:
                    done.result()
        return sum(map(len, by_sink.values()))

    def _assigned(self, alert: Alert, earlier: Sequence[Alert], now: float) -> dict[str, float]:
        at = datetime.fromtimestamp(now, UTC)
        held = {}
        for name, quiet in self._sender.settings.routed(alert, earlier).items():
            until = quiet.until(at) if quiet is not None else None
            held[name] = until.timestamp() if until is not None else now
        return held

    def _attempt_all(self, line: Sequence[Delivery]) -> None:
        """One sink's messages, as long as it answers: the round, and with it every sink, waits for the slowest."""
        until, there = time.monotonic() + LONGEST_ROUND, True
        for delivery in line:
            if not there or time.monotonic() > until:
                self._outbox.put_back(delivery, self._clock())
                continue
            outcome = self._sender.send(delivery.sink, delivery.alert)
            there = outcome.answered
            with self._lock:
                what = (delivery.sink, "accepted" if outcome.accepted else "failed")
                self.counts[what] = self.counts.get(what, 0) + 1
                wait = max(backoff(delivery.attempts + 1, self._draw.random()), outcome.retry_after)
            if outcome.accepted:
                self._outbox.accepted(delivery, self._clock())
            else:
                now = self._clock()
                self._outbox.failed(delivery, outcome.error, now + wait, now)
