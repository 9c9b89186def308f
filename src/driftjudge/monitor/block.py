"""Many items at once through the Monitor's own kernels: what table replays and simulations call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor import clock as ck
from driftjudge.monitor.anchor_process import AnchorProcess
from driftjudge.monitor.errors import MonitorError, ScoreError
from driftjudge.monitor.stream import run_corrected_stream, run_measures, run_stream
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
    draws = (len(block) // every if every else 0) + config.burst + config.measure + 2
    item_coins = coins(config.seed, ACQUISITION, monitor.position, len(block))
    draw_coins = coins(config.seed, ANCHOR_DRAW, first_draw, draws)
    repeat_coins = coins(config.seed, SIMULATION, first_draw, draws)
    done = 0
    while done < len(block):
        system_at, judge_at = int(clock[ck.SYSTEM_AT]), int(clock[ck.JUDGE_AT])
        stop = _next_stop(monitor, len(block), done)
        correction = monitor._correction
        corrected_at = monitor._corrected_at
        items = (block.strata[done:stop], block.cheap[done:stop], block.strong[done:stop], item_coins[done:stop])
        judged = (block.versions[done:stop], rescored, draw_coins, repeat_coins, first_draw, config.guard)
        if correction is None:
            done += monitor._compute(
                run_stream, monitor._main, process, clock, every, monitor._burst, *items, *judged, monitor._measure
            )
        else:
            done += monitor._compute(
                run_corrected_stream, monitor._main, process, correction, monitor._corrected, clock, every,
                monitor._burst, *items, *judged,
            )  # fmt: skip
        if clock[ck.SYSTEM_AT] != system_at:
            monitor._on_system_alarm()
        if clock[ck.JUDGE_AT] != judge_at:
            monitor._on_judge_alarm()
            asked = (clock, rescored[block.versions[done - 1]], draw_coins, repeat_coins, first_draw)
            monitor._compute(run_measures, process, monitor._correction, *asked, monitor._measure)
            monitor._settle_correction()
            monitor._compute(run_measures, process, monitor._correction, *asked)
        if monitor._corrected_at != corrected_at:
            monitor._on_corrected_alarm()
        if monitor.verdict.status == "pending":
            monitor._refresh()


def _next_stop(monitor: Monitor, length: int, done: int) -> int:
    """The end of the block, or of an open guard: its closing is part of the story and has its place there."""
    if monitor.verdict.status != "pending" or monitor._burst:
        return length
    left = int(monitor._clock[ck.SYSTEM_AT]) + monitor.config.guard - monitor.position
    return min(length, done + left) if left > 0 else length


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
    if block.versions.shape != block.strata.shape:
        raise ScoreError(f"{len(block.versions)} judge versions for {len(block)} items; give one each")
    strata = block.strata[(block.strata < 0) | (block.strata >= len(config.strata))]
    if len(strata):
        raise ScoreError(f"an item has the stratum index {int(strata[0])}; the config has {len(config.strata)} strata")
    if monitor.baseline is not None:
        _check_rescored(block.rescored, len(monitor.baseline.kept), shape[1])
        versions = block.versions[(block.versions < 0) | (block.versions >= len(block.rescored))]
        if len(versions):
            raise ScoreError(
                f"an item names judge version {int(versions[0])}, but rescored holds {len(block.rescored)}"
            )


def _check_rescored(rescored: NDArray[np.float64], kept: int, rubrics: int) -> None:
    if rescored.ndim != 4 or rescored.shape[2:] != (kept, rubrics) or 0 in rescored.shape:
        raise ScoreError(
            f"rescored has the shape {rescored.shape}; give versions x repeats x {kept} kept anchors x {rubrics} "
            f"rubrics"
        )
    bad = (rescored < 0.0) | (rescored > 1.0)
    if bad.any():
        raise ScoreError(f"rescored holds {rescored[bad][0]:g}, outside [0, 1]; map your scale to [0, 1] first")


def _no_anchors(rubrics: int) -> AnchorProcess:
    """A process that is never stepped: kernels want arrays of the right kind even where there are no anchors."""
    nothing, table, none = np.empty(0), np.empty((0, rubrics)), np.empty((0, 3), dtype=np.int64)
    groups = np.empty(0, dtype=np.int64)
    return AnchorProcess(0, 0, 0.0, 0.0, table, table, nothing, nothing, none, groups, none, table, table, table)
