"""Two classical change detectors, one statistic per cell, whose common threshold comes from drift-free streams.

Both read standardised scores z = (x - mean) / deviation of their cell and look for a drop. The paper names them and
no more; pinned down here as

Page-Hinkley        U_n = sum_i (z_i - running mean_i + tolerance), statistic max_{j <= n} U_j - U_n with U_0 = 0
                    (Page 1954), tolerance 0.1 deviations.
Shiryaev-Roberts    R_n = (1 + R_{n-1}) exp(-s z_n - s^2/2), the likelihood ratio of a Gaussian mean lowered by s = 0.5
                    deviations (Shiryaev 1963); the statistic is log R_n, because R_n overflows.

Unlike an e-process they promise nothing beyond the streams they were calibrated on.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from driftjudge.stats._jit import kernel

TOLERANCE = 0.1
SHIFT = 0.5


@kernel
def page_hinkley(strata: NDArray[np.int64], scores: NDArray[np.float64], cells: int) -> NDArray[np.float64]:
    """After every item the largest statistic among the cells of its stratum (the only ones that moved).

    `cells` is the number of strata. max_j U_j - U_n is updated as max(0, previous - (U_n - U_{n-1})).

    >>> page_hinkley(np.zeros(3, dtype=np.int64), np.array([[1.0], [0.0], [-2.0]]), 1).round(6).tolist()
    [0.0, 0.4, 1.966667]
    """
    rubrics = scores.shape[1]
    seen, means, falls = np.zeros(cells), np.zeros((cells, rubrics)), np.zeros((cells, rubrics))
    path = np.empty(len(strata))
    for i in range(len(strata)):
        t = strata[i]
        seen[t] += 1.0
        path[i] = 0.0
        for r in range(rubrics):
            means[t, r] += (scores[i, r] - means[t, r]) / seen[t]
            falls[t, r] = max(0.0, falls[t, r] - (scores[i, r] - means[t, r] + TOLERANCE))
            path[i] = max(path[i], falls[t, r])
    return path


@kernel
def shiryaev_roberts(strata: NDArray[np.int64], scores: NDArray[np.float64], cells: int) -> NDArray[np.float64]:
    """After every item the largest log R among the cells of its stratum; `cells` is the number of strata.

    >>> shiryaev_roberts(np.zeros(2, dtype=np.int64), np.array([[0.0], [-1.0]]), 1).round(6).tolist()
    [-0.125, 1.007599]
    """
    rubrics = scores.shape[1]
    logs = np.full((cells, rubrics), -np.inf)
    path = np.empty(len(strata))
    for i in range(len(strata)):
        t = strata[i]
        path[i] = -np.inf
        for r in range(rubrics):
            # log(1 + R) without overflow.
            grown = max(logs[t, r], 0.0) + math.log1p(math.exp(-abs(logs[t, r])))
            logs[t, r] = grown - SHIFT * scores[i, r] - 0.5 * SHIFT * SHIFT
            path[i] = max(path[i], logs[t, r])
    return path


def standardised(
    strata: NDArray[np.int64], scores: NDArray[np.float64], known: NDArray[np.int64], healthy: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Scores in deviations from their cell's healthy mean; `known` and `healthy` are in-control strata and scores.

    A cell whose healthy scores are all the same keeps its scale.
    """
    result = np.empty_like(scores)
    for t in np.unique(strata):
        reference = healthy[known == t]
        spread = reference.std(axis=0)
        result[strata == t] = (scores[strata == t] - reference.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    return result
