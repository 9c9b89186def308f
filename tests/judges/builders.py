"""Judges, items and clocks for the tests of this package."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeVar

from driftjudge.judges import Item, LLMJudge, Scale, make_judge
from tests.judges.misbehaving import MisbehavingServer

T = TypeVar("T")

DAY = date(2026, 3, 1)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, within a deadline that only a hang reaches."""

    async def within() -> T:
        async with asyncio.timeout(60):
            return await work

    return asyncio.run(within())


def item(number: int = 1, text: str = "How are you?") -> Item:
    return Item(f"item-{number}", {"prompt": text, "response": f"Fine, for the {number}. time."})


def judge(server: MisbehavingServer, rubrics: Any = ("tone",), scale: Scale | None = None, **settings: Any) -> LLMJudge:
    given = {"model": "m", "base_url": server.url, "price_input": 1.0, "price_output": 4.0, "timeout": 20.0, **settings}
    return make_judge(given, rubrics, scale)


@dataclass
class TurnedClock:
    """A clock that sleeps without waiting and remembers how long."""

    at: float = 0.0
    slept: list[float] = field(default_factory=list)
    day: date = DAY

    def now(self) -> float:
        return self.at

    def today(self) -> date:
        return self.day

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds
        await asyncio.sleep(0)
