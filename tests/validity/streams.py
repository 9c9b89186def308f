"""Drift-free streams on the very edge of the null, run through the real kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor import MonitorConfig
from driftjudge.monitor import clock as ck
from driftjudge.monitor.anchor_process import AnchorProcess, anchor_step
from driftjudge.monitor.baseline import Component
from driftjudge.monitor.main_process import MainProcess, new_main_process
from driftjudge.monitor.stream import run_stream
from driftjudge.stats._jit import kernel
from tests.validity.anchor_subjects import KINDS, Answers, on_the_null, process_of
from tests.validity.checks import Vector
from tests.validity.main_subjects import calibration_of

GRID = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
RUBRICS, STRATA, ANCHORS, REPEATS = 2, 2, 16, 8


@dataclass(frozen=True)
class NullStreams:
    """A law of (stratum, cheap, strong) whose strong means are known exactly, cell by cell."""

    probabilities: Vector
    """STRATA x RUBRICS x grid: how often the strong judge gives each score."""
    echo: float
    """How often the cheap judge says what the strong one would."""

    @property
    def means(self) -> Vector:
        means: Vector = self.probabilities @ GRID
        return means

    def draw(self, rng: np.random.Generator, items: int) -> tuple[NDArray[np.int64], Vector, Vector]:
        strata = rng.integers(STRATA, size=items)
        steps = np.cumsum(self.probabilities, axis=2)[strata]
        strong = GRID[np.minimum((rng.random((items, RUBRICS))[:, :, None] > steps).sum(axis=2), len(GRID) - 1)]
        other = rng.choice(GRID, size=(items, RUBRICS))
        return strata, np.where(rng.random((items, RUBRICS)) < self.echo, strong, other), strong


def edge_streams(seed: int) -> NullStreams:
    """Cells of different shapes: some nearly always at the top, some all over the scale."""
    rng = np.random.default_rng([seed, 11])
    probabilities = rng.dirichlet([0.3, 0.3, 0.6, 0.8, 1.5], size=(STRATA, RUBRICS))
    return NullStreams(probabilities, echo=0.6)


def steady_judge(seed: int, repeats: int = REPEATS) -> tuple[Answers, Vector]:
    """A noisy judge as an exact law (its repeats, equally likely), and the table of those repeats."""
    rng = np.random.default_rng([seed, 12])
    usual = rng.choice(GRID, size=(ANCHORS, RUBRICS))
    moved = np.clip(usual + rng.choice([-0.25, 0.25], size=(repeats, ANCHORS, RUBRICS)), 0.0, 1.0)
    table = np.where(rng.random(moved.shape) < 0.15, moved, usual)
    table[rng.random(moved.shape) < 0.02] = np.nan
    laws = tuple(tuple((1.0 / repeats, row) for row in table[:, a]) for a in range(ANCHORS))
    return Answers(rng.choice(GRID, size=(ANCHORS, RUBRICS)), usual, np.full(RUBRICS, 0.125), laws), table


def edge_anchors(config: MonitorConfig, judge: Answers) -> AnchorProcess:
    """Every component of the config's statistics with its centre exactly where the judge is."""
    found = [on_the_null(judge, *meaning, 0.0) for s in config.statistics for meaning in KINDS[s]]
    return process_of(config, judge, watchable(found))


def watchable(components: list[Component]) -> list[Component]:
    return [component for component in components if 0.0 < component.centre < 1.0]


def false_alarms(
    main: MainProcess,
    anchors: AnchorProcess,
    streams: NullStreams,
    table: Vector,
    *,
    every: int,
    runs: int,
    items: int,
    seed: int,
) -> tuple[int, int]:
    """In how many of `runs` streams the main family, and the anchor family, ever alarmed."""
    rng = np.random.default_rng([seed, 13])
    main = main._replace(cells=main.cells.copy(), strata=main.strata.copy())
    states = (main.cells, main.strata, anchors.statistics, anchors.progress, anchors.shifts)
    starts = [state.copy() for state in states]
    versions, rescored = np.zeros(items, dtype=np.int64), table[None]
    system = judge = 0
    for _ in range(runs):
        for state, start in zip(states, starts, strict=True):
            state[...] = start
        clock = ck.new_clock()
        strata, cheap, strong = streams.draw(rng, items)
        coins, draw_coins, repeat_coins = rng.random((3, items))
        done = 0
        while done < items and not (clock[ck.SYSTEM_AT] and clock[ck.JUDGE_AT]):
            done += run_stream(
                main, anchors, clock, every, 0, strata[done:], cheap[done:], strong[done:], coins[done:],
                versions[done:], rescored, draw_coins, repeat_coins, 0,
            )  # fmt: skip
        system += bool(clock[ck.SYSTEM_AT])
        judge += bool(clock[ck.JUDGE_AT])
    return system, judge


def edge_main(config: MonitorConfig, streams: NullStreams, *, above: float = 0.0) -> MainProcess:
    """Nulls exactly at the cells' true means, or `above` them: then the streams are no null any more."""
    nulls = streams.means + above
    return new_main_process(config, calibration_of(nulls, np.minimum(nulls + config.slack, 1.0)))


@kernel
def first_crossing(process: AnchorProcess, anchors: NDArray[np.int64], scores: Vector) -> int:
    """Number of the first re-score at which the anchor family alarms, 0 for none."""
    for i in range(len(anchors)):
        if anchor_step(process, anchors[i], scores[i]) >= process.threshold:
            return i + 1
    return 0
