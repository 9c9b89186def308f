"""How many calls at once, how many a minute, and when to try again."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from driftjudge.judges.clock import Clock
from driftjudge.judges.errors import SettingsError

BURST_SECONDS = 6.0
"""A rate may be used up this far ahead; providers count by the minute."""


@dataclass(frozen=True)
class Limits:
    """What an endpoint may be asked; None is no limit."""

    concurrency: int = 8
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.concurrency <= 1024:
            raise SettingsError(f"concurrency lies between 1 and 1024, got {self.concurrency}.")
        for name in ("requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise SettingsError(f"{name} is more than 0, got {value}.")


@dataclass(frozen=True)
class Retry:
    """Transport failures are tried again after first, 2 first, 4 first, ... seconds, less some jitter."""

    attempts: int = 5
    """Requests in all, the first included."""
    first: float = 1.0
    longest: float = 60.0
    """Also the longest Retry-After that is waited for; an endpoint that asks for more is given up on."""
    generator: random.Random = field(default_factory=random.Random, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not 1 <= self.attempts <= 100:
            raise SettingsError(f"attempts lie between 1 and 100, got {self.attempts}.")
        if not 0 <= self.first <= self.longest:
            raise SettingsError(f"the first wait is at most the longest, got {self.first} and {self.longest}.")

    def wait(self, attempt: int, retry_after: float | None) -> float | None:
        """Seconds until the next attempt, the given one (from 1) having failed; None to give up."""
        if attempt >= self.attempts:
            return None
        if retry_after is not None and retry_after > self.longest:
            return None
        backoff = min(self.longest, self.first * 2.0 ** (attempt - 1)) * (0.5 + 0.5 * self.generator.random())
        return max(backoff, retry_after or 0.0)


class Rate:
    """A bucket that fills by the minute; who takes more than is in it waits until the debt is paid.

    Takers are served in order, because each is told a later time than the one before.
    """

    def __init__(self, per_minute: float, clock: Clock) -> None:
        self._per_second = per_minute / 60.0
        self._burst = max(1.0, self._per_second * BURST_SECONDS)
        self._clock = clock
        self._level = self._burst
        self._at = clock.now()

    def take(self, amount: float) -> float:
        """Take an amount; the seconds to wait before using it."""
        now = self._clock.now()
        self._level = min(self._burst, self._level + (now - self._at) * self._per_second)
        self._at = now
        self._level -= amount
        return max(0.0, -self._level / self._per_second)

    def give_back(self, amount: float) -> None:
        """Correct an estimate; a negative amount takes more."""
        self._level = min(self._burst, self._level + amount)
