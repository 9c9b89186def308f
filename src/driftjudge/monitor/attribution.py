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
    oldest_open_draw: int | None = None,
) -> tuple[Kind, Status]:
    """Kind and status from the clock and from the positions of the oldest results that are still outstanding.

    The guard counts positions in the paper and anchor re-scores where there is a burst. It never closes on silence:
    re-scores that were asked for within it must have come back.

    >>> clock = ck.new_clock()
    >>> attribute(clock, guard=50, burst=0, anchored=True)
    ('none', 'watching')
    >>> clock[[ck.POSITION, ck.SYSTEM_AT]] = 120, 100
    >>> attribute(clock, guard=50, burst=0, anchored=True)
    ('system', 'pending')
    >>> clock[ck.JUDGE_AT] = 120
    >>> attribute(clock, guard=50, burst=0, anchored=True), attribute(clock, guard=10, burst=0, anchored=True)
    (('judge', 'final'), ('system', 'final'))
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
        in_guard = clock[ck.JUDGE_DRAW] <= clock[ck.GUARD_DRAW] if burst else judge_at <= system_at + guard
        return ("judge" if in_guard else "system"), "final"
    if burst:
        closed = clock[ck.CLOSED] >= clock[ck.GUARD_DRAW]
    else:
        end = system_at + guard
        closed = clock[ck.POSITION] >= end and (oldest_open_draw is None or oldest_open_draw > end)
    return "system", "final" if closed else "pending"
