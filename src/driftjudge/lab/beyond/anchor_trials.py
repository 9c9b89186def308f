"""Only the anchors: re-scores until the anchor family alarms, with fresh noise in every pass and every re-score."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from driftjudge.lab.beyond.judges import Judge
from driftjudge.lab.simulate import NEVER
from driftjudge.monitor import AnchorSet, MonitorConfig
from driftjudge.monitor.anchor_process import AnchorProcess, anchor_step, new_anchor_process
from driftjudge.monitor.baseline import Baseline, make_baseline
from driftjudge.stats._jit import kernel
from driftjudge.tables import ScoreTable

PART = 20_000
"""Re-scores drawn at once."""
ANCHORS, PASSES = 200, 6
CHANGE_AT = 60
"""The last re-score before the judge changes: the paper's 300 items at one re-score per 5."""
WATCHED = 2_000
"""Re-scores after the change in which it must be found."""


@kernel
def first_crossing(process: AnchorProcess, anchors: NDArray[np.int64], scores: NDArray[np.float64]) -> int:
    """Number of the first re-score at which the anchor family alarms, 0 for none."""
    for i in range(len(anchors)):
        if anchor_step(process, anchors[i], scores[i]) >= process.threshold:
            return i + 1
    return 0


@dataclass(frozen=True)
class Trials:
    """Number of the re-score that raised the alarm, per seed; NEVER where none did."""

    change_at: int
    alarm_at: NDArray[np.int64]

    def __len__(self) -> int:
        """Number of streams."""
        return len(self.alarm_at)

    @property
    def false_alarms(self) -> int:
        """Alarms up to the change."""
        return int((self.alarm_at <= self.change_at).sum())

    @property
    def found(self) -> int:
        """Streams whose alarm came after the change."""
        return int(((self.alarm_at > self.change_at) & (self.alarm_at < NEVER)).sum())

    @property
    def rescores(self) -> float | None:
        """Median re-scores from the change to the alarm, a miss counting as infinite; None where that is infinite."""
        late = np.sort(self.alarm_at[self.alarm_at > self.change_at])
        median = float(np.median(late)) if len(late) else float(NEVER)
        return None if median >= NEVER / 2 else median - self.change_at


def config_for(table: ScoreTable, preset: str, **settings: object) -> MonitorConfig:
    """A monitor of this table."""
    names = {"rubrics": table.rubrics, "strata": table.stratum_names, "preset": preset}
    return MonitorConfig.from_json({**names, **settings})


def set_up(
    table: ScoreTable, config: MonitorConfig, judge: Judge, rng: np.random.Generator, *, anchors: int, passes: int
) -> tuple[NDArray[np.int64], AnchorSet, Baseline]:
    """The anchors' rows in the table, the anchors and their baseline."""
    rows = rng.permutation(len(table))[: min(anchors, len(table) // 2)]
    scorings = np.array([judge.answers(rows, rng) for _ in range(passes)])
    chosen = AnchorSet(
        ids=[table.ids[row] for row in rows],
        human=table.judge("human")[rows],
        passes=scorings,
        strata=[table.strata[row] for row in rows],
    )
    return rows, chosen, make_baseline(chosen, config)


def rescores_to_alarm(
    table: ScoreTable,
    config: MonitorConfig,
    before: Judge,
    after: Judge,
    seeds: Iterable[int],
    *,
    change_at: int = CHANGE_AT,
    watched: int = WATCHED,
    anchors: int = ANCHORS,
    passes: int = PASSES,
) -> Trials:
    """One stream of re-scores per seed: `change_at` by the judge of the baseline, then `watched` by the next one."""
    alarms = []
    for seed in seeds:
        rng = np.random.default_rng([seed, 81])
        rows, chosen, baseline = set_up(table, replace(config, seed=seed), before, rng, anchors=anchors, passes=passes)
        process = new_anchor_process(config, chosen, baseline)
        kept = rows[baseline.kept]
        alarms.append(
            _run(process, kept, before, change_at, rng) or _after(process, kept, after, change_at, watched, rng)
        )
    return Trials(change_at, np.array(alarms, dtype=np.int64))


def _after(
    process: AnchorProcess, kept: NDArray[np.int64], judge: Judge, change_at: int, count: int, rng: np.random.Generator
) -> int:
    crossing = _run(process, kept, judge, count, rng)
    return change_at + crossing if crossing else NEVER


def _run(process: AnchorProcess, kept: NDArray[np.int64], judge: Judge, count: int, rng: np.random.Generator) -> int:
    done = 0
    while done < count:
        part = min(PART, count - done)
        drawn = rng.integers(len(kept), size=part)
        crossing = int(first_crossing(process, drawn, judge.answers(kept[drawn], rng)))
        if crossing:
            return done + crossing
        done += part
    return 0
