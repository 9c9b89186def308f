"""Where a run's items come from: a list, or something that gives them one after another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Iterable

from driftjudge.judges.protocol import Item


class Source:
    """Items one by one, for several takers."""

    def __init__(self, items: Iterable[Item] | AsyncIterable[Item]) -> None:
        self._later = aiter(items) if isinstance(items, AsyncIterable) else None
        self._now = iter(()) if isinstance(items, AsyncIterable) else iter(items)
        self._lock = asyncio.Lock()

    async def next(self) -> Item | None:
        """The next item; None when there are no more."""
        if self._later is None:
            return next(self._now, None)
        async with self._lock:
            return await anext(self._later, None)
