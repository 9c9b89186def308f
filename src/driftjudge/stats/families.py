"""Many e-processes, one alarm; and after the alarm, which of them to name.

Both alarm rules are expressed as one e-value for the whole family, so that the threshold is always 1/alpha:
`average` is the mean over members, `bonferroni` is the largest member divided by their number. The average is never
smaller, is as valid (a mean of e-processes is an e-process), and so fires no later, ever.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from driftjudge.stats._jit import kernel
from driftjudge.stats.errors import StatisticsError

AVERAGE = 0
BONFERRONI = 1


@kernel
def pool(rows: NDArray[np.float64], column: int, first: int, last: int, rule: int) -> float:
    """Sum (average rule) or largest (Bonferroni rule) of one column over the rows `first` .. `last - 1`.

    Divided by the number of members it is the family's e-value. Pools nest: the pool of the strata's pools is that of
    all cells.

    >>> rows = np.array([[1.0], [4.0], [1.0]])
    >>> pool(rows, 0, 0, 3, AVERAGE), pool(rows, 0, 0, 3, BONFERRONI)
    (6.0, 4.0)
    """
    pooled = 0.0
    for row in range(first, last):
        pooled = pooled + rows[row, column] if rule == AVERAGE else max(pooled, rows[row, column])
    return pooled


def e_holm(evalues: NDArray[np.float64], alpha: float, weights: NDArray[np.float64] | None = None) -> NDArray[np.bool_]:
    """Members rejected with family-wise error at most `alpha`, under any dependence (Vovk and Wang 2021, section 5).

    The closure of the average: member i is named when every subset that contains i has a mean of at least 1/alpha.
    The hardest subsets join i with the smallest of the others. `weights` are the members' shares in the average.

    >>> e_holm(np.array([500.0, 0.5, 25.0]), 0.1).tolist()
    [True, False, True]
    >>> e_holm(np.array([28.0, 1.0, 1.0]), 0.1).tolist()
    [True, False, False]
    >>> e_holm(np.array([28.0, 1.0, 1.0]), 0.1, np.array([0.2, 0.4, 0.4])).tolist()
    [False, False, False]
    """
    _check(evalues, alpha)
    shares = np.ones(len(evalues)) if weights is None else weights
    order = np.argsort(evalues, kind="stable")
    ascending, shares_ascending = (shares * evalues)[order], shares[order]
    named = np.zeros(len(evalues), dtype=np.bool_)
    for rank, index in enumerate(order):
        sums = shares[index] * evalues[index] + np.concatenate(([0.0], np.cumsum(np.delete(ascending, rank))))
        sizes = shares[index] + np.concatenate(([0.0], np.cumsum(np.delete(shares_ascending, rank))))
        named[index] = bool(np.min(sums / sizes) >= 1.0 / alpha)
    return named


def e_bh(evalues: NDArray[np.float64], alpha: float) -> NDArray[np.bool_]:
    """Members rejected with false discovery rate at most `alpha`, under any dependence (Wang and Ramdas 2022).

    >>> e_bh(np.array([40.0, 16.0, 1.0, 0.2]), 0.1).tolist()
    [True, False, False, False]
    >>> e_bh(np.array([40.0, 21.0, 1.0, 0.2]), 0.1).tolist()
    [True, True, False, False]
    """
    _check(evalues, alpha)
    count = len(evalues)
    descending = np.sort(evalues)[::-1]
    enough = descending * np.arange(1, count + 1) >= count / alpha
    if not enough.any():
        return np.zeros(count, dtype=np.bool_)
    cut = descending[np.flatnonzero(enough)[-1]]
    named: NDArray[np.bool_] = evalues >= cut
    return named


def _check(evalues: NDArray[np.float64], alpha: float) -> None:
    if not 0.0 < alpha < 1.0:
        raise StatisticsError(f"alpha lies strictly between 0 and 1, got {alpha}")
    if evalues.ndim != 1 or len(evalues) == 0 or not bool(np.all(evalues >= 0.0)):
        raise StatisticsError("e-values come as a non-empty vector of numbers at or above 0")
