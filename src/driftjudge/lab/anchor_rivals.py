"""What others watch a judge with: z-tests, Page-Hinkley, control charts and a kappa rule, on anchor re-scores.

One function per detector. Each returns how many re-scores had been taken when it first alarmed, 0 for never. An
unscored gap (NaN) is no observation: none of these methods has a place for it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from driftjudge.lab.anchor_streams import AnchorStream
from driftjudge.stats._jit import kernel

WINDOW = 30
"""Re-scores in the rolling z-test. The paper gives no number; 30 on the mean gap is close to its figures."""
CRITICAL = 1.959964
"""Two-sided normal quantile at 0.05."""
TOLERANCE = 0.005
"""Page-Hinkley's delta: the default of river and scikit-multiflow."""
BATCH = 20
"""Re-scores per batch mean of the control charts."""
EWMA_SMOOTHING, EWMA_WIDTH = 0.2, 3.0
CUSUM_ALLOWANCE, CUSUM_DECISION = 0.5, 5.0
KAPPA_DROP = 0.10
ROUNDING = 1e-9


@kernel
def rolling_z(
    gaps: NDArray[np.float64], centre: NDArray[np.float64], spread: NDArray[np.float64], window: int, critical: float
) -> int:
    """z-test of the last `window` gaps of each column against its known mean and deviation, after every re-score.

    Alarms when |mean - centre| > critical * spread / sqrt(window) in any column: the textbook test, repeated without
    correction for looking again and again.

    >>> rolling_z(np.array([[0.5], [0.9], [0.9]]), np.array([0.5]), np.array([0.1]), 2, 2.0)
    2
    """
    recent = np.zeros((gaps.shape[1], window))
    seen = np.zeros(gaps.shape[1], dtype=np.int64)
    for i in range(gaps.shape[0]):
        for r in range(gaps.shape[1]):
            if math.isnan(gaps[i, r]):
                continue
            recent[r, seen[r] % window] = gaps[i, r] - centre[r]
            seen[r] += 1
            limit = critical * spread[r] / math.sqrt(window) + ROUNDING
            if seen[r] >= window and abs(recent[r].mean()) > limit:
                return i + 1
    return 0


@kernel
def page_hinkley_path(gaps: NDArray[np.float64], centre: NDArray[np.float64], tolerance: float) -> NDArray[np.float64]:
    """The largest Page-Hinkley statistic over columns and directions, after every re-score.

    Upwards U_n = sum_i (x_i - m_i - delta) and PH_n = U_n - min(0, U_1 .. U_n); downwards the same for -x. m_i is the
    running mean x_1 .. x_i where `centre` is NaN (the usual form), and the known mean `centre` otherwise, which makes
    it Page's CUSUM.

    References: Page (1954), Continuous inspection schemes; Hinkley (1971), Inference about the change-point from
    cumulative sum tests.

    >>> page_hinkley_path(np.array([[0.5], [0.5], [0.8]]), np.array([0.5]), 0.1).round(6).tolist()
    [0.0, 0.0, 0.2]
    """
    path = np.zeros(gaps.shape[0])
    columns = gaps.shape[1]
    count, total = np.zeros(columns), np.zeros(columns)
    above, below = np.zeros(columns), np.zeros(columns)
    for i in range(gaps.shape[0]):
        for r in range(columns):
            if not math.isnan(gaps[i, r]):
                count[r] += 1.0
                total[r] += gaps[i, r]
                mean = total[r] / count[r] if math.isnan(centre[r]) else centre[r]
                # U_n - min(0, U_1 .. U_n) is U reflected at 0.
                above[r] = max(above[r] + gaps[i, r] - mean - tolerance, 0.0)
                below[r] = max(below[r] + mean - gaps[i, r] - tolerance, 0.0)
            path[i] = max(path[i], above[r], below[r])
    return path


@kernel
def batch_zscores(
    gaps: NDArray[np.float64], centre: NDArray[np.float64], spread: NDArray[np.float64], batch: int
) -> NDArray[np.float64]:
    """Standardised means of full batches, per column: (mean - centre) / (spread / sqrt(scored)); NaN with none scored.

    >>> z = batch_zscores(np.array([[0.5], [0.7], [0.6], [0.6]]), np.array([0.5]), np.array([0.2]), 4)
    >>> z.round(6).tolist()
    [[1.0]]
    """
    found = np.full((gaps.shape[0] // batch, gaps.shape[1]), np.nan)
    for b in range(found.shape[0]):
        for r in range(gaps.shape[1]):
            count, total = 0, 0.0
            for i in range(b * batch, (b + 1) * batch):
                if not math.isnan(gaps[i, r]):
                    count += 1
                    total += gaps[i, r] - centre[r]
            if count > 0:
                found[b, r] = total / count / (max(spread[r], ROUNDING) / math.sqrt(count))
    return found


@kernel
def ewma_chart(scores: NDArray[np.float64], smoothing: float, width: float) -> int:
    """Batches until an exponentially weighted mean of unit-variance scores leaves its limits; 0 for never.

    e_t = l z_t + (1 - l) e_{t-1}, alarm at |e_t| > L sqrt(l / (2 - l) (1 - (1 - l)^(2t))), in any column.

    Reference: Roberts (1959), Control chart tests based on geometric moving averages.

    >>> ewma_chart(np.array([[0.0], [0.0], [4.0], [4.0]]), 0.2, 3.0)
    4
    """
    smoothed, seen = np.zeros(scores.shape[1]), np.zeros(scores.shape[1])
    for t in range(scores.shape[0]):
        for r in range(scores.shape[1]):
            if math.isnan(scores[t, r]):
                continue
            seen[r] += 1.0
            smoothed[r] = smoothing * scores[t, r] + (1.0 - smoothing) * smoothed[r]
            variance = smoothing / (2.0 - smoothing) * (1.0 - (1.0 - smoothing) ** (2.0 * seen[r]))
            if abs(smoothed[r]) > width * math.sqrt(variance):
                return t + 1
    return 0


@kernel
def cusum_chart(scores: NDArray[np.float64], allowance: float, decision: float) -> int:
    """Batches until a two-sided tabular CUSUM of unit-variance scores exceeds its decision interval; 0 for never.

    C+_t = max(0, C+_{t-1} + z_t - k), C-_t = max(0, C-_{t-1} - z_t - k), alarm at C > h, in any column.

    Reference: Page (1954); Montgomery, Introduction to statistical quality control, chapter 9.

    >>> cusum_chart(np.array([[0.0], [3.5], [3.5]]), 0.5, 5.0)
    3
    """
    above, below = np.zeros(scores.shape[1]), np.zeros(scores.shape[1])
    for t in range(scores.shape[0]):
        for r in range(scores.shape[1]):
            if math.isnan(scores[t, r]):
                continue
            above[r] = max(0.0, above[r] + scores[t, r] - allowance)
            below[r] = max(0.0, below[r] - scores[t, r] - allowance)
            if max(above[r], below[r]) > decision:
                return t + 1
    return 0


def cohen_kappa(first: NDArray[np.float64], second: NDArray[np.float64], step: float) -> float:
    """Cohen's unweighted kappa of two raters whose scores are rounded to a grid; items that either left out are not.

    kappa = (p_o - p_e) / (1 - p_e). Two raters who use one and the same label throughout agree fully: 1.

    Reference: Cohen (1960), A coefficient of agreement for nominal scales.

    >>> cohen_kappa(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 1.0, 1.0]), 0.5)
    0.5
    """
    both = ~(np.isnan(first) | np.isnan(second))
    if not both.any():
        return math.nan
    one, other = (np.rint(scores[both] / step).astype(np.int64) for scores in (first, second))
    levels = int(max(one.max(), other.max())) + 1
    shares = [np.bincount(labels, minlength=levels) / len(labels) for labels in (one, other)]
    chance = float(shares[0] @ shares[1])
    return 1.0 if chance >= 1.0 - ROUNDING else (float(np.mean(one == other)) - chance) / (1.0 - chance)


def kappa_rule(stream: AnchorStream, step: float, drop: float) -> int:
    """Re-score all anchors at once; alarm when kappa against the humans fell by more than `drop` on any rubric.

    What judge-drift-sentinel does (rule JUDGE_DRIFT, default drop 0.10). A full re-score costs k calls, so at the
    budget of the other methods one is made whenever k re-scores have been saved up. A rubric that nobody scored any
    more is not compared.
    """
    anchors, rubrics = stream.human.shape

    def agreement(scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([cohen_kappa(scores[:, r], stream.human[:, r], step) for r in range(rubrics)])

    before = agreement(stream.usual)
    known: dict[tuple[int, int], bool] = {}
    for taken in range(anchors, len(stream) + 1, anchors):
        version, repeat = int(stream.versions[taken - 1]), int(stream.repeats[taken - 1])
        if (version, repeat) not in known:
            fall = before - agreement(stream.rescored[version, repeat])
            known[version, repeat] = bool((fall > drop + ROUNDING).any())
        if known[version, repeat]:
            return taken
    return 0
