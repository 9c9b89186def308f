"""Judges at work in the background: whatever the monitors want scored is scored, recorded, and only then forgotten.

The queue is the log itself: what is wanted follows from the state, which is durable, so there is no second list that
could disagree with it. An answer is recorded once, in the transaction of the event it becomes. A call that was in
flight when the process died is made again: at most `concurrency` calls per judge are paid for twice.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from driftjudge.judges.protocol import Item, Judge, Judgement
from driftjudge.monitor import MonitorConfig
from driftjudge.monitor.scores import Failure
from driftjudge.service.clock import Clock, day_of
from driftjudge.service.errors import BackPressureError, ServiceError, UnavailableError
from driftjudge.service.options import ServiceOptions
from driftjudge.service.values import Judging
from driftjudge.store.setup_calls import SetupCall

logger = logging.getLogger(__name__)

MOST_TASKS = 1_000
"""Calls in flight in one process, over all monitors."""


class JudgeMaker(Protocol):
    """Makes the judges of a monitor; called once per judge, again when the settings change."""

    def __call__(self, kind: str, config: MonitorConfig, judging: Judging, /) -> Judge:
        """The judge of a kind, `cheap` or `strong`."""


@dataclass(frozen=True)
class Call:
    """One score that is wanted."""

    role: str
    """cheap, strong, anchor, baseline or calibration."""
    item: Item
    setup: SetupCall | None = None

    @property
    def kind(self) -> str:
        """Which judge makes it."""
        return "cheap" if self.role == "cheap" else "strong"

    @property
    def key(self) -> tuple[str, str, int]:
        """Anchors may be wanted several times at once, the others not."""
        return self.role, self.item.id, 0 if self.setup is None else self.setup.pass_


@dataclass(frozen=True)
class Wanted:
    """What a monitor wants scored now, and by whom."""

    calls: Sequence[Call]
    config: MonitorConfig
    judging: Judging
    dollars_today: float
    conditions: frozenset[str]


class Desk(Protocol):
    """What workers need of the service; every answer is durable when its future is done."""

    def wanted(self, name: str, limit: int) -> Future[Wanted]:
        """What is to be scored."""

    def record(self, name: str, call: Call, judgement: Judgement, answer_id: str) -> Future[None]:
        """Record an answer; recorded already, or no longer wanted: nothing happens."""

    def condition(self, name: str, kind: str, detail: str | None) -> Future[None]:
        """Open a condition, or with None close it."""


@dataclass
class _Bench:
    """The state of the work for one monitor."""

    name: str
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    in_flight: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    judges: dict[str, Judge] = field(default_factory=dict)
    judging: Judging | None = None
    failures: Counter[str] = field(default_factory=Counter)
    """Failed calls in a row, by judge."""
    paused_until: dict[str, float] = field(default_factory=dict)
    next_call: dict[str, float] = field(default_factory=dict)
    conditions: set[str] = field(default_factory=set)

    def busy(self, kind: str) -> int:
        """Calls of a judge in flight."""
        return sum(count for (role, _, _), count in self.in_flight.items() if (role == "cheap") == (kind == "cheap"))


class Workers:
    """An event loop in a thread of its own; one task per monitor that wants something."""

    def __init__(self, desk: Desk, judges: JudgeMaker, options: ServiceOptions, clock: Clock) -> None:
        self._desk, self._judges, self._options, self._clock = desk, judges, options, clock
        self._loop: asyncio.AbstractEventLoop | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._work, name="driftjudge-judges", daemon=True)
        self._benches: dict[str, _Bench] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._prices: dict[str, float] = {}
        """The highest price of a call, by monitor."""
        self._calls = 0
        self._closing = False
        self._leaving: list[Judge] = []
        """Judges of monitors that want nothing more, with connections that may still be open."""

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()
        self._started.wait()

    def close(self, timeout: float) -> None:
        """Make no further calls; those in flight are given up and will be wanted again."""
        self._closing = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stop)
            self._thread.join(timeout)

    @property
    def in_flight(self) -> int:
        """Calls being made."""
        return self._calls

    def poke(self, name: str) -> None:
        """A monitor may want something."""
        if self._loop is not None and not self._closing:
            self._loop.call_soon_threadsafe(self._poke, name)

    def _work(self) -> None:
        asyncio.run(self._main())

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        self._room = asyncio.Semaphore(MOST_TASKS)
        self._started.set()
        await self._stopped.wait()
        while self._tasks:  # a task may start another before it hears of the end
            for task in list(self._tasks):
                task.cancel()
            await asyncio.wait(self._tasks, timeout=0.1)
        await self._dismiss()

    def _stop(self) -> None:
        self._stopped.set()

    def _poke(self, name: str) -> None:
        bench = self._benches.get(name)
        if bench is None:
            bench = self._benches[name] = _Bench(name)
            self._spawn(self._serve(bench))
        bench.wake.set()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, bench: _Bench) -> None:
        """Keep a monitor's judges busy until it wants nothing more."""
        try:
            while not self._closing:
                bench.wake.clear()
                wanted = await self._fetch(bench)
                if wanted is None:
                    return
                started = self._start_calls(bench, wanted)
                if not wanted.calls and not bench.in_flight and not bench.wake.is_set():
                    return
                await self._rest(bench, started)
        finally:
            del self._benches[bench.name]
            self._leaving += bench.judges.values()
            if not bench.in_flight and not self._closing:
                await self._dismiss()

    async def _dismiss(self) -> None:
        """Close the connections of judges that nobody asks any more."""
        while self._leaving:
            close = getattr(self._leaving.pop(), "aclose", None)  # a judge may have nothing to close
            if close is not None:
                with suppress(Exception):
                    await close()

    async def _fetch(self, bench: _Bench) -> Wanted | None:
        """What is wanted; None where this process cannot know."""
        pause = self._options.retry_seconds
        while True:
            try:
                # No more than can be started soon: what is fetched early may not be wanted any more when it is made.
                most = bench.in_flight.total() + 2 * (bench.judging.concurrency if bench.judging is not None else 8)
                wanted = await asyncio.wrap_future(self._desk.wanted(bench.name, most))
                break
            except (UnavailableError, BackPressureError):  # to leave now would forget the calls in flight
                await asyncio.sleep(pause)
                pause = min(2 * pause, self._options.retry_cap)
            except ServiceError:
                return None
        bench.conditions = set(wanted.conditions)
        if bench.judging != wanted.judging:
            bench.judging = wanted.judging
            self._leaving += bench.judges.values()
            bench.judges.clear()
            bench.failures.clear()
            bench.paused_until.clear()
        return wanted

    def _start_calls(self, bench: _Bench, wanted: Wanted) -> bool:
        """Start what may be started now; True when something was left because a judge is busy."""
        left = False
        outstanding: Counter[tuple[str, str, int]] = Counter()
        room = self._affordable(bench, wanted)
        for call in wanted.calls:
            outstanding[call.key] += 1
            if bench.in_flight[call.key] >= outstanding[call.key]:
                continue
            if room <= 0 or not self._may_call(bench, call.kind, wanted.judging):
                left = True
                continue
            room -= 1
            bench.in_flight[call.key] += 1
            self._calls += 1
            self._spawn(self._make(bench, call, wanted))
        return left

    def _affordable(self, bench: _Bench, wanted: Wanted) -> float:
        """How many calls may be started: those in flight are counted at the highest price seen.

        So the ceiling is passed by less than the price of one call. Until a price is known, calls go one by one.
        """
        ceiling, spent = wanted.judging.daily_dollars, wanted.dollars_today
        over = ceiling is not None and spent >= ceiling
        if over and "budget_exhausted" not in bench.conditions and wanted.calls:
            detail = f"the judges have spent {spent:.2f} dollars of {ceiling:g} on {day_of(self._now())}"
            self._spawn(self._tell(bench, "budget_exhausted", f"{detail}; calls wait for the next day (UTC)"))
        if not over and "budget_exhausted" in bench.conditions:
            self._spawn(self._tell(bench, "budget_exhausted", None))
        if ceiling is None:
            return math.inf
        price = self._prices.get(bench.name)
        if over or price is None:
            return 0 if over else 1 - bench.in_flight.total()
        return math.inf if price == 0.0 else math.ceil((ceiling - spent) / price) - bench.in_flight.total()

    def _now(self) -> float:
        return self._clock.now()

    def _may_call(self, bench: _Bench, kind: str, judging: Judging) -> bool:
        time = asyncio.get_running_loop().time()
        failing = bench.failures[kind] >= self._options.unavailable_after
        most = 1 if failing else judging.concurrency
        return bench.busy(kind) < most and bench.paused_until.get(kind, 0.0) <= time

    async def _rest(self, bench: _Bench, left: bool) -> None:
        """Until an answer came, something new is wanted, or a pause is over."""
        time = asyncio.get_running_loop().time()
        pauses = [until - time for until in bench.paused_until.values() if until > time]
        timeout = min(pauses, default=self._options.retry_cap) if left or pauses else None
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await bench.wake.wait()

    async def _make(self, bench: _Bench, call: Call, wanted: Wanted) -> None:
        """One call, and its answer on disk."""
        try:
            async with self._room:
                await self._pace(bench, call.kind, wanted.judging)
                judgement = await self._ask(bench, call, wanted)
            if isinstance(judgement.scores, Failure) and judgement.scores.reason == "transport":
                await self._failed(bench, call.kind, judgement.scores.detail)
                return
            dollars = judgement.usage.dollars or 0.0
            self._prices[bench.name] = max(dollars, self._prices.get(bench.name, 0.0))
            answer_id = uuid.uuid4().hex
            await self._insist(lambda: self._desk.record(bench.name, call, judgement, answer_id))
            await self._answered(bench, call.kind)
        except Exception as error:  # a defect of ours: not again and again at full speed
            logger.exception("an answer of the %s judge of %s could not be recorded", call.kind, bench.name)
            await self._failed(bench, call.kind, type(error).__name__)
        finally:
            self._calls -= 1
            bench.in_flight[call.key] -= 1
            if not bench.in_flight[call.key]:
                del bench.in_flight[call.key]
            bench.wake.set()

    async def _pace(self, bench: _Bench, kind: str, judging: Judging) -> None:
        if judging.calls_per_second is None:
            return
        time = asyncio.get_running_loop().time()
        at = max(time, bench.next_call.get(kind, 0.0))
        bench.next_call[kind] = at + 1.0 / judging.calls_per_second
        await asyncio.sleep(at - time)

    async def _ask(self, bench: _Bench, call: Call, wanted: Wanted) -> Judgement:
        try:
            judge = bench.judges.get(call.kind)
            if judge is None:
                judge = bench.judges[call.kind] = self._judges(call.kind, wanted.config, wanted.judging)
            async with asyncio.timeout(self._options.judge_seconds):
                return await judge.score(call.item)
        except Exception as error:  # a judge that cannot be made or asked is one that is not available
            return Judgement(Failure("transport", f"{type(error).__name__}: {str(error)[:200]}"), "")

    async def _failed(self, bench: _Bench, kind: str, detail: str) -> None:
        """Wait longer each time; after a few failures in a row, say so."""
        options = self._options
        bench.failures[kind] += 1
        pause = min(options.retry_cap, options.retry_seconds * 2.0 ** min(bench.failures[kind] - 1, 20))
        bench.paused_until[kind] = asyncio.get_running_loop().time() + pause
        if bench.failures[kind] >= options.unavailable_after and "judge_unavailable" not in bench.conditions:
            count = bench.failures[kind]
            said = f"the {kind} judge failed {count} times in a row, last with: {detail or 'no reason given'}"
            await self._tell(bench, "judge_unavailable", said)

    async def _answered(self, bench: _Bench, kind: str) -> None:
        bench.failures[kind] = 0
        bench.paused_until.pop(kind, None)
        still = any(count >= self._options.unavailable_after for count in bench.failures.values())
        if "judge_unavailable" in bench.conditions and not still:
            await self._tell(bench, "judge_unavailable", None)

    async def _tell(self, bench: _Bench, kind: str, detail: str | None) -> None:
        (bench.conditions.discard if detail is None else bench.conditions.add)(kind)
        await self._insist(lambda: self._desk.condition(bench.name, kind, detail))

    async def _insist(self, write: Callable[[], Future[None]]) -> None:
        """What was paid for is written down, however long the database is away."""
        pause = self._options.retry_seconds
        while True:
            try:
                await _done(write())
                return
            except UnavailableError:
                await asyncio.sleep(pause)
                pause = min(2 * pause, self._options.retry_cap)
            except ServiceError as error:
                if not hasattr(error, "retry_after") or hasattr(error, "address"):
                    return  # another process has the monitor, or it is gone: the score will be wanted there
                await asyncio.sleep(pause)


def _done(future: Future[None]) -> Awaitable[None]:
    return asyncio.wrap_future(future)


def configured_judges(kind: str, config: MonitorConfig, judging: Judging) -> Judge:
    """The LLM judge that a monitor's settings describe."""
    from driftjudge.judges.making import make_judge
    from driftjudge.judges.rubrics import Scale

    settings = judging.cheap if kind == "cheap" else judging.strong
    assert settings is not None
    rubrics = {rubric: judging.rubrics.get(rubric, "") for rubric in config.rubrics} if judging.rubrics else None
    return make_judge(settings, rubrics or config.rubrics, Scale(*judging.scale))
