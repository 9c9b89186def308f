"""Where a stream stands: positions, draws and first alarms, in one array that kernels and the Monitor share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from driftjudge.stats._jit import kernel

(
    POSITION,  # items observed
    APPLIED,  # items whose evidence is in, in order
    DRAWN,  # anchor draws issued
    CLOSED,  # anchor draws that are in, or were withdrawn
    SYSTEM_AT,  # position of the first main alarm of this epoch, 0 for none
    JUDGE_AT,  # position of the first anchor alarm of this epoch, 0 for none
    JUDGE_DRAW,  # number of the draw that raised it
    GUARD_DRAW,  # the last draw of the guard
    STRONG_CALLS,
    ANCHOR_CALLS,
    CHEAP_UNSCORED,
    STRONG_UNSCORED,
    ANCHOR_UNSCORED,
    MISSED,  # draws of this epoch that were due and found no room
) = range(14)

FIELDS = 14


def new_clock() -> NDArray[np.int64]:
    """The clock before the first item."""
    return np.zeros(FIELDS, dtype=np.int64)


@kernel
def note_main(
    clock: NDArray[np.int64],
    position: int,
    evalue: float,
    threshold: float,
    burst: int,
    guard: int = 0,
    every: int = 0,
) -> bool:
    """Book one applied item; on the epoch's first main alarm open the guard and return True.

    With a burst, that many anchors are drawn the moment the main family alarms, unless the anchors spoke before:
    a rule that looks only at the past, hence valid, and one that no longer waits for the schedule. Without one, the
    guard holds the draws scheduled at the next `guard` positions. Draws that could not be issued, now or before, are
    owed: later ones take their numbers, so that silence never closes a guard.
    """
    clock[APPLIED] = position
    if clock[SYSTEM_AT] != 0 or evalue < threshold:
        return False
    clock[SYSTEM_AT] = position
    if burst > 0:
        if clock[JUDGE_AT] == 0:
            clock[DRAWN] += burst
        clock[GUARD_DRAW] = clock[DRAWN]
    elif every > 0:
        still_to_come = (position + guard) // every - clock[POSITION] // every
        clock[GUARD_DRAW] = clock[DRAWN] + still_to_come + clock[MISSED]
    return True


@kernel
def note_anchor(clock: NDArray[np.int64], position: int, evalue: float, threshold: float, measure: int = 0) -> bool:
    """Book one applied re-score; on the epoch's first anchor alarm return True.

    What is still to come is withdrawn then. With `measure` it is kept instead, and made up to that many draws at least:
    they are all the new judge's, and show by how much it moved.
    """
    clock[CLOSED] += 1
    clock[ANCHOR_CALLS] += 1
    if clock[JUDGE_AT] != 0 or evalue < threshold:
        return False
    clock[JUDGE_AT] = position
    clock[JUDGE_DRAW] = clock[CLOSED]
    if measure > 0:
        clock[DRAWN] = max(clock[DRAWN], clock[CLOSED] + measure)
    else:
        clock[CLOSED] = clock[DRAWN]
    return True
