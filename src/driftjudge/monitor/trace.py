"""Running a block while taking down the race: both families' evidence at a bounded number of positions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from driftjudge.monitor import clock as ck
from driftjudge.monitor.block import Block
from driftjudge.monitor.evidence import Trace
from driftjudge.monitor.summary import log_evalue

if TYPE_CHECKING:
    from driftjudge.monitor.monitor import Monitor

POINTS = 400
"""Points per line: more than a screen can show, few enough for a page."""


def traced_run(
    monitor: Monitor, block: Block, *, points: int = POINTS, on_progress: Callable[[Trace], None] | None = None
) -> Trace:
    """Feed the block part by part, reading the evidence after each; parts change nothing, so neither does looking."""
    rows: list[tuple[float, ...]] = []
    bounds = np.unique(np.linspace(0, len(block), min(max(points, 1), len(block)) + 1).astype(int))
    for start, stop in pairwise(bounds.tolist()):
        monitor.observe_block(block.part(start, stop))
        judge = monitor.judge_evalue
        rows.append(
            (
                monitor.position,
                log_evalue(monitor.system_evalue),
                log_evalue(judge) if judge == judge else judge,
                monitor._clock[ck.STRONG_CALLS],
                monitor._clock[ck.ANCHOR_CALLS],
            )
        )
        if on_progress is not None:
            on_progress(_trace(monitor, rows))
    return _trace(monitor, rows)


def _trace(monitor: Monitor, rows: list[tuple[float, ...]]) -> Trace:
    columns = np.array(rows, dtype=np.float64).reshape(-1, 5).T
    return Trace(
        position=columns[0].astype(np.int64),
        system=columns[1],
        judge=columns[2],
        strong_calls=columns[3].astype(np.int64),
        anchor_calls=columns[4].astype(np.int64),
        system_threshold=log_evalue(monitor.config.system_threshold),
        judge_threshold=log_evalue(monitor.config.judge_threshold),
    )
