"""After a judge alarm: measure the judge anew, and test the system against bars lowered by how far the judge moved.

Nothing from before the alarm is used, because nobody knows when the judge changed: the alarm is a stopping time,
re-scores and labels after it are the new judge's. With u the usual score of an anchor, y0 and y1 the old and the new
judge's,

    shift = E[y1 - u] - E[y0 - u]  >=  low1 - high0

where low1 is a confidence sequence over the re-scores since the alarm and high0 a bound from the baseline's fresh
passes, each at half of `shift_share` of alpha_system. A healthy cell then has a mean of at least

    m' = m + min(low1 - high0, 0) - shift_tolerance

under the new judge, if the anchors represent the stream to within the tolerance. m' rises as re-scores come in; it is
fixed before each label is known, so that the main family's own step tests it. Bars are never raised: near the top of
the scale a more lenient judge has no room to be as lenient as on the anchors.

A call that failed counts against a high bar: as the worst score after the alarm, as the best one before.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor.acquisition import BOUNDARY, FULL
from driftjudge.monitor.anchors import AnchorSet
from driftjudge.monitor.baseline import Baseline, split_passes
from driftjudge.monitor.calibration import Calibration
from driftjudge.monitor.config import MOST_MEASURED, MonitorConfig
from driftjudge.monitor.layout import BAR, NULL, RECENT
from driftjudge.monitor.main_process import MainProcess, main_step, new_main_process
from driftjudge.stats._jit import kernel
from driftjudge.stats.bounds import mean_radius, signed_average_bounds
from driftjudge.stats.intervals import lowest_mean_so_far
from driftjudge.stats.prediction import highest_observation, highest_observation_on_ramp, observation_cap

FEWEST_MEASURED = 10
"""Re-scores before which no bound is worth computing."""
LOWEST_NULL = 0.01
"""A lowered bar below this leaves no room for a drop: nothing is bet there."""
NO_USUAL = 0.5
"""Stands in for the usual score of an anchor that the judge usually refuses; it cancels."""

COUNT, READ, ALARM_AT, STARTED, SETTLED = range(5)
"""Progress: re-scores kept; how many the bounds in force have seen; position of the alarm; whether any bar is tested;
and whether it is settled which anchors speak for which stratum."""


class Correction(NamedTuple):
    """Settings, then the state: `lowered`, `measured` and `progress`."""

    test: bool
    """Whether the system is tested; otherwise the judge is only measured."""
    delta: float
    """Error probability of one bound on the new judge."""
    tolerance: float
    usual: NDArray[np.float64]
    anchor_group: NDArray[np.int64]
    """Which shift an anchor speaks for; -1 for none."""
    stratum_group: NDArray[np.int64]
    """Which shift a stratum's bars are lowered by; -1 where none is known."""
    before: NDArray[np.float64]
    """high0, group x rubric."""
    nulls: NDArray[np.float64]
    """m of every cell; NaN: not tested."""
    lowered: NDArray[np.float64]
    """What the bars are lowered by now, group x rubric."""
    measured: NDArray[np.float64]
    """Re-scores since the alarm: anchor, then a score per rubric."""
    progress: NDArray[np.float64]


def new_correction(
    config: MonitorConfig, calibration: Calibration, anchors: AnchorSet, baseline: Baseline, *, local: bool
) -> tuple[Correction, MainProcess]:
    """Nothing measured yet, and the corrected main family at wealth 1.

    `local`: the judge moved in some strata only, so that every stratum is corrected by its own anchors. That is settled
    when the re-scores asked for at the alarm are in; as they also bound the shift, both ways to correct share alpha.
    """
    rubrics, kept = len(config.rubrics), len(baseline.kept)
    anchor_group = np.zeros(kept, dtype=np.int64)
    stratum_group = np.zeros(len(config.strata), dtype=np.int64)
    if local and baseline.groups is not None:
        anchor_group = baseline.groups - 1
        stratum_group[:] = -1
        stratum_group[list(baseline.local)] = np.arange(len(baseline.local))
    groups = int(anchor_group.max()) + 1
    nulls = np.where((stratum_group < 0)[:, None], np.nan, calibration.nulls)
    test = config.shift_share > 0.0 and not np.isnan(nulls).all()
    ways = 2 if baseline.local else 1
    delta = config.alpha_system * config.shift_share / (2 * ways * rubrics * groups) if test else 0.5
    key: tuple[object, ...] = (
        "before",
        config.rubrics,
        config.screen,
        config.baseline_share,
        delta,
        tuple(anchor_group.tolist()),
    )
    if key not in anchors.baselines:
        anchors.baselines[key] = _before(config, anchors, baseline, anchor_group, groups, delta)
    correction = Correction(
        test=test,
        delta=delta,
        tolerance=float(config.shift_tolerance),
        usual=np.where(np.isnan(baseline.usual), NO_USUAL, baseline.usual),
        anchor_group=anchor_group,
        stratum_group=stratum_group,
        before=anchors.baselines[key],
        nulls=nulls.ravel(),
        lowered=np.full((groups, rubrics), -1.0),
        measured=np.zeros((MOST_MEASURED, 1 + rubrics)),
        progress=np.zeros(5),
    )
    # An e-detector's promise is about alarms; what is said about the system afterwards is an ordinary test.
    plain = replace(config, run_length=None)
    bars = replace(calibration, nulls=nulls)
    corrected = new_main_process(plain, bars)._replace(threshold=float(config.corrected_threshold))
    lower_bars(correction, corrected)
    return correction, corrected


def _before(
    config: MonitorConfig,
    anchors: AnchorSet,
    baseline: Baseline,
    anchor_group: NDArray[np.int64],
    groups: int,
    delta: float,
) -> NDArray[np.float64]:
    """high0 per group and rubric: how far above its usual scores the old judge may have scored on average."""
    _, fresh = split_passes(anchors.passes, config)
    highest = np.empty((groups, anchors.human.shape[1]))
    for (group, r), _ in np.ndenumerate(highest):
        members = np.flatnonzero(anchor_group == group)
        scores, usual = fresh[:, baseline.kept[members], r], baseline.usual[members, r]
        filled = np.where(np.isnan(scores), 1.0, scores)
        apart = filled - np.where(np.isnan(usual), NO_USUAL, usual)
        if config.baseline_share == 0.0:
            highest[group, r] = float(np.mean(apart))
        elif len(anchors.passes) == 1:  # the one pass defined the usual scores: only its size bounds its error
            alone = np.broadcast_to(np.arange(len(members)), filled.shape)
            highest[group, r] = mean_radius(filled.ravel(), np.ascontiguousarray(alone.ravel()), delta)
        else:
            highest[group, r] = signed_average_bounds(apart.ravel(), delta)[1]
    return highest


@kernel
def take_measure(c: Correction, anchor: int, scores: NDArray[np.float64]) -> None:
    """Keep one re-score made after the alarm, as long as there is room."""
    n = int(c.progress[COUNT])
    if n < len(c.measured):
        c.measured[n, 0] = anchor
        c.measured[n, 1:] = scores
        c.progress[COUNT] += 1.0


@kernel
def correct_item(
    c: Correction,
    corrected: MainProcess,
    position: int,
    t: int,
    cheap: NDArray[np.float64],
    asked: bool,
    pi: float,
    strong: NDArray[np.float64],
) -> bool:
    """Take in an item observed after the alarm; True when it shows that the system dropped as well."""
    progress = c.progress
    if not c.test or progress[SETTLED] == 0.0 or progress[ALARM_AT] > 0.0 or c.stratum_group[t] < 0:
        return False
    read_shift_when_due(c, corrected)
    if progress[STARTED] == 0.0:
        return False
    if main_step(corrected, t, cheap, asked, pi, strong) < corrected.threshold:
        return False
    progress[ALARM_AT] = position
    corrected.cells[:, RECENT] = 1.0  # what is shown needs no more labels
    return True


@kernel
def read_shift_when_due(c: Correction, corrected: MainProcess) -> None:
    """Renew the bounds when there is a sixteenth more to go by: a rule that looks at counts only."""
    if c.test and c.progress[COUNT] >= FEWEST_MEASURED and 16.0 * c.progress[COUNT] >= 17.0 * c.progress[READ]:
        read_shift(c)
        lower_bars(c, corrected)


@kernel
def read_shift(c: Correction) -> None:
    """Bring `lowered` up to date with what was measured."""
    n = int(c.progress[COUNT])
    values = np.empty(n)
    for group in range(len(c.lowered)):
        for r in range(c.lowered.shape[1]):
            size = 0
            for i in range(n):
                anchor = int(c.measured[i, 0])
                if c.anchor_group[anchor] == group:
                    y = c.measured[i, 1 + r]
                    values[size] = ((0.0 if math.isnan(y) else y) - c.usual[anchor, r] + 1.0) / 2.0
                    size += 1
            low = 2.0 * lowest_mean_so_far(values[:size], c.delta) - 1.0 - c.before[group, r]
            c.lowered[group, r] = min(low, 0.0) - c.tolerance
    c.progress[READ] = n


@kernel
def lower_bars(c: Correction, corrected: MainProcess) -> None:
    """Put the lowered bars, and the largest bets they allow, into force."""
    cells, caps = corrected.cells, corrected.caps
    for cell in range(len(cells)):
        group = c.stratum_group[cell // corrected.rubrics]
        if math.isnan(c.nulls[cell]):
            continue
        null = c.nulls[cell] + c.lowered[group, cell % corrected.rubrics]
        if null < LOWEST_NULL:
            null = 0.0
        else:
            c.progress[STARTED] = 1.0
        cells[cell, NULL] = null
        for w in range(caps.shape[1]):
            if null == 0.0:
                caps[cell, w] = 0.0
                continue
            omega = corrected.proxies[w]
            if corrected.acquisition == BOUNDARY:
                highest = highest_observation_on_ramp(null, omega, cells[cell, BAR], corrected.budget)
            else:
                highest = highest_observation(null, omega, 1.0 if corrected.acquisition == FULL else corrected.budget)
            caps[cell, w] = observation_cap(highest, null)
