"""Streams with known ground truth: a table's items drawn at random, with the system, the judge or both drifting.

The paper's set-up (section 5.1): streams of 1,200 items with the change at 300; system drift draws the target cell
from a regressed-blind pool (strong low, cheap high); judge drift swaps the strong judge, on stream and anchors alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
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


ROWS, PASSES, SCORES, DRIFT = range(2, 6)
"""What a generator of a seed is for."""


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


class Cast:
    """Who takes part in the streams of one seed: anchors, calibration and the items everything is drawn from.

    Shared by all conditions and configs of that seed, so that they differ in nothing else.
    """

    def __init__(self, table: ScoreTable, anchors: int, seed: int) -> None:
        self.table, self.seed = table, seed
        rows = np.random.default_rng([seed, 1]).permutation(len(table))
        self.anchor_rows: NDArray[np.int64] = rows[:anchors]
        self.pool: NDArray[np.int64] = rows[anchors:]
        self._calibrations: dict[tuple[object, ...], Calibration] = {}
        self._anchor_sets: dict[tuple[int, float, bool], AnchorSet] = {}

    def generator(self, purpose: int) -> np.random.Generator:
        """A generator of its own for every use, so that no use shifts another's numbers."""
        return np.random.default_rng([self.seed, purpose])

    def calibration(self, config: MonitorConfig) -> Calibration:
        """Bars from every item that is not an anchor."""
        key = (config.strata, config.slack, config.alpha_system, config.baseline_share)
        if key not in self._calibrations:
            pooled = len(config.strata) == 1
            labels = [config.strata[0] if pooled else self.table.strata[row] for row in self.pool]
            scores, ids = self.table.judge("strong")[self.pool], np.array(self.table.ids)[self.pool].tolist()
            self._calibrations[key] = Calibration.from_scores(labels, scores, config, ids=ids, low_bars="skip")
        return self._calibrations[key]

    def anchors(self, scenario: Scenario, *, pooled: bool = False) -> AnchorSet:
        """The anchors with their baseline passes, and with their strata unless the stream is watched as one."""
        key = (scenario.passes, scenario.repeat_noise, pooled)
        if key not in self._anchor_sets:
            rng, strong = self.generator(PASSES), self.table.judge("strong")[self.anchor_rows]
            passes = np.array([_asked_again(strong, scenario, rng) for _ in range(scenario.passes)])
            ids, human = (
                np.array(self.table.ids)[self.anchor_rows].tolist(),
                self.table.judge("human")[self.anchor_rows],
            )
            strata = None if pooled else [self.table.strata[row] for row in self.anchor_rows]
            self._anchor_sets[key] = AnchorSet(ids=ids, human=human, passes=passes, strata=strata)
        return self._anchor_sets[key]


@lru_cache(maxsize=512)
def cast(table: ScoreTable, anchors: int, seed: int) -> Cast:
    """The cast of a seed, made once."""
    if anchors >= len(table):
        raise TableError(f"{len(table)} items cannot give {anchors} anchors and a calibration; use fewer anchors")
    return Cast(table, anchors, seed)


def stage(table: ScoreTable, config: MonitorConfig, scenario: Scenario) -> Staged:
    """A monitor and its stream, all of it decided by the config's seed.

    A config with the single stratum `all` watches the pooled stream.
    """
    people = cast(table, scenario.anchors, config.seed)
    anchors = people.anchors(scenario, pooled=len(config.strata) == 1)
    monitor = Monitor(config, calibration=people.calibration(config), anchors=anchors)
    assert monitor.baseline is not None
    rows = _stream_rows(people, scenario)
    rng = people.generator(SCORES)
    strong, drifted = table.judge("strong"), _drifted(people, scenario)
    after = np.arange(scenario.items) >= scenario.change_at
    moved = after if scenario.condition in ("judge", "both") else np.zeros_like(after)
    kept = people.anchor_rows[monitor.baseline.kept]
    repeats = 32 if scenario.repeat_noise > 0.0 else 1
    rescored = [[_asked_again(judge[kept], scenario, rng) for _ in range(repeats)] for judge in (strong, drifted)]
    block = Block(
        strata=_stratum_codes(table)[rows] if len(config.strata) > 1 else np.zeros(len(rows), dtype=np.int64),
        cheap=table.judge("cheap")[rows],
        strong=_asked_again(np.where(moved[:, None], drifted[rows], strong[rows]), scenario, rng),
        versions=moved.astype(np.int64),
        rescored=np.array(rescored),
    )
    return Staged(monitor, block, scenario)


@lru_cache(maxsize=16)
def _stratum_codes(table: ScoreTable) -> NDArray[np.int64]:
    index = {name: t for t, name in enumerate(table.stratum_names)}
    return np.array([index[stratum] for stratum in table.strata], dtype=np.int64)


def _stream_rows(people: Cast, scenario: Scenario) -> NDArray[np.int64]:
    """Items drawn with replacement; after a system change the target stratum comes from the regressed-blind pool."""
    table, rng = people.table, people.generator(ROWS)
    rows = rng.choice(people.pool, size=scenario.items, replace=True)
    if scenario.condition not in ("system", "both"):
        return rows
    target = scenario.target or TARGET_CELLS.get(table.name)
    if target is None:
        raise TableError(f"table {table.name!r} has no target cell of its own; name the (rubric, stratum) to regress")
    blind = regressed_blind(table, target, scenario, people.pool)
    if len(blind) == 0:
        raise TableError(
            f"no item of {target[1]} is low on {target[0]} for the strong judge and high for the cheap one, so there "
            f"is nothing to regress to; choose another cell"
        )
    in_stratum = _stratum_codes(table)[rows] == table.stratum_names.index(target[1])
    hit = in_stratum & (np.arange(scenario.items) >= scenario.change_at)
    return np.where(hit, rng.choice(blind, size=scenario.items, replace=True), rows)


def regressed_blind(
    table: ScoreTable, target: tuple[str, str], scenario: Scenario, pool: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Rows of the target cell where the strong score is low and the cheap judge does not see it."""
    rubric = table.rubrics.index(target[0])
    in_stratum = _stratum_codes(table)[pool] == table.stratum_names.index(target[1])
    low = table.judge("strong")[pool, rubric] <= scenario.low
    unseen = table.judge("cheap")[pool, rubric] >= scenario.blind
    found: NDArray[np.int64] = pool[in_stratum & low & unseen]
    return found


def _drifted(people: Cast, scenario: Scenario) -> NDArray[np.float64]:
    """The scores of the judge that takes over, for every item of the table."""
    if scenario.judge_change != "synthetic":
        return people.table.judge(scenario.judge_change)
    strong = people.table.judge("strong")
    noise = people.generator(DRIFT).normal(0.0, scenario.synthetic_noise, size=strong.shape)
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
