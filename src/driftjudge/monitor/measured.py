"""What the re-scores since a judge alarm say: how far the judge moved, and whether it agrees better with the humans.

Both are differences on the same anchor between a score and the usual one, so that anchors that differ from each other
cost nothing: y - u for the shift, |y - h| - |u - h| for the distance to the humans. Half of alpha_judge pays for the
confidence sequence of the new judge, half for the bound on what the old one did in the fresh baseline passes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor.anchors import AnchorSet
from driftjudge.monitor.baseline import Baseline, split_passes
from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.correction import COUNT, Correction
from driftjudge.monitor.evidence import Agreement
from driftjudge.monitor.verdict import ANY_RUBRIC
from driftjudge.stats.bounds import mean_radius, signed_average_bounds
from driftjudge.stats.intervals import interval_so_far

Matrix = NDArray[np.float64]


class Change(NamedTuple):
    """Of a mean difference on the anchors: its value at time 0 and now, and an interval of now minus then."""

    before: float
    now: float
    low: float
    high: float
    rescores: int


class Measured:
    """The re-scores since the alarm beside the baseline they are compared with."""

    def __init__(self, config: MonitorConfig, anchors: AnchorSet, baseline: Baseline, correction: Correction) -> None:
        kept = correction.measured[: int(correction.progress[COUNT])]
        drawn = kept[:, 0].astype(np.int64)
        human = anchors.human[baseline.kept]
        fresh = split_passes(anchors.passes, config)[1][:, baseline.kept]
        self.config, self.single = config, len(anchors.passes) == 1
        self.usual_distance = np.abs(baseline.usual - human)
        self.old_shift, self.new_shift = fresh - baseline.usual, kept[:, 1:] - baseline.usual[drawn]
        self.old_distance = np.abs(fresh - human) - self.usual_distance
        self.new_distance = np.abs(kept[:, 1:] - human[drawn]) - self.usual_distance[drawn]

    def shift(self, r: int) -> Change:
        """Of the score on rubric r."""
        return self._change(self.old_shift[:, :, r], self.new_shift[:, r], len(self.config.rubrics))

    def agreements(self) -> tuple[Agreement, ...]:
        """Of the distance to the humans: over all rubrics, then rubric by rubric."""
        rubrics = self.config.rubrics
        parts = [(ANY_RUBRIC, slice(None)), *((name, slice(r, r + 1)) for r, name in enumerate(rubrics))]
        found = []
        for name, part in parts:
            old, new = _mean(self.old_distance[:, :, part]), _mean(self.new_distance[:, part])
            usual = float(np.nanmean(self.usual_distance[:, part]))
            change = self._change(old, new, len(parts))
            level, now = 1.0 - self.config.alpha_judge, usual + change.now
            found.append(Agreement(name, usual + change.before, now, change.low, change.high, level, change.rescores))
        return tuple(found)

    def _change(self, old: Matrix, new: Matrix, intervals: int) -> Change:
        """One of so many intervals that hold together."""
        share = self.config.alpha_judge / 2.0 / intervals
        scored = new[~np.isnan(new)]
        low, high = (2.0 * end - 1.0 for end in interval_so_far((scored + 1.0) / 2.0, share))
        answered = ~np.isnan(old)
        before = float(np.mean(old[answered])) if answered.any() else 0.0
        if self.config.baseline_share == 0.0:
            least = most = before
        elif self.single:  # the one pass defined what it is compared with: only its size bounds its error
            anchors = np.broadcast_to(np.arange(old.shape[1]), old.shape)[answered]
            radius = mean_radius(np.clip(old[answered] + 0.5, 0.0, 1.0), anchors, share)
            least, most = before - radius, before + radius
        else:
            least, most = signed_average_bounds(old[answered], share / 2.0)
        now = float(np.mean(scored)) if len(scored) else math.nan
        return Change(before, now, max(low - most, -1.0), min(high - least, 1.0), len(scored))


def _mean(differences: Matrix) -> Matrix:
    """Over rubrics; NaN where one of them was not scored."""
    averaged: Matrix = np.mean(differences, axis=-1)
    return averaged
