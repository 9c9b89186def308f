"""Time as the service sees it, so that tests can make hours pass."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Seconds since 1970, as the wall clock has them."""

    def now(self) -> float:
        """The time."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """The time."""
        return time.time()


class ManualClock:
    """A clock that goes on only when told to.

    >>> clock = ManualClock(100.0)
    >>> clock.advance(5.0)
    >>> clock.now()
    105.0
    """

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._now = now

    def now(self) -> float:
        """The time."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._now += seconds


def day_of(at: float) -> str:
    """The day of a moment, in UTC: costs are kept per day.

    >>> day_of(1_700_000_000.0)
    '2023-11-14'
    """
    return datetime.fromtimestamp(at, tz=UTC).date().isoformat()
