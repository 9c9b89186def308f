"""What a monitor can show for its verdict: plain values for people, reports and pages."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.verdict import During, Verdict
from driftjudge.stats.onset import CLAIMED


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
    level: float = math.nan
    """Probability with which the intervals of all rubrics hold at every moment."""


@dataclass(frozen=True)
class Agreement:
    """How far the judge's scores lie from the humans' on the anchors, after a judge alarm and at time 0."""

    rubric: str
    """`*` for all rubrics together."""
    before: float
    """Mean of |judge - human| at time 0."""
    now: float
    """The same over the re-scores since the alarm."""
    low: float
    high: float
    """Anytime-valid interval of `now - before`: below 0 the new judge agrees better with the humans."""
    level: float
    """Probability with which the intervals of all rubrics hold at every moment."""
    rescores: int

    @property
    def reading(self) -> Literal["better", "worse", "no difference shown"]:
        """Which way the interval points."""
        if self.high < 0.0:
            return "better"
        return "worse" if self.low > 0.0 else "no difference shown"


@dataclass(frozen=True)
class JudgeStratum:
    """What the anchors of one stratum say about the judge, where they are watched by themselves."""

    stratum: str
    anchors: int
    rescores: int
    log_e: float
    """Natural log of the e-value of this stratum's statistics."""
    named: bool
    """True when the judge is shown to have moved here, by closed testing over all anchors and every stratum."""


@dataclass(frozen=True)
class Drop:
    """Since when a named cell has been lower, and by how much: estimates made when the system alarm rose.

    No theorem stands behind these intervals; `claimed` is what they were seen to keep in simulations.
    """

    rubric: str
    stratum: str
    since: int
    """Estimated position of the first item after the change."""
    since_low: int
    since_high: int
    size: float
    """How far the mean lay below the bar since then."""
    size_low: float
    size_high: float
    claimed: float = CLAIMED


@dataclass(frozen=True)
class SystemDuringJudge:
    """The system tested against bars lowered by how far the judge moved, after a judge alarm."""

    state: During
    alarm_at: int | None
    cells: tuple[tuple[str, str], ...]
    """(rubric, stratum) named then."""
    log_e: float
    """Natural log of the test's e-value; NaN before enough re-scores were made."""
    threshold: float
    """Natural log of the e-value at which the system counts as dropped."""
    rescores: int
    """Re-scores since the judge alarm that the bound on the shift rests on."""
    lowered: tuple[tuple[str, str, float], ...]
    """(rubric, stratum or `*`, by how much the bars are lowered at present); 1 stands for not known yet."""
    alpha: float
    """Probability of ever claiming a drop of a system that did not drop, after one judge alarm."""
    assumption: str


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
    """`system_alarm`, `judge_alarm`, `guard_closed`, `corrected_alarm`, `acknowledged`, `reanchored`."""
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
    agreement: tuple[Agreement, ...] = ()
    """After a judge alarm, all rubrics together first; empty before."""
    judge_strata: tuple[JudgeStratum, ...] = ()
    """Strata whose anchors are watched by themselves."""
    drops: tuple[Drop, ...] = ()
    """The cells that the system alarm named, strongest first."""
    during_judge: SystemDuringJudge | None = None
    """After a judge alarm: what can be said about the system."""
    details: tuple[str, ...] = ()
    """Plain sentences under the verdict's one: how much, where, since when."""
