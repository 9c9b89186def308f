"""Time, as the runner sees it: one place to put a clock that tests can turn."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, date, datetime
from typing import Protocol


class Clock(Protocol):
    """When, and wait."""

    def now(self) -> float:
        """Seconds that only go forward."""

    def today(self) -> date:
        """The day that spending is booked on, in UTC."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


class RealClock:
    """The machine's."""

    def now(self) -> float:
        """Seconds that only go forward."""
        return time.monotonic()

    def today(self) -> date:
        """The day in UTC."""
        return datetime.now(UTC).date()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
