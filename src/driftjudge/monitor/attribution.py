"""The guard rule (equation 7): from the two families' first alarms to `none`, `system` or `judge`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor import clock as ck
from driftjudge.monitor.verdict import Kind, Status


def attribute(
    clock: NDArray[np.int64],
    *,
    guard: int,
    burst: int,
    anchored: bool,
    oldest_open_item: int | None = None,
) -> tuple[Kind, Status]:
    """Kind and status from the clock and from the position of the oldest item that still waits.

    The guard counts positions in the paper and anchor re-scores where there is a burst. It is known by its last draw
    and never closes on silence: every draw up to that one must have come back.

    >>> clock = ck.new_clock()
    >>> attribute(clock, guard=50, burst=0, anchored=True)
    ('none', 'watching')
    >>> clock[[ck.POSITION, ck.SYSTEM_AT, ck.GUARD_DRAW, ck.DRAWN, ck.CLOSED]] = 120, 100, 30, 24, 24
    >>> attribute(clock, guard=50, burst=0, anchored=True)
    ('system', 'pending')
    >>> clock[[ck.JUDGE_AT, ck.JUDGE_DRAW]] = 120, 24
    >>> attribute(clock, guard=50, burst=0, anchored=True)
    ('judge', 'final')
    """
    system_at, judge_at = int(clock[ck.SYSTEM_AT]), int(clock[ck.JUDGE_AT])
    if not system_at and not judge_at:
        return "none", "watching"
    if not anchored:
        return "unattributed", "final"
    if not system_at:
        # A late strong score could still put the main alarm more than the guard before the anchors'.
        overtaken = not burst and oldest_open_item is not None and oldest_open_item < judge_at - guard
        return "judge", "pending" if overtaken else "final"
    if judge_at:
        # A draw that makes up for one that was due in the guard speaks for it, wherever it was issued.
        by_draw = (burst > 0 or clock[ck.MISSED] > 0) and clock[ck.JUDGE_DRAW] <= clock[ck.GUARD_DRAW]
        in_guard = by_draw or (burst == 0 and judge_at <= system_at + guard)
        return ("judge" if in_guard else "system"), "final"
    passed = burst > 0 or clock[ck.POSITION] >= system_at + guard
    return "system", "final" if passed and clock[ck.CLOSED] >= clock[ck.GUARD_DRAW] else "pending"
