"""The judges of a project at work: one cache, one ledger and one ceiling for all of them."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from types import TracebackType

from driftjudge.judges.budget import Budget
from driftjudge.judges.cache import ScoreCache
from driftjudge.judges.errors import BudgetError
from driftjudge.judges.ledger import Spending
from driftjudge.judges.llm import LLMJudge
from driftjudge.judges.making import make_judge
from driftjudge.judges.protocol import Item, Judgement
from driftjudge.judges.runner import Forecast, JudgeRunner
from driftjudge.monitor.scores import Failure
from driftjudge.project.config import ProjectConfig
from driftjudge.project.errors import OutageError, ProjectError
from driftjudge.project.progress import Meter, counted

SCORES = "scores.db"
PASSES_PER_ROUND = 10_000
"""Numbers of passes set aside for a round of calibration: its baseline passes, and one for its calibration items."""
STREAM_PASSES = 1_000_000_000
"""Answers on stream items are kept under this plus their position: paid for once, and never taken for another's."""


class Bench:
    """The judges of a project folder, made and checked before anything is asked."""

    def __init__(self, config: ProjectConfig, roles: Sequence[str]) -> None:
        self.config = config
        self.judges: dict[str, LLMJudge] = {}
        for role in roles:
            settings = config.judge(role)
            judge = make_judge(settings, config.rubrics, config.scale)
            lacking = [name for name in judge.prompt.fields if name not in config.items.fields]
            if lacking:
                raise ProjectError(
                    f"the prompt of [judges.{role}] shows the field {lacking[0]!r}, but fields in [items] has only "
                    f"{', '.join(config.items.fields)}; add it there, or use another prompt"
                )
            self.judges[role] = judge
        self.cache = ScoreCache(config.state_folder / SCORES)
        self.budget = self._budget()
        self.runners = {
            role: JudgeRunner(
                judge,
                role=role,
                cache=self.cache,
                limits=config.limits.limits,
                budget=self.budget,
                retry=config.limits.retry,
            )
            for role, judge in self.judges.items()
        }

    async def __aenter__(self) -> Bench:
        for runner in self.runners.values():
            await runner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for runner in self.runners.values():
            await runner.__aexit__(kind, error, trace)
        for judge in self.judges.values():
            await judge.aclose()
        self.cache.close()

    def _budget(self) -> Budget:
        spent, ceilings = self.cache.ledger.total(), self.config.limits
        return Budget(ceilings.max_dollars, ceilings.max_calls, spent=spent.dollars, made=spent.calls)

    def spending(self) -> Spending:
        """All that this project ever spent."""
        return self.cache.ledger.total()

    def require(self, work: Sequence[Forecast], what: str, advice: str) -> None:
        """Refuse work that the ceilings leave no room for, before any of it is begun."""
        calls = sum(one.calls for one in work)
        known = [one.dollars for one in work]
        dollars = None if None in known else sum(one or 0.0 for one in known)
        try:
            self.budget.require(calls, dollars, what)
        except BudgetError as error:
            raise BudgetError(f"{str(error).removesuffix('.')}: {advice}") from None

    async def score(
        self,
        role: str,
        items: Sequence[Item],
        meter: Meter,
        *,
        fresh: bool = False,
        pass_number: int = 0,
        booked_as: str | None = None,
    ) -> AsyncIterator[tuple[Item, Judgement]]:
        """Answers as they come. The first is waited for alone, so that a judge nobody can reach costs one attempt."""
        runner = self.runners[role]
        first, rest = items[:1], items[1:]
        for item in first:
            judgement = await runner.score(item, fresh=fresh, pass_number=pass_number, role=booked_as)
            self.require_answer(role, judgement)
            meter.step(judgement)
            yield item, judgement
        if rest:
            async for item, judgement in runner.score_many(rest, fresh=fresh, pass_number=pass_number, role=booked_as):
                meter.step(judgement)
                yield item, judgement

    def require_answer(self, role: str, judgement: Judgement) -> None:
        """Stop where the judge cannot be reached at all."""
        if isinstance(judgement.scores, Failure) and judgement.scores.reason == "transport":
            raise self.unreachable(role, judgement.scores.detail)

    def unreachable(self, role: str, detail: str) -> OutageError:
        """The sentence for a judge that does not answer."""
        settings = self.config.judge(role)
        where = f" at {settings.base_url}" if settings.base_url else ""
        return OutageError(
            f"the {role} judge {settings.model}{where} does not answer ({detail}); check base_url and the network, "
            "then run the same command again: what was answered is kept"
        )


class FolderLock:
    """One command at a time works on a project's state; the lock goes with the process, however it ends."""

    def __init__(self, state: Path) -> None:
        state.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(state / "lock.db", timeout=0.0, isolation_level=None)
        try:
            self._connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            self._connection.close()
            raise ProjectError(
                f"another driftjudge command is at work in '{state}'; wait for it, or stop it first"
            ) from None

    def __enter__(self) -> FolderLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()


def told_spending(spent: Spending) -> str:
    """What was spent, in words."""
    calls = counted(spent.calls, "call")
    if spent.unpriced >= spent.calls:
        return f"{calls}, no price known"
    more = f", {counted(spent.unpriced, 'call')} without a known price" if spent.unpriced else ""
    return f"${spent.dollars:.4f} in {calls}{more}"
