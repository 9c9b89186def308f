"""river's drift detectors exactly as shipped, where river is installed (extra `lab`)."""

from __future__ import annotations

import importlib
import importlib.util
import math

import numpy as np
from numpy.typing import NDArray

DETECTORS = ("ADWIN", "PageHinkley")
HOW_TO_INSTALL = 'river is not installed, so its ADWIN and PageHinkley are left out; run: pip install "driftjudge[lab]"'


def river_installed() -> bool:
    """Whether the rows of river can be had."""
    return importlib.util.find_spec("river") is not None


def river_detector(name: str, values: NDArray[np.float64]) -> int:
    """Values that a river detector with default parameters had seen at its first drift; 0 for never, NaN is skipped."""
    detector = getattr(importlib.import_module("river.drift"), name)()
    for i, value in enumerate(values.tolist()):
        if math.isnan(value):
            continue
        detector.update(value)
        if detector.drift_detected:
            return i + 1
    return 0
