"""What a monitor can show for its verdict: plain values for people, reports and pages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.verdict import Verdict


@dataclass(frozen=True)
class Trace:
    """The race over time: both families' evidence at a bounded number of positions."""

    position: NDArray[np.int64]
    """Stream positions, counted from 1, increasing."""
    system: NDArray[np.float64]
    """Natural log of the main family's e-value after each position."""
    judge: NDArray[np.float64]
    """Natural log of the anchor family's e-value; all NaN without anchors."""
    strong_calls: NDArray[np.int64]
    """Strong-judge calls on stream items so far."""
    anchor_calls: NDArray[np.int64]
    """Anchor re-scores so far."""
    system_threshold: float
    """Natural log of the e-value at which the main family alarms."""
    judge_threshold: float
    """Natural log of the e-value at which the anchor family alarms."""


@dataclass(frozen=True)
class CellEvidence:
    """One rubric x stratum cell of the main family."""

    rubric: str
    stratum: str
    bar: float
    """q0: the healthy mean, from calibration."""
    bar_error: float
    """How far below `bar` the true healthy mean may lie, at the configured share of alpha."""
    null: float
    """m: the cell alarms when its mean is shown to lie below this."""
    calibration_items: int
    observations: int
    mean: float
    """Prediction-powered mean of what was observed; NaN before the first observation."""
    log_e: float
    """Natural log of the cell's e-value."""
    named: bool
    """True when the verdict names this cell: by closed testing at alpha, or as the strongest where that names none."""


@dataclass(frozen=True)
class JudgeShift:
    """How the current judge scores the anchors, against itself at time 0 and against the humans."""

    rubric: str
    baseline_gap: float
    """Mean of judge minus human at time 0."""
    shift: float
    """Estimate of current minus time-0 judge on the anchors; NaN before the first re-score."""
    low: float
    high: float
    """Anytime-valid interval of the shift."""
    since: int
    """The interval uses re-scores made after this position (0: the whole epoch)."""
    rescores: int
    log_e_harsher: float
    log_e_lenient: float
    """Natural log of the e-value in each direction, over this rubric's statistics."""


@dataclass(frozen=True)
class Cost:
    """What the monitor spent, relative to asking the strong judge about every item (equation 4)."""

    items: int
    strong_calls: int
    anchor_calls: int
    cheap_unscored: int
    strong_unscored: int
    anchor_unscored: int
    fraction: float


@dataclass(frozen=True)
class Milestone:
    """One line of the alarm's story."""

    position: int
    kind: str
    """`system_alarm`, `judge_alarm`, `guard_closed`, `acknowledged`, `reanchored`."""
    text: str


@dataclass(frozen=True)
class Evidence:
    """Everything `Monitor.evidence()` can say at the current position."""

    config: MonitorConfig
    verdict: Verdict
    cells: tuple[CellEvidence, ...]
    shifts: tuple[JudgeShift, ...]
    """Empty without anchors."""
    cost: Cost
    story: tuple[Milestone, ...]
    assumptions: tuple[str, ...]
    """Plain sentences: what the error rates rest on."""
