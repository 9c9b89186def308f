"""`run`: items in, judges asked, verdicts out; killed anywhere, it goes on where it stopped.

Items are taken in batches. A batch is observed in one transaction, after its cheap scores are in; then the strong judge
is asked what the monitor wants to know, and every answer is durable before the next step builds on it. The next batch
waits for that, so the verdict does not depend on how fast anybody answered.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from driftjudge.judges.errors import ItemError
from driftjudge.judges.protocol import Item, Judgement
from driftjudge.monitor.events import AnchorRescored, StrongScored
from driftjudge.monitor.scores import Failure
from driftjudge.monitor.verdict import Verdict
from driftjudge.project.bench import STREAM_PASSES, Bench
from driftjudge.project.errors import OutageError
from driftjudge.project.feeds import Feed, Row
from driftjudge.project.items import RowError
from driftjudge.project.progress import Meter
from driftjudge.project.state import Watch

BATCHES = 4
"""A batch is this many times the calls in flight at once: large enough to keep the judges busy."""
TRIES = 3
"""Rounds in which one strong call may not come through before the item is given up as unscored."""
OUTAGE_SECONDS = 30.0
"""How long a followed stream waits for a judge that does not answer before it is tried again."""
NO_CHEAP_JUDGE = Failure("transport", "no cheap judge")

Call = tuple[Item, Callable[[], Awaitable[Judgement]]]


@dataclass
class Outcome:
    """What a run did."""

    observed: int = 0
    known: int = 0
    """Items that an earlier run had already taken in."""
    left_out: int = 0
    """Rows that could not become items."""
    given_up: int = 0
    """Strong calls that never came through; they count as the best score."""


class Watcher:
    """Drives the monitor of a project with its judges."""

    def __init__(
        self,
        watch: Watch,
        bench: Bench,
        anchors: Mapping[str, Item],
        meter: Meter,
        *,
        on_change: Callable[[Verdict], None],
        on_note: Callable[[str], None],
    ) -> None:
        self.watch, self.bench, self.meter = watch, bench, meter
        self.outcome = Outcome()
        self._anchors = anchors
        self._on_change, self._on_note = on_change, on_note
        self._shown = watch.monitor.verdict
        self._lost: Counter[str] = Counter()
        self._silence: dict[str, set[str]] = {}
        """Per judge, the items it was asked about in vain since it last answered; nothing for one not yet asked."""

    @property
    def finished(self) -> bool:
        """A verdict is in, and it is final."""
        verdict = self.watch.monitor.verdict
        return verdict.kind != "none" and verdict.status == "final"

    async def run(self, feed: Feed, *, patient: bool = False, keep_going: bool = False) -> Outcome:
        """Watch until the feed ends or, unless `keep_going`, a verdict is final.

        `patient` waits for a judge that does not answer instead of stopping.
        """
        size = BATCHES * self.bench.config.limits.concurrency
        if self.finished and not keep_going:
            return self.outcome
        await self._insist(self.settle, patient=patient)
        while keep_going or not self.finished:
            rows = await asyncio.to_thread(feed.take, size)
            if rows is None:
                break
            items = self._new_items(rows)
            await self._insist(partial(self._take_in, items), patient=patient)
            await self._insist(self.settle, patient=patient)
            self.meter.step(count=len(rows))
        return self.outcome

    def check(self, rows: Sequence[Row]) -> None:
        """Refuse rows that no judge could take, before any of them costs anything."""
        for row in rows:
            self._item(row)

    def _item(self, row: Row) -> Item:
        item = self.bench.config.items.item(row.values, row.where)
        for judge in self.bench.judges.values():
            judge.estimate(item)
        return item

    def _new_items(self, rows: Sequence[Row]) -> list[Item]:
        items = []
        for row in rows:
            try:
                items.append(self._item(row))
            except (RowError, ItemError) as error:
                self.outcome.left_out += 1
                self._on_note(f"left out: {error}")
        new, others = self.watch.sorted_out(items)
        for item in others:
            self._on_note(f"left out: item {item.id!r} was taken in before with other texts; give it an id of its own")
        self.outcome.left_out += len(others)
        self.outcome.known += len(items) - len(new) - len(others)
        return new

    async def _insist(self, work: Callable[[], Awaitable[None]], *, patient: bool) -> None:
        """Do the work; where the judge is away and the stream has no end, wait for it."""
        told = False
        while True:
            try:
                await work()
                return
            except OutageError as outage:
                if not patient:
                    raise
                if not told:
                    self._on_note(f"{outage}; waiting")
                told = True
                await asyncio.sleep(OUTAGE_SECONDS)

    async def _take_in(self, items: Sequence[Item]) -> None:
        """Cheap scores for all of them, then one transaction."""
        if not items:
            return
        cheap: dict[str, tuple[float, ...] | Failure] = dict.fromkeys((item.id for item in items), NO_CHEAP_JUDGE)
        if "cheap" in self.bench.runners:
            runner = self.bench.runners["cheap"]
            calls: list[Call] = [(item, partial(runner.score, item)) for item in items]

            def keep(item: Item, judgement: Judgement) -> None:
                cheap[item.id] = self._corrected(judgement.scores)

            await self._ask("cheap", calls, keep)  # one that did not come through says nothing
        self.watch.observe(items, [cheap[item.id] for item in items])
        self.outcome.observed += len(items)
        self._show()

    def _corrected(self, scores: tuple[float, ...] | Failure) -> tuple[float, ...] | Failure:
        corrections = self.watch.record.corrections
        if isinstance(scores, Failure) or not corrections:
            return scores
        return tuple(mend(np.array([score])).item() for mend, score in zip(corrections, scores, strict=True))

    async def settle(self) -> None:
        """Ask the strong judge about everything the monitor wants to know, until there is nothing left to ask."""
        runner, limit = self.bench.runners["strong"], self.bench.config.limits.concurrency
        wanted: list[Call] = [
            (item, partial(runner.score, item, pass_number=STREAM_PASSES + at))
            for at, item in self.watch.wanted_items()
        ]
        for item, judgement in await self._ask("strong", wanted, self._record_strong):
            self._lost[item.id] += 1  # others came through: it is this item's call that does not
            if self._lost[item.id] >= TRIES:
                self.outcome.given_up += 1
                self._record_strong(item, judgement)
        # Few at a time: once the anchors have spoken, the rest of a burst is not asked for any more. One that does not
        # come through carries no evidence: it stays wanted, and the guard waits for it.
        silent: set[str] = set()
        while named := [name for name in self.watch.monitor.pending_anchors if name not in silent][:limit]:
            anchors = [self._anchors[name] for name in named]
            calls: list[Call] = [(item, partial(runner.score, item, fresh=True, role="anchor")) for item in anchors]
            answered: set[str] = set()

            def record(item: Item, judgement: Judgement, answered: set[str] = answered) -> None:
                answered.add(item.id)
                self._record_anchor(item, judgement)

            await self._ask("strong", calls, record)
            silent |= set(named) - answered

    def _record_strong(self, item: Item, judgement: Judgement) -> None:
        self.watch.record_answer(StrongScored(item.id, judgement.scores), judgement.fingerprint)
        self._show()

    def _record_anchor(self, item: Item, judgement: Judgement) -> None:
        self.watch.record_answer(AnchorRescored(item.id, judgement.scores), judgement.fingerprint)
        self._show()

    async def _ask(
        self, role: str, calls: Sequence[Call], record: Callable[[Item, Judgement], None]
    ) -> list[tuple[Item, Judgement]]:
        """Make the calls, record every answer as it comes, and return those that did not come through.

        While nobody knows whether the judge is there, calls go out one by one; when two in a row about different items
        are lost, it is away. After an error, what is on its way is still recorded.
        """
        left, lost = list(calls), []
        while left and self._silence.get(role, {""}):
            item, call = left.pop(0)
            if not self._heard(role, item, judgement := await call(), record):
                lost.append((item, judgement))
                self._check_silence(role, judgement)
        running = {asyncio.ensure_future(call()): item for item, call in left}
        error: BaseException | None = None
        try:
            while running:
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    item = running.pop(task)
                    if (failed := task.exception()) is not None:
                        error = error or failed
                    elif not self._heard(role, item, judgement := task.result(), record):
                        lost.append((item, judgement))
        finally:
            for task in running:
                task.cancel()
        if error is not None:
            raise error
        if len(lost) < len(calls):
            return lost
        if lost:
            self._check_silence(role, lost[-1][1])
        return []

    def _heard(self, role: str, item: Item, judgement: Judgement, record: Callable[[Item, Judgement], None]) -> bool:
        """Take in what a call brought; False where it did not come through."""
        self.meter.step(judgement, count=0)
        if isinstance(judgement.scores, Failure) and judgement.scores.reason == "transport":
            self._silence.setdefault(role, set()).add(item.id)
            return False
        self._silence[role] = set()
        record(item, judgement)
        return True

    def _check_silence(self, role: str, judgement: Judgement) -> None:
        if len(self._silence[role]) >= 2 and isinstance(judgement.scores, Failure):
            raise self.bench.unreachable(role, judgement.scores.detail)

    def _show(self) -> None:
        verdict = self.watch.monitor.verdict
        if (verdict.kind, verdict.status) != (self._shown.kind, self._shown.status):
            self._on_change(verdict)
        self._shown = verdict
