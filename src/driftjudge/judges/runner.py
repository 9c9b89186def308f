"""Many calls to one judge: at once, at a rate, again where the line broke, paid for once, up to a ceiling.

Order of events for one item: checked (text missing, too long) - looked up in the cache - a place among the calls at
once - its turn by the rates - room below the ceiling reserved - one request - answer and price written in one
transaction - and only then handed to the caller. Transport failures alone are tried again; what a judge answered, it
answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Collection, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from driftjudge.judges.budget import Budget, Reservation
from driftjudge.judges.cache import ScoreCache, as_cached, content_hash
from driftjudge.judges.clock import Clock, RealClock
from driftjudge.judges.errors import EndpointError, JudgeError
from driftjudge.judges.ledger import Spending
from driftjudge.judges.limits import Limits, Rate, Retry
from driftjudge.judges.protocol import Cacheable, Estimate, Estimating, Item, Judge, Judgement, Usage
from driftjudge.judges.source import Source
from driftjudge.monitor.scores import Failure

_ROOM_POLL = 0.05
"""Seconds between two looks at a ceiling that calls of another runner hold occupied."""


@dataclass(frozen=True)
class Forecast:
    """What scoring some items will take."""

    items: int
    calls: int
    """Without retries; cached items need none."""
    dollars: float | None
    """Likely; None where no price is known."""
    at_most: float | None


class JudgeRunner:
    """Runs a judge within limits. Use it as `async with JudgeRunner(judge, role="strong", ...) as runner`."""

    def __init__(
        self,
        judge: Judge,
        *,
        role: str,
        cache: ScoreCache | None = None,
        limits: Limits | None = None,
        budget: Budget | None = None,
        retry: Retry | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.judge = judge
        self.role = role
        self.cache = cache
        self.limits = limits or Limits()
        self.budget = budget or Budget()
        self.retry = retry or Retry()
        self.spending = Spending()
        """What this runner spent so far."""
        self._clock = clock or RealClock()
        self._places = asyncio.Semaphore(self.limits.concurrency)
        self._requests, self._tokens = (
            Rate(limit, self._clock) if limit is not None else None
            for limit in (self.limits.requests_per_minute, self.limits.tokens_per_minute)
        )
        self._not_before = 0.0
        self._settled = asyncio.Event()
        self._under_way: dict[tuple[str, int], asyncio.Future[Judgement]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._exits = AsyncExitStack()
        # Looking a protocol up is slow, and what a judge can do does not change.
        self._estimating = judge if isinstance(judge, Estimating) else None
        self._cacheable = not isinstance(judge, Cacheable) or judge.cacheable

    async def __aenter__(self) -> Self:
        if isinstance(self.judge, AbstractAsyncContextManager):
            await self._exits.enter_async_context(self.judge)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await _end(self._tasks)
        await self._exits.__aexit__(kind, error, trace)

    def forecast(self, items: Iterable[Item], *, fresh: bool = False, pass_number: int = 0) -> Forecast:
        """What `score_many` would take; raises for an item that cannot be scored. Nothing is asked."""
        count, wanted = 0, []
        for item in items:
            count += 1
            estimate = self._estimate(item)
            if self._cached(self._key(item, fresh), pass_number) is None:
                wanted.append(estimate)
        return Forecast(
            count,
            len(wanted),
            _sum(None if one is None else one.dollars for one in wanted),
            _sum(None if one is None else one.at_most for one in wanted),
        )

    async def score(
        self, item: Item, *, fresh: bool = False, pass_number: int = 0, role: str | None = None
    ) -> Judgement:
        """The judge's answer on one item.

        With `fresh` the cache is neither asked nor filled: for anchor re-scores, where yesterday's answer is no answer.
        Repeated passes over the same items that should survive an interruption take a `pass_number` each.
        """
        estimate = self._estimate(item)
        self.budget.check_priced(estimate, repr(self.judge))
        key = self._key(item, fresh)
        if key is None:
            return await self._ask(item, estimate, None, pass_number, role or self.role)
        if (found := self._cached(key, pass_number)) is not None:
            return found
        same = self._under_way.get((key, pass_number))
        if same is not None:
            # Somebody is paying for this very answer; if they break off, ask ourselves.
            try:
                return as_cached(await asyncio.shield(same))
            except asyncio.CancelledError:
                if not same.cancelled():
                    raise
                return await self.score(item, fresh=fresh, pass_number=pass_number, role=role)
        return await self._ask_for_all(item, estimate, key, pass_number, role or self.role)

    async def score_many(
        self,
        items: Iterable[Item] | AsyncIterable[Item],
        *,
        fresh: bool = False,
        pass_number: int = 0,
        role: str | None = None,
    ) -> AsyncGenerator[tuple[Item, Judgement], None]:
        """Answers as they come, in no order; a list of items is checked whole before the first is sent.

        At a ceiling or at an endpoint that refuses us altogether, calls under way come back first, then the error is
        raised: what was paid for is kept.
        """
        if isinstance(items, Collection):
            for item in items:
                self.budget.check_priced(self._estimate(item), repr(self.judge))
        source = Source(items)
        answers: asyncio.Queue[tuple[Item, Judgement] | None] = asyncio.Queue(self.limits.concurrency)
        errors: list[BaseException] = []

        async def work() -> None:
            try:
                while not errors and (item := await source.next()) is not None:
                    judgement = await self.score(item, fresh=fresh, pass_number=pass_number, role=role)
                    await answers.put((item, judgement))
            except Exception as error:
                errors.append(error)
            finally:
                await answers.put(None)

        tasks = {asyncio.create_task(work()) for _ in range(self.limits.concurrency)}
        self._tasks |= tasks
        try:
            left = len(tasks)
            while left:
                answer = await answers.get()
                if answer is None:
                    left -= 1
                else:
                    yield answer
        finally:
            await _end(tasks)
            self._tasks -= tasks
        if errors:
            raise errors[0]

    def _estimate(self, item: Item) -> Estimate | None:
        return None if self._estimating is None else self._estimating.estimate(item)

    def _key(self, item: Item, fresh: bool) -> str | None:
        """Where the answer is kept; None where it must not be."""
        if fresh or self.cache is None or not self._cacheable or not item.fields:
            return None
        return content_hash(item)

    def _cached(self, key: str | None, pass_number: int) -> Judgement | None:
        if key is None or self.cache is None:
            return None
        return self.cache.find(key, self.judge.fingerprint, pass_number)

    async def _ask_for_all(
        self, item: Item, estimate: Estimate | None, key: str, pass_number: int, role: str
    ) -> Judgement:
        """Ask once for everybody who wants this answer."""
        promise: asyncio.Future[Judgement] = asyncio.get_running_loop().create_future()
        self._under_way[key, pass_number] = promise
        try:
            judgement = await self._ask(item, estimate, key, pass_number, role)
            promise.set_result(judgement)
            return judgement
        finally:
            del self._under_way[key, pass_number]
            promise.cancel()  # without effect once there is a result

    async def _ask(
        self, item: Item, estimate: Estimate | None, key: str | None, pass_number: int, role: str
    ) -> Judgement:
        """Requests until one comes through or the retries are used up."""
        usage = Usage(0, 0, 0.0, 0)
        async with self._places:
            attempt = 0
            while True:
                attempt += 1
                await self._turn(estimate)
                judgement = await self._request(item, estimate, key, pass_number, role)
                usage += judgement.usage
                if not (isinstance(judgement.scores, Failure) and judgement.scores.reason == "transport"):
                    return replace(judgement, usage=usage)
                wait = self.retry.wait(attempt, judgement.retry_after)
                if wait is None:
                    return replace(judgement, usage=usage)
                if judgement.retry_after is not None:
                    # The endpoint spoke to all of us.
                    self._not_before = max(self._not_before, self._clock.now() + judgement.retry_after)
                await self._clock.sleep(wait)

    async def _request(
        self, item: Item, estimate: Estimate | None, key: str | None, pass_number: int, role: str
    ) -> Judgement:
        """One request between reserving and booking; whatever happens in between is booked."""
        reservation = await self._room(estimate)
        try:
            judgement = await self.judge.score(item)
        except BaseException as error:
            unbilled = isinstance(error, JudgeError) and not (isinstance(error, EndpointError) and error.billed)
            broken = Judgement(Failure("transport", "broken off"), self.judge.fingerprint, unbilled=unbilled)
            self._book(broken, estimate, reservation, None, pass_number, role)
            raise
        self._book(judgement, estimate, reservation, key, pass_number, role)
        return judgement

    def _book(
        self,
        judgement: Judgement,
        estimate: Estimate | None,
        reservation: Reservation,
        key: str | None,
        pass_number: int,
        role: str,
    ) -> None:
        usage = judgement.usage
        unpriced = estimate is None or estimate.at_most is None
        known = 0.0 if judgement.unbilled or unpriced else usage.dollars
        booked = self.budget.settle(reservation, known, usage.calls)
        self._settled.set()
        spending = Spending(
            usage.calls,
            usage.input_tokens,
            usage.output_tokens,
            booked,
            booked if known is None else 0.0,
            usage.calls if unpriced and not judgement.unbilled else 0,
        )
        self.spending += spending
        if self._tokens is not None and estimate is not None:
            self._tokens.give_back(estimate.tokens - usage.input_tokens - usage.output_tokens)
        if self.cache is not None and usage.calls:
            self.cache.keep(key, judgement, role, self._clock.today(), spending, pass_number)

    async def _turn(self, estimate: Estimate | None) -> None:
        """Wait for the rates, and for what the endpoint asked all of us to wait for."""
        waits = [0.0]
        if self._requests is not None:
            waits.append(self._requests.take(1.0))
        if self._tokens is not None and estimate is not None:
            waits.append(self._tokens.take(estimate.tokens))
        if (wait := max(waits)) > 0.0:
            await self._clock.sleep(wait)
        while (wait := self._not_before - self._clock.now()) > 0.0:
            await self._clock.sleep(wait)

    async def _room(self, estimate: Estimate | None) -> Reservation:
        """Room below the ceiling; waits while calls under way may still turn out cheaper than reserved."""
        at_most = None if estimate is None else estimate.at_most
        while (reservation := self.budget.reserve(at_most)) is None:
            self._settled.clear()
            try:
                await asyncio.wait_for(self._settled.wait(), _ROOM_POLL)
            except TimeoutError:
                continue
        return reservation


async def _end(tasks: set[asyncio.Task[None]]) -> None:
    """Break off what is still running, and see it end."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _sum(values: Iterable[float | None]) -> float | None:
    total = 0.0
    for value in values:
        if value is None:
            return None
        total += value
    return total
