"""The restart-and-bet mixture: an e-process that does not go deaf with age (statistics page, section 3).

For each bet fraction j, with prior mass w_n on "the change starts at the n-th observation":

    M_j <- (M_j + w_n) (1 + f_j lambda_max d),     E = mean_j M_j + (prior mass not yet spent)

A convex combination of e-processes that start later (and hold cash until then) is an e-process with E_0 = 1. With
w_n = 1 and no cash the same recursion is the Shiryaev-Roberts e-detector: it gives up the promise "no false alarm
ever, with probability 1 - alpha" for "false alarms at least A observations apart on average" (alarm at A).

References: Shin, Ramdas and Rinaldo (2024), E-detectors; Waudby-Smith and Ramdas (2024), Betting.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from driftjudge.stats._jit import inlined_kernel, kernel
from driftjudge.stats.betting import ROUNDING, WEALTH_CEILING


@inlined_kernel
def restart_step(
    rows: NDArray[np.float64],
    row: int,
    first: int,
    fractions: NDArray[np.float64],
    weight: float,
    cap: float,
    d: float,
) -> float:
    """Advance the components `rows[row, first : first + len(fractions)]` by one observation; return their sum.

    The caller checks `cap * d` with `legal_step`: a check in here would keep this loop from being fast.

    >>> m = np.zeros((1, 2))
    >>> round(restart_step(m, 0, 0, np.array([0.5, 1.0]), 0.5, 2.0, 0.25), 12)
    1.375
    >>> m.tolist()
    [[0.625, 0.75]]
    """
    step = cap * d
    total = 0.0
    for j in range(len(fractions)):
        factor = max(1.0 + fractions[j] * step, 0.0)
        value = min((rows[row, first + j] + weight) * factor, WEALTH_CEILING)
        rows[row, first + j] = value
        total += value
    return total


@kernel
def legal_step(step: float, largest_fraction: float) -> bool:
    """Whether the steepest factor 1 + f lambda_max d stays at or above 0, rounding aside.

    >>> legal_step(-1.0, 0.9), legal_step(-1.2, 0.9)
    (True, False)
    """
    return step * largest_fraction >= -1.0 - ROUNDING
