"""The paper's data layer (appendix F): cheap, strong and drifted judges over a dataset, into a table for `reproduce`.

About 6,000 calls for 1,498 items and four judges. Every answer is cached before it is used, so that an interrupted
collection goes on where it stopped. An item that a judge did not score stays unscored in its column: the paper puts the
undrifted judge's score there, which would be a score that nobody gave.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from driftjudge.judges import Budget, Item, Judge, Judgement, JudgeRunner, JudgeSettings, Limits, Retry, ScoreCache
from driftjudge.judges.clock import Clock
from driftjudge.monitor.scores import Failure
from driftjudge.tables import ScoreTable, TableError
from driftjudge.tables.hub import LabelledItems

HUMAN = "human"
SUMMARIES = "tldr"

ROSTER: Mapping[str, JudgeSettings] = MappingProxyType(
    {
        "cheap": JudgeSettings("gemini-3.1-flash-lite", provider="google"),
        "strong": JudgeSettings("gemini-3.1-pro-preview", provider="google", max_tokens=4096),
        "lenient": JudgeSettings("gemini-3.5-flash", provider="google", max_tokens=4096),
        "harsh": JudgeSettings("gemini-3.1-pro-preview", provider="google", prompt="v2-strict", max_tokens=4096),
    }
)
"""The paper's judges: a cheap and a strong one, a silent version bump, and the strong one under a stricter prompt.

The longer answers leave room for models that think before they answer.
"""


@dataclass(frozen=True)
class Progress:
    """How far a collection is."""

    judge: str
    done: int
    total: int
    dollars: float


@dataclass(frozen=True)
class Collected:
    """A table, and how many items each judge left unscored, by reason."""

    table: ScoreTable
    unscored: Mapping[str, Mapping[str, int]]

    @property
    def unfinished(self) -> int:
        """Scores that are missing because a line broke; collecting again asks for them, and for nothing else."""
        return sum(reasons.get("transport", 0) for reasons in self.unscored.values())


def roster_for(dataset: str, roster: Mapping[str, JudgeSettings] = ROSTER) -> dict[str, JudgeSettings]:
    """The roster with the prompts that show this dataset's texts."""
    if dataset != SUMMARIES:
        return dict(roster)
    return {
        name: one if one.prompt.endswith("-summ") else replace(one, prompt=f"{one.prompt}-summ")
        for name, one in roster.items()
    }


async def collect(
    dataset: LabelledItems,
    judges: Mapping[str, Judge],
    *,
    cache: ScoreCache,
    limits: Limits | None = None,
    budget: Budget | None = None,
    retry: Retry | None = None,
    clock: Clock | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Collected:
    """Have every judge score every item, one judge after the other, and join the human labels in."""
    if HUMAN in judges:
        raise TableError(f"'{HUMAN}' is the column of the dataset's own labels; give the judge another name.")
    items = [Item(one.id, one.texts, one.stratum) for one in dataset.items]
    row_of = {one.id: row for row, one in enumerate(items)}
    scores = {HUMAN: np.array([one.human for one in dataset.items])}
    unscored: dict[str, Mapping[str, int]] = {}
    budget = budget or Budget()
    runners = {
        name: JudgeRunner(judge, role=name, cache=cache, limits=limits, budget=budget, retry=retry, clock=clock)
        for name, judge in judges.items()
    }
    _check(dataset, judges, runners, items, budget)
    for name, runner in runners.items():
        column = np.full((len(items), len(dataset.rubrics)), math.nan)
        reasons: Counter[str] = Counter()
        done = 0
        async with runner:
            async for item, judgement in runner.score_many(items):
                _enter(judgement, column[row_of[item.id]], reasons)
                done += 1
                if on_progress is not None:
                    on_progress(Progress(name, done, len(items), budget.spent))
        scores[name] = column
        unscored[name] = dict(reasons)
    strata = tuple(one.stratum for one in items)
    table = ScoreTable(dataset.name, tuple(row_of), strata, dataset.rubrics, scores)
    return Collected(table, unscored)


def _check(
    dataset: LabelledItems,
    judges: Mapping[str, Judge],
    runners: Mapping[str, JudgeRunner],
    items: list[Item],
    budget: Budget,
) -> None:
    """Everything that can be wrong before the first call: rubrics, texts, the ceiling."""
    calls, dollars = 0, 0.0
    for name, judge in judges.items():
        if judge.rubrics != dataset.rubrics:
            raise TableError(
                f"Judge '{name}' scores {', '.join(judge.rubrics)}, but {dataset.name} is labelled for "
                f"{', '.join(dataset.rubrics)}; give every judge the dataset's rubrics."
            )
        forecast = runners[name].forecast(items)
        calls += forecast.calls
        dollars += forecast.dollars or 0.0
    budget.require(calls, dollars, f"Collecting {dataset.name}")


def _enter(judgement: Judgement, row: np.ndarray[tuple[int], np.dtype[np.float64]], reasons: Counter[str]) -> None:
    if isinstance(judgement.scores, Failure):
        reasons[judgement.scores.reason] += 1
    else:
        row[:] = judgement.scores
