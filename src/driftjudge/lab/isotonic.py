"""Isotonic regression by pooling adjacent violators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression


def isotonic_fit(
    x: NDArray[np.float64], y: NDArray[np.float64]
) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """The best non-decreasing map from x to y, constant between the levels of x it was fitted on.

    >>> correct = isotonic_fit(np.array([0.0, 0.5, 0.5, 1.0]), np.array([0.2, 0.6, 0.4, 0.3]))
    >>> correct(np.array([0.0, 0.5, 1.0])).round(3).tolist()
    [0.2, 0.433, 0.433]
    """
    levels, index, counts = np.unique(x, return_inverse=True, return_counts=True)
    means = np.bincount(index, weights=y) / counts
    fitted = isotonic_regression(means, weights=counts).x

    def correct(values: NDArray[np.float64]) -> NDArray[np.float64]:
        mapped: NDArray[np.float64] = np.interp(values, levels, fitted)
        return mapped

    return correct
