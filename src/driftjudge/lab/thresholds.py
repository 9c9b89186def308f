"""Thresholds for classical detectors, learnt from drift-free streams, and when a statistic crosses one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

ROUNDING = 1e-9


def in_sample_threshold(peaks: NDArray[np.float64], alpha: float) -> float:
    """The lowest threshold that at most a share alpha of these drift-free streams exceed: the paper's calibration.

    It fits the sample at hand, so that further streams exceed it more often than alpha.

    >>> in_sample_threshold(np.arange(10.0), 0.2)
    7.0
    """
    allowed = int(alpha * len(peaks) + ROUNDING)
    return float(np.sort(peaks)[len(peaks) - 1 - allowed])


def held_out_threshold(peaks: Sequence[float], alpha: float) -> float:
    """The threshold that a further drift-free stream exceeds with probability at most `alpha`.

    The ceil((n + 1)(1 - alpha))-th smallest of the peaks of n held-out streams of the same kind *and length*: right on
    average over calibration samples, not for the sample at hand, and silent about longer streams.

    >>> held_out_threshold([0.5, 0.1, 0.4, 0.2, 0.3, 0.9, 0.8, 0.7, 0.6], 0.2), held_out_threshold([1.0], 0.1)
    (0.8, inf)
    """
    rank = math.ceil((len(peaks) + 1) * (1.0 - alpha) - ROUNDING)
    return sorted(peaks)[rank - 1] if rank <= len(peaks) else math.inf


def first_above(path: NDArray[np.float64], threshold: float) -> int:
    """How many steps a path has taken when it first exceeds the threshold; 0 for never.

    >>> first_above(np.array([0.1, 0.3, 0.2]), 0.2), first_above(np.array([0.1, 0.3]), 0.5)
    (2, 0)
    """
    over = path > threshold
    return int(np.argmax(over)) + 1 if over.any() else 0
