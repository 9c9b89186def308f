"""How surely, how soon and at what price the main family alone sees a drop: streams that end at its first alarm.

Appendix B spends nothing on anchors. They stay held out of streams and bars, but none is re-scored here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import fisher_exact

from driftjudge.lab.scenarios import Scenario, cast, regressed_blind, stage
from driftjudge.lab.simulate import NEVER
from driftjudge.monitor import Block, Calibration, MonitorConfig
from driftjudge.monitor import clock as ck
from driftjudge.monitor.block import _no_anchors
from driftjudge.monitor.main_process import new_main_process
from driftjudge.monitor.stream import run_stream
from driftjudge.stats.coins import ACQUISITION, coins
from driftjudge.tables import ScoreTable, TableError

NOISE_LEVEL = 0.05
"""Two rates count as the same unless Fisher's exact test at this level tells them apart."""


@dataclass(frozen=True)
class Detections:
    """One entry per stream, which ended at its first alarm."""

    change_at: int
    """The last item before the change."""
    alarm_at: NDArray[np.int64]
    """NEVER where there was none."""
    items: NDArray[np.int64]
    """Items seen until the alarm or the end."""
    strong_calls: NDArray[np.int64]

    def __len__(self) -> int:
        """Number of streams."""
        return len(self.alarm_at)

    @property
    def detected(self) -> NDArray[np.bool_]:
        """Streams whose alarm came after the change; one that came before it is false."""
        return (self.alarm_at > self.change_at) & (self.alarm_at < NEVER)

    @property
    def alarms(self) -> int:
        """Streams that alarmed at all: on drift-free streams, false alarms."""
        return int((self.alarm_at < NEVER).sum())

    @property
    def censored(self) -> int:
        """Streams in which the change was not detected before the end."""
        return int((~self.detected).sum())

    @property
    def censoring(self) -> float:
        """Share of such streams."""
        return self.censored / len(self)

    def latency(self) -> float | None:
        """Median items from the change to the alarm, over streams that detected it."""
        late = self.alarm_at[self.detected] - self.change_at
        return float(np.median(late)) if len(late) else None

    @property
    def sampled(self) -> float:
        """Mean share S/L of items the strong judge saw, until the alarm or the end."""
        return float(np.mean(self.strong_calls / self.items))

    def sampled_at_detection(self) -> float | None:
        """The same over streams that detected the change."""
        shares = (self.strong_calls / self.items)[self.detected]
        return float(np.mean(shares)) if len(shares) else None


def same_censoring(one: Detections, other: Detections) -> bool:
    """True when binomial noise explains the difference."""
    return _fisher(one, other, "two-sided") > NOISE_LEVEL


def censors_more(one: Detections, other: Detections) -> bool:
    """True when `one` misses more than `other` by more than binomial noise."""
    return _fisher(one, other, "greater") <= NOISE_LEVEL


def _fisher(one: Detections, other: Detections, alternative: str) -> float:
    table = [[each.censored, len(each) - each.censored] for each in (one, other)]
    return float(fisher_exact(table, alternative=alternative).pvalue)


def too_faint(drift: str, full: Detections) -> str:
    """Why budgets cannot be compared on a drop that not even full evaluation sees."""
    return (
        f"even full evaluation misses {full.censored} of {len(full)} {drift} drops within the stream, so claims about "
        "who detects them have little to go by"
    )


def streams(table: ScoreTable, config: MonitorConfig, scenario: Scenario, seeds: Iterable[int]) -> dict[int, Block]:
    """The stream of every seed, to be shared by all methods.

    A seed is left out when all items it could regress to are anchors.
    """
    found = {}
    for seed in seeds:
        if scenario.condition == "system":
            if scenario.target is None:
                raise TableError("a system drift needs a target cell; name its (rubric, stratum) in the scenario")
            pool = cast(table, scenario.anchors, seed).pool
            if len(regressed_blind(table, scenario.target, scenario, pool)) == 0:
                continue
        found[seed] = stage(table, replace(config, seed=seed), scenario).block
    return found


def detect(
    table: ScoreTable, config: MonitorConfig, scenario: Scenario, blocks: Mapping[int, Block], *, judge: str = "strong"
) -> Detections:
    """Run the main family over every stream until its first alarm.

    `judge="cheap"` lets the cheap judge take the strong one's place, in the stream and in the bars. A config with the
    single stratum `all` watches the pooled stream.
    """
    if judge == "cheap":
        table = cheap_in_charge(table)
        blocks = {seed: replace(block, strong=block.cheap) for seed, block in blocks.items()}
    rows = [
        until_alarm(config, cast(table, scenario.anchors, seed).calibration(config), seed, block)
        for seed, block in blocks.items()
    ]
    alarm_at, items, calls = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Detections(scenario.change_at, alarm_at, items, calls)


@lru_cache(maxsize=8)
def cheap_in_charge(table: ScoreTable) -> ScoreTable:
    """The table with the cheap judge's scores in the strong one's place."""
    scores = {**table.scores, "strong": table.judge("cheap")}
    return ScoreTable(table.name, table.ids, table.strata, table.rubrics, scores, replica=table.replica)


def until_alarm(config: MonitorConfig, calibration: Calibration, seed: int, block: Block) -> tuple[int, int, int]:
    """Position of the alarm, items and strong calls, from the Monitor's own kernel: it stops just past an alarm."""
    rubrics, clock = len(config.rubrics), ck.new_clock()
    pooled = len(config.strata) == 1
    run_stream(
        new_main_process(config, calibration), _no_anchors(rubrics), clock, 0, 0,
        np.zeros_like(block.strata) if pooled else block.strata, block.cheap, block.strong, _coins(seed, len(block)),
        block.versions, np.empty((1, 1, 0, rubrics)), np.empty(0), np.empty(0), 0,
    )  # fmt: skip
    return int(clock[ck.SYSTEM_AT]) or NEVER, int(clock[ck.POSITION]), int(clock[ck.STRONG_CALLS])


@lru_cache(maxsize=512)
def _coins(seed: int, count: int) -> NDArray[np.float64]:
    return coins(seed, ACQUISITION, 0, count)
