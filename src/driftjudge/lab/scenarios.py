"""Streams with known ground truth: a table's items drawn at random, with the system, the judge or both drifting.

The paper's set-up (section 5.1): streams of 1,200 items with the change at 300; system drift draws the target cell
from a regressed-blind pool (strong low, cheap high); judge drift swaps the strong judge, on stream and anchors alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor import AnchorSet, Block, Calibration, Monitor, MonitorConfig
from driftjudge.tables import ScoreTable, TableError

Condition = Literal["none", "system", "judge", "both"]
CONDITIONS: tuple[Condition, ...] = ("none", "system", "judge", "both")

TARGET_CELLS: Mapping[str, tuple[str, str]] = {
    "HelpSteer2 replica": ("helpfulness", "creative"),
    "TL;DR replica": ("overall", "relationships"),
}
"""(rubric, stratum) in which the paper lets the system regress."""


@dataclass(frozen=True)
class Scenario:
    """What happens in a stream, all of it drawn from one seed."""

    condition: Condition = "none"
    judge_change: str = "harsh"
    """A judge of the table that takes over, or `synthetic`: every score lowered by `synthetic_shift` plus noise."""
    items: int = 1200
    change_at: int = 300
    """The last item before the change."""
    anchors: int = 200
    passes: int = 6
    """Baseline passes over the anchors."""
    repeat_noise: float = 0.0
    """Probability that a score moves one grid step when the strong judge is asked again."""
    grid_step: float = 0.25
    low: float = 0.25
    """Strong scores at or below this count as regressed."""
    blind: float = 0.6
    """Cheap scores at or above this show a cheap judge that does not see it."""
    synthetic_shift: float = -0.25
    synthetic_noise: float = 0.05
    target: tuple[str, str] | None = None
    """(rubric, stratum) that regresses; the paper's for the replicas."""


@dataclass(frozen=True)
class Staged:
    """A monitor that has seen nothing yet, and the stream it is going to see."""

    monitor: Monitor
    block: Block
    scenario: Scenario


def stage(table: ScoreTable, config: MonitorConfig, scenario: Scenario) -> Staged:
    """Draw anchors, calibration and stream from the table with the config's seed."""
    rng = np.random.default_rng([config.seed, 1])
    rows = rng.permutation(len(table))
    if scenario.anchors + len(config.strata) > len(rows):
        raise TableError(
            f"{len(table)} items cannot give {scenario.anchors} anchors and a calibration; use fewer anchors"
        )
    anchor_rows, pool = rows[: scenario.anchors], rows[scenario.anchors :]
    strong, human = table.judge("strong"), table.judge("human")

    def asked_again(scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return _asked_again(scores, scenario, rng)

    calibration = Calibration.from_scores(
        [table.strata[row] for row in pool], strong[pool], config, ids=[table.ids[row] for row in pool], low_bars="skip"
    )
    passes = np.array([asked_again(strong[anchor_rows]) for _ in range(scenario.passes)])
    anchors = AnchorSet(ids=[table.ids[row] for row in anchor_rows], human=human[anchor_rows], passes=passes)
    monitor = Monitor(config, calibration=calibration, anchors=anchors)
    stream = _stream_rows(table, pool, scenario, rng)
    drifted = _drifted(table, scenario, rng)
    after = np.arange(scenario.items) >= scenario.change_at
    moved = after if scenario.condition in ("judge", "both") else np.zeros_like(after)
    assert monitor.baseline is not None
    kept = anchor_rows[monitor.baseline.kept]
    repeats = 32 if scenario.repeat_noise > 0.0 else 1
    index = {name: t for t, name in enumerate(config.strata)}
    block = Block(
        strata=np.array([index[table.strata[row]] for row in stream], dtype=np.int64),
        cheap=np.ascontiguousarray(table.judge("cheap")[stream]),
        strong=asked_again(np.where(moved[:, None], drifted[stream], strong[stream])),
        versions=moved.astype(np.int64),
        rescored=np.array([[asked_again(judge[kept]) for _ in range(repeats)] for judge in (strong, drifted)]),
    )
    return Staged(monitor, block, scenario)


def _stream_rows(
    table: ScoreTable, pool: NDArray[np.int64], scenario: Scenario, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Items drawn with replacement; after a system change the target stratum comes from the regressed-blind pool."""
    stream = rng.choice(pool, size=scenario.items, replace=True)
    if scenario.condition not in ("system", "both"):
        return stream
    target = scenario.target or TARGET_CELLS.get(table.name)
    if target is None:
        raise TableError(
            f"table {table.name!r} has no target cell of its own; name the (rubric, stratum) that regresses"
        )
    blind = regressed_blind(table, target, scenario, pool)
    if len(blind) == 0:
        raise TableError(
            f"no item of {target[1]} is low on {target[0]} for the strong and high for the cheap judge: nothing to "
            "regress to"
        )
    in_stratum = np.array([table.strata[row] == target[1] for row in stream])
    hit = in_stratum & (np.arange(scenario.items) >= scenario.change_at)
    return np.where(hit, rng.choice(blind, size=scenario.items, replace=True), stream)


def regressed_blind(
    table: ScoreTable, target: tuple[str, str], scenario: Scenario, pool: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Rows of the target cell where the strong score is low and the cheap judge does not see it."""
    rubric = table.rubrics.index(target[0])
    in_stratum = np.array([table.strata[row] == target[1] for row in pool])
    low = table.judge("strong")[pool, rubric] <= scenario.low
    unseen = table.judge("cheap")[pool, rubric] >= scenario.blind
    found: NDArray[np.int64] = pool[in_stratum & low & unseen]
    return found


def _drifted(table: ScoreTable, scenario: Scenario, rng: np.random.Generator) -> NDArray[np.float64]:
    """The scores of the judge that takes over, for every item of the table."""
    if scenario.judge_change != "synthetic":
        return table.judge(scenario.judge_change)
    strong = table.judge("strong")
    noise = rng.normal(0.0, scenario.synthetic_noise, size=strong.shape)
    return np.clip(strong + scenario.synthetic_shift + noise, 0.0, 1.0)


def _asked_again(scores: NDArray[np.float64], scenario: Scenario, rng: np.random.Generator) -> NDArray[np.float64]:
    """The same judge on the same items, once more: some scores move one grid step."""
    if scenario.repeat_noise == 0.0:
        return np.ascontiguousarray(scores)
    moves = rng.random(scores.shape) < scenario.repeat_noise
    step = np.where(rng.random(scores.shape) < 0.5, -scenario.grid_step, scenario.grid_step)
    return np.clip(np.where(moves, scores + step, scores), 0.0, 1.0)


def run(staged: Staged) -> Monitor:
    """Let the monitor see the whole stream."""
    staged.monitor.observe_block(staged.block)
    return staged.monitor


def confusion(
    table: ScoreTable, config: MonitorConfig, scenario: Scenario, seeds: range
) -> dict[Condition, dict[str, int]]:
    """Verdict counts per ground truth: the paper's Table 1."""
    counts: dict[Condition, dict[str, int]] = {}
    for condition in CONDITIONS:
        row = {"none": 0, "system": 0, "judge": 0}
        for seed in seeds:
            monitor = run(stage(table, replace(config, seed=seed), replace(scenario, condition=condition)))
            row[monitor.verdict.kind] += 1
        counts[condition] = row
    return counts
