"""Many streams of one kind: what happened in each, in arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from driftjudge.lab.scenarios import Scenario, stage
from driftjudge.monitor import MonitorConfig
from driftjudge.monitor import clock as ck
from driftjudge.monitor.attribution import attribute
from driftjudge.tables import ScoreTable

NEVER = 10**9
"""Stands for an alarm that did not come."""


@dataclass(frozen=True)
class Outcomes:
    """One entry per seed. Alarm positions are NEVER where there was none."""

    scenario: Scenario
    system_at: NDArray[np.int64]
    judge_at: NDArray[np.int64]
    kinds: tuple[str, ...]
    """The Monitor's own verdicts."""
    strong_calls: NDArray[np.int64]
    """By the end of the stream."""
    anchor_calls: NDArray[np.int64]
    cost: NDArray[np.float64]
    """Cost fraction at the end of the stream."""

    def __len__(self) -> int:
        """Number of streams."""
        return len(self.system_at)

    def verdicts(self, guard: int) -> dict[str, int]:
        """Counts for any guard counted in positions: the rule reads the alarm positions and nothing else."""
        counts = {"none": 0, "system": 0, "judge": 0}
        for system_at, judge_at in zip(self.system_at.tolist(), self.judge_at.tolist(), strict=True):
            clock = ck.new_clock()
            clock[ck.POSITION] = NEVER
            clock[ck.SYSTEM_AT], clock[ck.JUDGE_AT] = system_at % NEVER, judge_at % NEVER
            counts[attribute(clock, guard=guard, burst=0, anchored=True)[0]] += 1
        return counts

    def system_latency(self) -> float | None:
        """Median items from the change to the system alarm, over streams that alarmed after it."""
        return self._latency(self.system_at)

    def judge_latency(self) -> float | None:
        """Median items from the change to the judge alarm, over streams that alarmed after it."""
        return self._latency(self.judge_at)

    def _latency(self, alarms: NDArray[np.int64]) -> float | None:
        late = alarms[(alarms > self.scenario.change_at) & (alarms < NEVER)] - self.scenario.change_at
        return float(np.median(late)) if len(late) else None

    @property
    def system_rate(self) -> float:
        """Share of streams in which the main family alarmed."""
        return float((self.system_at < NEVER).mean())

    @property
    def judge_rate(self) -> float:
        """Share of streams in which the anchor family alarmed."""
        return float((self.judge_at < NEVER).mean())


def simulate(table: ScoreTable, config: MonitorConfig, scenario: Scenario, seeds: int) -> Outcomes:
    """Run the streams of the seeds 0 .. seeds - 1, each by a Monitor of its own."""
    rows: list[tuple[int, int, int, int, float]] = []
    kinds = []
    for seed in range(seeds):
        staged = stage(table, replace(config, seed=seed), scenario)
        staged.monitor.observe_block(staged.block)
        clock, cost = staged.monitor._clock, staged.monitor.cost
        rows.append(
            (
                int(clock[ck.SYSTEM_AT]) or NEVER,
                int(clock[ck.JUDGE_AT]) or NEVER,
                cost.strong_calls,
                cost.anchor_calls,
                cost.fraction,
            )
        )
        kinds.append(staged.monitor.verdict.kind)
    columns = list(zip(*rows, strict=True))
    system, judge, strong, anchors = (np.array(column, dtype=np.int64) for column in columns[:4])
    return Outcomes(scenario, system, judge, tuple(kinds), strong, anchors, np.array(columns[4]))
