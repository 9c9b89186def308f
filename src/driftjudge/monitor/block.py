"""Many items at once through the Monitor's own kernels: what table replays and simulations call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor import clock as ck
from driftjudge.monitor.anchor_process import AnchorProcess
from driftjudge.monitor.errors import MonitorError, ScoreError
from driftjudge.monitor.stream import run_stream
from driftjudge.stats.coins import ACQUISITION, ANCHOR_DRAW, SIMULATION, coins

if TYPE_CHECKING:
    from driftjudge.monitor.monitor import Monitor


@dataclass(frozen=True)
class Block:
    """Items with every score known beforehand. NaN is unscored, never a score."""

    strata: NDArray[np.int64]
    """Index into `config.strata`, per item."""
    cheap: NDArray[np.float64]
    """n x R."""
    strong: NDArray[np.float64]
    """n x R, of the judge in force at each item; read only where the coin asks."""
    versions: NDArray[np.int64]
    """Which version of the judge is in force at each item: an index into `rescored`."""
    rescored: NDArray[np.float64]
    """versions x repeats x kept anchors x R: what the judge answers on the anchors, one repeat chosen by coin."""

    def __len__(self) -> int:
        """Number of items."""
        return len(self.strata)

    def part(self, start: int, stop: int) -> Block:
        """The items `start` .. `stop - 1`."""
        return Block(
            self.strata[start:stop],
            self.cheap[start:stop],
            self.strong[start:stop],
            self.versions[start:stop],
            self.rescored,
        )


def run_block(monitor: Monitor, block: Block) -> None:
    """See `Monitor.observe_block`."""
    _check(monitor, block)
    config, clock = monitor.config, monitor._clock
    anchored = monitor._anchor is not None
    process = monitor._anchor if monitor._anchor is not None else _no_anchors(len(config.rubrics))
    rescored = block.rescored if anchored else np.empty((1, 1, 0, len(config.rubrics)))
    every = config.anchor_every if anchored else 0
    first_draw = int(clock[ck.CLOSED])
    draws = (len(block) // every if every else 0) + config.burst + 2
    item_coins = coins(config.seed, ACQUISITION, monitor.position, len(block))
    draw_coins = coins(config.seed, ANCHOR_DRAW, first_draw, draws)
    repeat_coins = coins(config.seed, SIMULATION, first_draw, draws)
    done = 0
    while done < len(block):
        system_at, judge_at = int(clock[ck.SYSTEM_AT]), int(clock[ck.JUDGE_AT])
        done += monitor._compute(
            run_stream, monitor._main, process, clock, every, monitor._burst,
            block.strata[done:], block.cheap[done:], block.strong[done:], item_coins[done:],
            block.versions[done:], rescored, draw_coins, repeat_coins, first_draw,
        )  # fmt: skip
        if clock[ck.SYSTEM_AT] != system_at:
            monitor._on_system_alarm()
        if clock[ck.JUDGE_AT] != judge_at:
            monitor._on_judge_alarm()
    if monitor.verdict.status == "pending":
        monitor._refresh(int(clock[ck.SYSTEM_AT]) + (0 if monitor._burst else config.guard))


def _check(monitor: Monitor, block: Block) -> None:
    config = monitor.config
    if len(monitor._items) or len(monitor._draws):
        raise MonitorError("scores are outstanding; record them before feeding a block, which is applied at once")
    shape = (len(block), len(config.rubrics))
    for name, scores in (("cheap", block.cheap), ("strong", block.strong)):
        if scores.shape != shape:
            raise ScoreError(
                f"{name} scores have the shape {scores.shape}; give one row of {shape[1]} scores for each of the "
                f"{shape[0]} items"
            )
        bad = (scores < 0.0) | (scores > 1.0)
        if bad.any():
            raise ScoreError(f"{name} scores hold {scores[bad][0]:g}, outside [0, 1]; map your scale to [0, 1] first")
    if len(block) and not (int(block.strata.min()) >= 0 and int(block.strata.max()) < len(config.strata)):
        raise ScoreError(f"stratum indices reach {int(block.strata.max())}; the config has {len(config.strata)} strata")
    if monitor.baseline is not None:
        kept = len(monitor.baseline.kept)
        if block.rescored.ndim != 4 or block.rescored.shape[2:] != (kept, shape[1]):
            raise ScoreError(
                f"rescored has the shape {block.rescored.shape}; give versions x repeats x {kept} kept anchors x "
                f"{shape[1]} rubrics"
            )
        if len(block) and int(block.versions.max()) >= len(block.rescored):
            raise ScoreError(
                f"items name judge version {int(block.versions.max())} but rescored holds {len(block.rescored)}"
            )


def _no_anchors(rubrics: int) -> AnchorProcess:
    """A process that is never stepped: kernels want arrays of the right kind even where there are no anchors."""
    nothing, table, none = np.empty(0), np.empty((0, rubrics)), np.empty((0, 3), dtype=np.int64)
    return AnchorProcess(0, 0, 0.0, 0.0, table, table, nothing, nothing, none, table, table, table)
