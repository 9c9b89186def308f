"""Honest baselines: which statistics of the anchors are watched, against which centre, and what may be bet on each.

Some passes define the judge's usual score, the others, fresh, bound its rates and means. Reusing the same passes for
both would make the judge look steadier than it is (statistics page, section 3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor.anchors import AnchorSet
from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.errors import AnchorError
from driftjudge.stats import anchors as st
from driftjudge.stats.betting import cap_above, cap_below
from driftjudge.stats.bounds import highest_rate, mean_radius

HIGHEST_WATCHED_RATE = 0.5
"""A judge that departs from its usual score every other time leaves nothing for a fingerprint to see."""
FEWEST_SCREENED = 0.5
"""Screening keeps at least this share of the anchors, or is not done."""
GRID_LEVELS = 25
"""Scores with more distinct values than this are continuous: `paired` is watched, departures need a resolution."""


@dataclass(frozen=True)
class Component:
    """One e-process of the anchor family: a statistic, its direction, and the composite null it bets against."""

    kind: int
    rubric: int
    direction: float
    """What the judge would have done: BELOW is harsher, ABOVE more lenient (or, for any departure, different)."""
    centre: float
    """q0 -/+ eps for a mean, p0 for a rate."""

    @property
    def side(self) -> float:
        """Which way the statistic moves then. A departure becomes *more* frequent in either direction."""
        return self.direction if self.kind in (st.GAP, st.PAIRED) else st.ABOVE

    @property
    def cap(self) -> float:
        """Largest bet that keeps the factor at or above 0."""
        return float(cap_below(self.centre) if self.side == st.BELOW else cap_above(self.centre))


@dataclass(frozen=True)
class Baseline:
    """The anchors that are drawn from, and the components that watch them."""

    kept: NDArray[np.int64]
    """Indices into the anchor set; all of them unless screened."""
    usual: NDArray[np.float64]
    """The judge's usual score on the kept anchors; NaN where it usually refuses."""
    resolution: NDArray[np.float64]
    gap: NDArray[np.float64]
    """Mean of judge minus human at time 0, per rubric, over the scored."""
    drift: NDArray[np.float64]
    """Mean of fresh scores minus usual ones at time 0, per rubric: what a shift is measured from."""
    drift_error: NDArray[np.float64]
    """Radius of `drift`; 0 where baselines are taken as exact."""
    components: tuple[Component, ...]
    notes: tuple[str, ...]
    """Plain sentences about what could not be watched, and why."""


def baseline_of(anchors: AnchorSet, config: MonitorConfig) -> Baseline:
    """The baseline of an anchor set, computed once per set of settings it depends on."""
    key = (config.rubrics, config.alpha_judge, config.baseline_share, config.statistics, config.screen)
    if key not in anchors.baselines:
        anchors.baselines[key] = make_baseline(anchors, config)
    baseline: Baseline = anchors.baselines[key]
    return baseline


def make_baseline(anchors: AnchorSet, config: MonitorConfig) -> Baseline:
    """Split the passes, screen, bound, and set up the family."""
    if anchors.human.shape[1] != len(config.rubrics):
        raise AnchorError(
            f"anchors carry {anchors.human.shape[1]} rubrics but the config has {len(config.rubrics)}; give a label "
            "for each"
        )
    exact = config.baseline_share == 0.0
    if exact and set(config.statistics) != {"gap"}:
        raise AnchorError("fingerprint and paired statistics need baseline_share > 0 to bound the judge's own noise")
    passes = anchors.passes
    defining = passes if exact or len(passes) == 1 else passes[: len(passes) // 2]
    fresh = passes if exact or len(passes) == 1 else passes[len(passes) // 2 :]
    notes: list[str] = []
    kept = _screened(defining) if config.screen and len(defining) > 1 else np.arange(len(anchors))
    if len(kept) < len(anchors):
        notes.append(
            f"{len(anchors) - len(kept)} of {len(anchors)} anchors are left out because the judge disagreed with "
            "itself on them at time 0"
        )
    defining, fresh, human = (np.ascontiguousarray(x) for x in (defining[:, kept], fresh[:, kept], anchors.human[kept]))
    for part, scorings in (("defining", defining), ("bounding", fresh)):
        silent = np.isnan(scorings).all(axis=(0, 1))
        if silent.any():
            rubric = config.rubrics[int(np.argmax(silent))]
            raise AnchorError(
                f"no {part} pass scored {rubric!r} on any anchor; score the anchors on every rubric first"
            )
    usual = st.usual_scores(defining)
    resolution = st.resolution_of(defining, GRID_LEVELS)
    if anchors.resolution is not None:
        resolution = np.full(len(config.rubrics), anchors.resolution)
    components = _components(config, fresh, human, usual, resolution, compare=len(passes) > 1, notes=notes)
    delta = 0.0 if exact else _delta(config, 1)
    drifts = [_drift(fresh[:, :, r], usual[:, r], delta) for r in range(len(config.rubrics))]
    drift, error = (np.array(column) for column in zip(*drifts, strict=True))
    gap = np.nanmean(fresh - human, axis=(0, 1))
    return Baseline(kept, usual, resolution, gap, drift, error, components, tuple(notes))


def _screened(defining: NDArray[np.float64]) -> NDArray[np.int64]:
    """Anchors on which every defining pass agrees on every rubric; all anchors where too few would be left."""
    steady = np.all((defining == defining[0]) | (np.isnan(defining) & np.isnan(defining[0])), axis=(0, 2))
    if steady.mean() < FEWEST_SCREENED:
        return np.arange(len(steady))
    return np.flatnonzero(steady)


def _delta(config: MonitorConfig, bounds_per_rubric: int) -> float:
    """The share of alpha one bound may spend: equal parts per statistic, then per rubric and direction."""
    return (
        config.alpha_judge * config.baseline_share / (len(config.statistics) * len(config.rubrics) * bounds_per_rubric)
    )


def _components(
    config: MonitorConfig,
    fresh: NDArray[np.float64],
    human: NDArray[np.float64],
    usual: NDArray[np.float64],
    resolution: NDArray[np.float64],
    *,
    compare: bool,
    notes: list[str],
) -> tuple[Component, ...]:
    rubrics = range(len(config.rubrics))
    found: list[Component] = []

    def observed(kind: int, r: int, direction: float) -> NDArray[np.float64]:
        return st.anchor_statistics(kind, r, direction, fresh, human, usual, resolution)

    def mean_components(kind: int, r: int) -> None:
        for direction in (st.BELOW, st.ABOVE):
            radius = (
                0.0 if config.baseline_share == 0.0 else _radius(fresh[:, :, r], direction, _delta(config, 2)) / 2.0
            )
            centre = float(np.mean(observed(kind, r, direction))) + direction * radius
            if 0.0 < centre < 1.0:
                found.append(Component(kind, r, direction, centre))
            else:
                side = "harsher" if direction == st.BELOW else "more lenient"
                notes.append(
                    f"too few anchors and passes to watch whether {config.rubrics[r]} is judged {side} by its mean"
                )

    def rate_component(kind: int, r: int, direction: float, delta: float, what: str) -> None:
        events = observed(kind, r, direction)
        highest = highest_rate(int(events.sum()), len(events), delta)
        if highest <= HIGHEST_WATCHED_RATE:
            found.append(Component(kind, r, direction, highest))
        else:
            notes.append(
                f"the judge may depart from its usual score in {highest:.0%} of re-scores ({what}): too often to be "
                "a fingerprint"
            )

    if "gap" in config.statistics:
        for r in rubrics:
            mean_components(st.GAP, r)
    if "fingerprint" in config.statistics and compare:
        for r in rubrics:
            for direction in (st.BELOW, st.ABOVE):
                rate_component(st.DEPARTURE, r, direction, _delta(config, 3), config.rubrics[r])
        rate_component(st.ANY_DEPARTURE, 0, st.ABOVE, _delta(config, 3), "any rubric")
    elif "fingerprint" in config.statistics:
        notes.append(
            "one baseline pass cannot tell the judge's own noise from a change: the fingerprint is off; add passes"
        )
    if "paired" in config.statistics and compare:
        for r in rubrics:
            if len(np.unique(fresh[:, :, r][~np.isnan(fresh[:, :, r])].round(9))) > GRID_LEVELS:
                mean_components(st.PAIRED, r)
    if not found:
        raise AnchorError(
            f"{len(human)} anchors x {len(fresh)} bounding passes bound nothing about this judge; add anchors or "
            "baseline passes"
        )
    return tuple(found)


def _drift(scores: NDArray[np.float64], usual: NDArray[np.float64], delta: float) -> tuple[float, float]:
    """Mean of fresh scores minus usual ones over what was scored, and its radius (0 when taken as exact).

    Which calls were refused is part of the past by the time anything is measured, so the bound conditions on it.
    """
    scored = ~np.isnan(scores - usual)
    if not scored.any():
        return 0.0, 1.0
    groups = np.broadcast_to(np.arange(scores.shape[1]), scores.shape)[scored]
    mean = float(np.mean((scores - usual)[scored]))
    return mean, mean_radius(scores[scored], groups, delta) if delta > 0.0 else 0.0


def _radius(scores: NDArray[np.float64], direction: float, delta: float) -> float:
    """Error of the mean score over fresh passes (m x k), unscored ones imputed as in the stream."""
    missing = 1.0 if direction == st.BELOW else 0.0
    filled = np.where(np.isnan(scores), missing, scores)
    groups = np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
    return mean_radius(filled.ravel(), np.ascontiguousarray(groups.ravel()), delta)
