"""Honest baselines: which statistics of the anchors are watched, against which centre, and what may be bet on each.

Some passes define the judge's usual score, the others, fresh, bound its rates and means. Reusing the same passes for
both would make the judge look steadier than it is (statistics page, section 3).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor.anchors import AnchorSet
from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.errors import AnchorError
from driftjudge.stats import anchors as st
from driftjudge.stats.betting import cap_above, cap_below
from driftjudge.stats.bounds import highest_rate, mean_radius
from driftjudge.stats.ladder import Rung, deltas, ladder

HIGHEST_WATCHED_RATE = 0.5
"""A judge that departs from its usual score every other time leaves nothing for a fingerprint to see."""
FEWEST_SCREENED = 0.5
"""Screening keeps at least this share of the anchors, or is not done."""
GRID_LEVELS = 25
"""Scores with more distinct values than this are continuous: `paired` is watched, departures need a resolution."""

SHARES = {st.GAP: 1.0, st.PAIRED: 2.0, st.DEPARTURE: 2.0, st.ANY_DEPARTURE: 2.0, st.SILENCE: 0.5}
"""Weight of each kind of statistic in the family, spread evenly over its rubrics and directions. A judge compared with
itself shows a change sooner than compared with humans; the gap keeps a smaller share as it alone speaks of them."""


@dataclass(frozen=True)
class Component:
    """One e-process of the anchor family: a statistic, its direction, and the composite null it bets against."""

    kind: int
    rubric: int
    direction: float
    """What the judge would have done: BELOW is harsher, ABOVE more lenient (or, for any departure, different)."""
    centre: float
    """q0 -/+ eps for a mean, p0 for a rate: the bound at `baseline_share` of alpha."""
    weight: float = 1.0
    """Its share in the family, relative to the others'."""
    ladder: tuple[Rung, ...] = ()
    """The bounds that are bet against instead of `centre`, at no share of alpha; empty where there is just the one."""
    stratum: int = -1
    """Index into `config.strata` where it watches the anchors of one stratum; -1 for all of them."""

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """What is bet against."""
        return self.ladder or (Rung(self.centre, 1.0),)

    @property
    def seen_through(self) -> bool:
        """Whether the bound at `baseline_share` of alpha leaves anything to see; a ladder sees a little more."""
        highest = 1.0 if self.kind in (st.GAP, st.PAIRED) else HIGHEST_WATCHED_RATE
        return 0.0 < self.centre < 1.0 and self.centre <= highest

    @property
    def side(self) -> float:
        """Which way the statistic moves then. A departure becomes *more* frequent in either direction."""
        return self.direction if self.kind in (st.GAP, st.PAIRED) else st.ABOVE

    @property
    def cap(self) -> float:
        """Largest bet against `centre` that keeps the factor at or above 0."""
        return self.cap_at(self.centre)

    def cap_at(self, centre: float) -> float:
        """Largest bet against this bound; 0 where nothing lies beyond it."""
        if self.side == st.BELOW:
            return float(cap_below(centre)) if centre > 0.0 else 0.0
        return float(cap_above(centre)) if centre < 1.0 else 0.0


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
    groups: NDArray[np.int64] | None = None
    """Per kept anchor, 1 + the place of its stratum in `local`, or 0 where that is not watched by itself."""
    local: tuple[int, ...] = ()
    """Strata watched by themselves, as indices into `config.strata`."""


def baseline_of(anchors: AnchorSet, config: MonitorConfig) -> Baseline:
    """The baseline of an anchor set, computed once per set of settings it depends on."""
    key = (
        *(config.rubrics, config.alpha_judge, config.baseline_share, config.statistics, config.screen),
        *(config.climbs, config.strata, config.local_share, config.stratum_anchors),
    )
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
    defining, fresh = split_passes(passes, config)
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
    continuous = [_levels(defining[:, :, r]) > GRID_LEVELS for r in range(len(config.rubrics))]
    groups, local = _local_groups(anchors, kept, config, notes)
    share = config.local_share if local else 0.0
    setting = (config, len(passes) > 1, continuous)
    components = _components(*setting, fresh, human, usual, resolution, notes=notes, share=1.0 - share)
    for place, stratum in enumerate(local, start=1):
        members = groups == place
        theirs, labels, modes = (np.ascontiguousarray(x) for x in (fresh[:, members], human[members], usual[members]))
        components += _components(
            *setting, theirs, labels, modes, resolution, stratum=stratum, share=share / len(local)
        )
    delta = 0.0 if exact else _delta(config, 1)
    drifts = [_drift(fresh[:, :, r], usual[:, r], delta) for r in range(len(config.rubrics))]
    drift, error = (np.array(column) for column in zip(*drifts, strict=True))
    gap = np.nanmean(fresh - human, axis=(0, 1))
    return Baseline(kept, usual, resolution, gap, drift, error, components, tuple(notes), groups, local)


def _local_groups(
    anchors: AnchorSet, kept: NDArray[np.int64], config: MonitorConfig, notes: list[str]
) -> tuple[NDArray[np.int64], tuple[int, ...]]:
    """Which kept anchors form a stratum that is watched by itself: decided by their number, never by their scores."""
    groups = np.zeros(len(kept), dtype=np.int64)
    if anchors.strata is None or config.local_share == 0.0:
        return groups, ()
    codes = np.array([config.strata.index(anchors.strata[a]) for a in kept.tolist()])
    counts = np.bincount(codes, minlength=len(config.strata))
    local = tuple(np.flatnonzero((counts >= config.stratum_anchors) & (counts < len(kept))).tolist())
    for place, stratum in enumerate(local, start=1):
        groups[codes == stratum] = place
    few = [name for name, count in zip(config.strata, counts, strict=True) if count < config.stratum_anchors]
    if few:
        shown = ", ".join(few[:5]) + (f" and {len(few) - 5} more" if len(few) > 5 else "")
        notes.append(
            f"fewer than {config.stratum_anchors} anchors are left in {shown}: a judge that moves only there is seen "
            "through all anchors together"
        )
    return groups, local


def split_passes(passes: NDArray[np.float64], config: MonitorConfig) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The passes that define usual scores and those that bound; the same ones where nothing is bounded, or just one."""
    if config.baseline_share == 0.0 or len(passes) == 1:
        return passes, passes
    return passes[: len(passes) // 2], passes[len(passes) // 2 :]


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
    compare: bool,
    continuous: list[bool],
    fresh: NDArray[np.float64],
    human: NDArray[np.float64],
    usual: NDArray[np.float64],
    resolution: NDArray[np.float64],
    *,
    notes: list[str] | None = None,
    stratum: int = -1,
    share: float = 1.0,
) -> tuple[Component, ...]:
    """One component per statistic, rubric and direction, over all anchors or those of one stratum.

    `share` is what they have of the family's mass, and of what bounds may spend.

    With a ladder none may be left out because of what the bounding passes show: shares that followed the sample would
    spend more than the ladder's worth. A bound that leaves no room is then simply not bet against.
    """
    rubrics = range(len(config.rubrics))
    found: list[Component] = []
    notes = [] if notes is None else notes

    def observed(kind: int, r: int, direction: float) -> NDArray[np.float64]:
        return st.anchor_statistics(kind, r, direction, fresh, human, usual, resolution)

    def mean_components(kind: int, r: int) -> None:
        for direction in (st.BELOW, st.ABOVE):
            mean = float(np.mean(observed(kind, r, direction)))

            def bound(delta: float, mean: float = mean, direction: float = direction) -> float:
                return mean + direction * _radius(fresh[:, :, r], direction, delta) / 2.0

            centre = mean if config.baseline_share == 0.0 else bound(share * _delta(config, 2))
            rungs: tuple[Rung, ...] = ()
            if config.climbs:
                far = float(direction == st.ABOVE)
                rungs = ladder(tuple(min(max(bound(delta), 0.0), 1.0) for delta in deltas()), far)
            component = Component(kind, r, direction, centre, SHARES[kind] / (2 * len(rubrics)), rungs)
            if component.seen_through or config.climbs:
                found.append(component)
            if not component.seen_through:
                side = "harsher" if direction == st.BELOW else "more lenient"
                notes.append(
                    f"too few anchors and passes to watch whether {config.rubrics[r]} is judged {side} by its mean"
                )

    def rate_component(kind: int, r: int, direction: float, delta: float, what: str) -> None:
        events = observed(kind, r, direction)
        count, highest = int(events.sum()), highest_rate(int(events.sum()), len(events), delta)
        share = SHARES[kind] / (1 if kind in st.OF_NO_RUBRIC else 2 * len(rubrics))
        rungs: tuple[Rung, ...] = ()
        if config.climbs:
            rungs = ladder(tuple(highest_rate(count, len(events), delta) for delta in deltas()), 1.0)
        component = Component(kind, r, direction, highest, share, rungs)
        if component.seen_through or config.climbs:
            found.append(component)
        if not component.seen_through:
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
                rate_component(st.DEPARTURE, r, direction, share * _delta(config, 4), config.rubrics[r])
        rate_component(st.ANY_DEPARTURE, 0, st.ABOVE, share * _delta(config, 4), "any rubric")
        rate_component(st.SILENCE, 0, st.ABOVE, share * _delta(config, 4), "no score at all")
    elif "fingerprint" in config.statistics:
        notes.append(
            "one baseline pass cannot tell the judge's own noise from a change: the fingerprint is off; add passes"
        )
    if "paired" in config.statistics and compare:
        for r in rubrics:
            if continuous[r]:
                mean_components(st.PAIRED, r)
    if stratum < 0 and not any(component.seen_through for component in found):
        raise AnchorError(
            f"{len(human)} anchors x {len(fresh)} bounding passes bound nothing about this judge; add anchors or "
            "baseline passes"
        )
    # Mass that a stratum loses with a component goes to its others, so that what one stratum shows moves no other's.
    mass = sum(component.weight for component in found)
    return tuple(replace(c, stratum=stratum, weight=share * c.weight / mass) for c in found)


def _levels(scores: NDArray[np.float64]) -> int:
    """Number of distinct scores."""
    return len(np.unique(scores[~np.isnan(scores)].round(9)))


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
