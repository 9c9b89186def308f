"""Only the main family: long drift-free streams with few calibration items, and changes that come late."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from driftjudge.lab.detection import until_alarm
from driftjudge.lab.scenarios import Scenario, cast, stage
from driftjudge.lab.setting import Setting
from driftjudge.lab.simulate import NEVER
from driftjudge.monitor import Block, Calibration, MonitorConfig
from driftjudge.tables import ScoreTable


def quiet_stream(table: ScoreTable, items: int, seed: int) -> Block:
    """Items of an unchanged system and judge, drawn from the whole table."""
    rng = np.random.default_rng([seed, 91])
    rows = rng.integers(len(table), size=items)
    names = {name: t for t, name in enumerate(table.stratum_names)}
    codes = np.array([names[stratum] for stratum in table.strata], dtype=np.int64)
    nobody = np.empty((1, 1, 0, len(table.rubrics)))
    versions = np.zeros(items, dtype=np.int64)
    return Block(codes[rows], table.judge("cheap")[rows], table.judge("strong")[rows], versions, nobody)


def few_bars(table: ScoreTable, config: MonitorConfig, items: int, seed: int) -> Calibration:
    """Bars from that many items of the same table, at least one of every stratum."""
    rng = np.random.default_rng([seed, 92])
    rows = rng.integers(len(table), size=items)
    while {table.strata[row] for row in rows} != set(table.stratum_names):
        rows = rng.integers(len(table), size=items)
    labels = [table.strata[row] for row in rows]
    return Calibration.from_scores(labels, table.judge("strong")[rows], config, low_bars="skip")


def false_system_alarm(config: MonitorConfig, calibration: Calibration, block: Block, seed: int) -> bool:
    """Whether the main family ever alarms on this stream."""
    return until_alarm(replace(config, seed=seed), calibration, seed, block)[0] < NEVER


@dataclass(frozen=True)
class Drop:
    """What became of a drop that came late: per seed the items from the change to the alarm, and the share asked."""

    latency: NDArray[np.int64]
    """NEVER where it was not found, 0 where an alarm came before it."""
    asked: NDArray[np.float64]

    @property
    def found(self) -> int:
        """Streams that found it."""
        return int(((self.latency > 0) & (self.latency < NEVER)).sum())

    @property
    def early(self) -> int:
        """Streams with a false alarm before it."""
        return int((self.latency == 0).sum())

    @property
    def median(self) -> float | None:
        """Median items to the alarm over streams without an early one, a miss counting as infinite."""
        late = self.latency[self.latency > 0]
        median = float(np.median(late)) if len(late) else float(NEVER)
        return None if median >= NEVER / 2 else median


def late_drop(
    setting: Setting,
    configs: Mapping[str, MonitorConfig],
    change_at: int,
    after: int,
    seeds: int,
    first_seed: int = 0,
) -> dict[str, Drop]:
    """The same regression in the same streams under every config, the change coming at `change_at`."""
    scenario = replace(setting.scenario, condition="system", change_at=change_at, items=change_at + after)
    found: dict[str, list[tuple[int, float]]] = {name: [] for name in configs}
    for seed in range(first_seed, first_seed + seeds):
        block = stage(setting.table, replace(next(iter(configs.values())), seed=seed), scenario).block
        for name, config in configs.items():
            found[name].append(_latency(setting.table, config, scenario, seed, block))
    return {
        name: Drop(np.array([latency for latency, _ in rows], dtype=np.int64), np.array([asked for _, asked in rows]))
        for name, rows in found.items()
    }


def _latency(
    table: ScoreTable, config: MonitorConfig, scenario: Scenario, seed: int, block: Block
) -> tuple[int, float]:
    calibration = cast(table, scenario.anchors, seed).calibration(config)
    at, items, calls = until_alarm(config, calibration, seed, block)
    return (NEVER if at == NEVER else max(at - scenario.change_at, 0)), calls / items
