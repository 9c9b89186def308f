"""From state to plain values: which cells and rubrics to name, and everything a report shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor import clock as ck
from driftjudge.monitor.anchor_process import AnchorProcess
from driftjudge.monitor.baseline import Baseline
from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.correction import COUNT as COUNT_MEASURED
from driftjudge.monitor.correction import STARTED
from driftjudge.monitor.details import details_of
from driftjudge.monitor.evidence import (
    CellEvidence,
    Cost,
    Drop,
    Evidence,
    JudgeShift,
    JudgeStratum,
    SystemDuringJudge,
)
from driftjudge.monitor.layout import BAR, EVALUE, ITEMS, KIND, NULL, ONSET, SEEN, SUM_D, WEALTH, WEIGHT
from driftjudge.monitor.main_process import DETECTOR, MainProcess, main_evalue
from driftjudge.monitor.measured import Measured
from driftjudge.monitor.verdict import ANY_RUBRIC
from driftjudge.stats.anchors import ABOVE, BELOW, OF_NO_RUBRIC
from driftjudge.stats.families import AVERAGE, e_holm
from driftjudge.stats.intervals import COUNT, SUM_BET, SUM_BET_X, interval
from driftjudge.stats.onset import ONSET_WIDTH, onset_of

if TYPE_CHECKING:
    from driftjudge.monitor.monitor import Monitor


MOST_DROPS = 20
"""Named cells for which an alarm keeps since when and by how much."""


FEWEST_LOOKS = 8
"""Re-scores of a stratum without a sign of change after which it counts as calm."""


def log_evalue(evalue: float) -> float:
    """Natural log that shows an e-value of 0 as a very small one instead of minus infinity.

    >>> log_evalue(1.0), log_evalue(0.0)
    (0.0, -700.0)
    """
    return math.log(evalue) if evalue > 0.0 else -700.0


def _named(
    evalues: NDArray[np.float64], betting: int, threshold: float, weights: NDArray[np.float64] | None = None
) -> NDArray[np.bool_]:
    """Closed testing at what the bounds have left of alpha. An e-detector's numbers are no e-values: it names none."""
    if betting == DETECTOR:
        return np.zeros(len(evalues), dtype=np.bool_)
    return e_holm(evalues, 1.0 / threshold, weights)


def named_cells(main: MainProcess, config: MonitorConfig) -> tuple[tuple[str, str], ...]:
    """Cells that e-Holm names at the alarm, strongest first; the strongest cell where evidence is spread too thin."""
    flat = main.cells[:, WEALTH]
    watched = np.flatnonzero(~np.isnan(main.cells[:, NULL]))
    named = watched[_named(flat[watched], main.betting, main.threshold)]
    if len(named) == 0:
        named = watched[[int(np.argmax(flat[watched]))]]
    ordered = sorted(named.tolist(), key=lambda cell: (-flat[cell], cell))
    rubrics = len(config.rubrics)
    return tuple((config.rubrics[cell % rubrics], config.strata[cell // rubrics]) for cell in ordered)


def moved_rubrics(anchor: AnchorProcess, config: MonitorConfig) -> tuple[tuple[str, str], ...]:
    """Rubrics whose components e-Holm names at the alarm, with the direction, strongest first.

    Where it names none, the rubric with the strongest evidence of its own, if there is any; an alarm that comes after a
    few re-scores may know only that the judge departs from its usual scores.
    """
    evalues = anchor.statistics[:, EVALUE]
    weights = anchor.statistics[:, WEIGHT] if anchor.alarm_rule == AVERAGE else None
    named = np.flatnonzero(_named(evalues, anchor.betting, anchor.threshold, weights))
    own = np.flatnonzero(~np.isin(anchor.meanings[:, KIND], OF_NO_RUBRIC))
    if not np.isin(named, own).any() and len(own) and float(np.max(evalues[own])) > 1.0:
        named = own[[int(np.argmax(evalues[own]))]]
    found: dict[str, str] = {}
    for i in sorted(named.tolist(), key=lambda i: (-evalues[i], i)):
        kind, r, direction = anchor.meanings[i]
        if kind in OF_NO_RUBRIC:
            continue
        change = "harsher" if direction == BELOW else "more lenient"
        rubric = config.rubrics[r]
        found[rubric] = change if found.get(rubric, change) == change else "different"
    return tuple(found.items()) or ((ANY_RUBRIC, "different"),)


def moved_strata(
    anchor: AnchorProcess, config: MonitorConfig, baseline: Baseline, *, apart: bool = False
) -> tuple[str, ...]:
    """Strata whose own anchors show that the judge moved there, by closed testing over all anchors and every stratum.

    With `apart`, only where another stratum has been looked at and shows no sign of it.
    """
    if not baseline.local:
        return ()
    evalues, betting, threshold, weights = _group_evalues(anchor)
    named = _named(evalues, betting, threshold, weights)
    calm = ~named[1:] & (evalues[1:] < 1.0) & (anchor.progress[1:, SEEN] >= FEWEST_LOOKS)
    if apart and not calm.any():
        return ()
    return tuple(config.strata[t] for t, shown in zip(baseline.local, named[1:], strict=True) if shown)


def _group_evalues(anchor: AnchorProcess) -> tuple[NDArray[np.float64], int, float, NDArray[np.float64]]:
    """The e-value of all anchors together and of each stratum by itself; betting, threshold and shares."""
    shares, evalues = anchor.statistics[:, WEIGHT], anchor.statistics[:, EVALUE]
    spans = [slice(first, last) for first, last in anchor.spans.tolist()]
    weights = np.array([shares[span].sum() for span in spans])
    sums = np.array([(shares[span] * evalues[span]).sum() for span in spans])
    means = np.divide(sums, weights, out=np.zeros(len(spans)), where=weights > 0.0)
    return means, anchor.betting, anchor.threshold, np.maximum(weights, 1e-12)


def evidence_of(monitor: Monitor) -> Evidence:
    """The whole of it, at the current position."""
    measured = _measured(monitor)
    evidence = Evidence(
        config=monitor.config,
        verdict=monitor.verdict,
        cells=_cells(monitor),
        shifts=_shifts(monitor, measured),
        cost=cost_of(monitor),
        story=tuple(monitor._story),
        assumptions=_assumptions(monitor),
        agreement=measured.agreements() if measured is not None else (),
        judge_strata=_judge_strata(monitor),
        drops=monitor._drops,
        during_judge=_during_judge(monitor),
    )
    return replace(evidence, details=details_of(evidence))


def _measured(monitor: Monitor) -> Measured | None:
    """The re-scores since a judge alarm."""
    anchors, baseline, correction = monitor.anchors, monitor.baseline, monitor._correction
    if anchors is None or baseline is None or correction is None:
        return None
    return Measured(monitor.config, anchors, baseline, correction)


def drops_of(
    main: MainProcess, cells: Sequence[tuple[str, str]], config: MonitorConfig, position: int
) -> tuple[Drop, ...]:
    """Since when, and by how much, the named cells have been lower, as far as one can say at the alarm."""
    drops = []
    before = position - int(main.strata[0, ITEMS])  # items of earlier epochs
    for rubric, stratum in cells[:MOST_DROPS]:
        row = main.cells[config.strata.index(stratum) * len(config.rubrics) + config.rubrics.index(rubric)]
        onset = onset_of(row[ONSET : ONSET + ONSET_WIDTH])
        if onset is None:
            continue
        below = float(row[BAR] - row[NULL])
        since, low, high = (
            min(max(before + round(n), before + 1), position) for n in (onset.start, onset.start_low, onset.start_high)
        )
        sizes = (below + size for size in (onset.size, onset.size_low, onset.size_high))
        drops.append(Drop(rubric, stratum, since, low, high, *sizes))
    return tuple(drops)


def _judge_strata(monitor: Monitor) -> tuple[JudgeStratum, ...]:
    anchor, baseline = monitor._anchor, monitor.baseline
    if anchor is None or baseline is None or not baseline.local:
        return ()
    evalues, betting, threshold, weights = _group_evalues(anchor)
    named = _named(evalues, betting, threshold, weights)
    return tuple(
        JudgeStratum(
            stratum=monitor.config.strata[t],
            anchors=int((anchor.groups == place).sum()),
            rescores=int(anchor.progress[place, SEEN]),
            log_e=log_evalue(float(evalues[place])),
            named=bool(named[place]),
        )
        for place, t in enumerate(baseline.local, start=1)
    )


def _during_judge(monitor: Monitor) -> SystemDuringJudge | None:
    correction, corrected, config = monitor._correction, monitor._corrected, monitor.config
    if correction is None or corrected is None or monitor.baseline is None:
        return None
    verdict = monitor.verdict
    local = monitor._local
    groups = [config.strata[t] for t in monitor.baseline.local] if local else [ANY_RUBRIC]
    whose = (
        "the anchors of each stratum represent its items"
        if local
        else "the anchors represent the items of every stratum"
    )
    return SystemDuringJudge(
        state=verdict.system_during_judge,
        alarm_at=verdict.system_during_judge_at,
        cells=verdict.system_during_judge_cells,
        log_e=log_evalue(float(main_evalue(corrected))) if correction.progress[STARTED] else math.nan,
        threshold=log_evalue(corrected.threshold),
        rescores=int(correction.progress[COUNT_MEASURED]),
        lowered=tuple(
            (config.rubrics[r], groups[group], min(-float(by), 1.0))
            for (group, r), by in np.ndenumerate(correction.lowered)
        ),
        alpha=config.alpha_system,
        assumption=(
            f"{whose}: when all is well the judge's mean shift on them is lower than on the anchors by at most "
            f"{config.shift_tolerance:g}"
        ),
    )


def _cells(monitor: Monitor) -> tuple[CellEvidence, ...]:
    config, calibration, main = monitor.config, monitor.calibration, monitor._main
    named = set(monitor.verdict.cells)
    cells = []
    for t, stratum in enumerate(config.strata):
        for r, rubric in enumerate(config.rubrics):
            row = main.cells[t * len(config.rubrics) + r]
            seen, null = int(main.strata[t, SEEN]), float(row[NULL])
            cells.append(
                CellEvidence(
                    rubric=rubric,
                    stratum=stratum,
                    bar=float(calibration.bars[t, r]),
                    bar_error=float(calibration.errors[t, r]),
                    null=null,
                    calibration_items=int(calibration.counts[t, r]),
                    observations=seen,
                    mean=null - float(row[SUM_D]) / seen if seen else math.nan,
                    log_e=log_evalue(float(row[WEALTH])) if null == null else math.nan,
                    named=(rubric, stratum) in named,
                )
            )
    return tuple(cells)


def _shifts(monitor: Monitor, measured: Measured | None) -> tuple[JudgeShift, ...]:
    anchor, baseline = monitor._anchor, monitor.baseline
    if anchor is None or baseline is None:
        return ()
    shifts = []
    for r, rubric in enumerate(monitor.config.rubrics):
        state = anchor.shifts[r]
        low, high = interval(state, anchor.interval_alpha)
        centre = 2.0 * float(state[SUM_BET_X] / state[SUM_BET]) - 1.0 if state[COUNT] else math.nan
        drift, error = float(baseline.drift[r]), float(baseline.drift_error[r])
        low, high = max(-1.0, 2.0 * low - 1.0 - drift - error), min(1.0, 2.0 * high - 1.0 - drift + error)
        estimate, rescores = centre - drift, int(state[COUNT])
        if measured is not None:
            before, now, low, high, rescores = measured.shift(r)
            estimate = now - before
        shifts.append(
            JudgeShift(
                rubric=rubric,
                baseline_gap=float(baseline.gap[r]),
                shift=estimate,
                low=low,
                high=high,
                since=int(monitor._clock[ck.JUDGE_AT]),
                rescores=rescores,
                level=1.0 - monitor.config.alpha_judge,
                log_e_harsher=_direction_evalue(anchor, r, BELOW),
                log_e_lenient=_direction_evalue(anchor, r, ABOVE),
            )
        )
    return tuple(shifts)


def _direction_evalue(anchor: AnchorProcess, rubric: int, direction: float) -> float:
    kinds, rubrics, directions = anchor.meanings.T
    members = (rubrics == rubric) & (directions == direction) & ~np.isin(kinds, OF_NO_RUBRIC)
    members[anchor.spans[0, 1] :] = False
    return log_evalue(float(np.mean(anchor.statistics[members, EVALUE]))) if members.any() else math.nan


def cost_of(monitor: Monitor) -> Cost:
    """Calls so far, and their price relative to asking the strong judge about everything (equation 4)."""
    clock, config = monitor._clock, monitor.config
    items, strong, anchors = (int(clock[i]) for i in (ck.POSITION, ck.STRONG_CALLS, ck.ANCHOR_CALLS))
    spent = items * config.cheap_price + (strong + anchors) * config.strong_price
    return Cost(
        items=items,
        strong_calls=strong,
        anchor_calls=anchors,
        cheap_unscored=int(clock[ck.CHEAP_UNSCORED]),
        strong_unscored=int(clock[ck.STRONG_UNSCORED]),
        anchor_unscored=int(clock[ck.ANCHOR_UNSCORED]),
        fraction=spent / (items * config.strong_price) if items else 0.0,
    )


def _assumptions(monitor: Monitor) -> tuple[str, ...]:
    config, baseline = monitor.config, monitor.baseline
    lines = [f"Error rate in force: {monitor.verdict.promise}."]
    if config.baseline_share:
        lines.append(
            f"{config.baseline_share:.0%} of each alpha pays for the error of bars and anchor baselines, which are "
            f"bounded, not taken as exact."
        )
    else:
        lines.append(
            "Bars and anchor baselines are taken as exact: the judge repeats itself and the slack covers the bars' "
            "error."
        )
    lines.append("Calibration items are a fair sample of the stream when all is well, stratum by stratum.")
    if baseline is None:
        lines.append("No anchors: an alarm cannot be attributed.")
    else:
        lines.append("The anchors' human labels are still right, and nobody tunes the judge on them.")
        lines += [f"{note[0].upper()}{note[1:]}." for note in baseline.notes]
    clock = monitor._clock
    if clock[ck.STRONG_UNSCORED]:
        lines.append(
            f"{clock[ck.STRONG_UNSCORED]} of {clock[ck.STRONG_CALLS]} strong calls lack a score and count as the best "
            f"one: that can hide a drop, never invent one."
        )
    unwatched = int(np.isnan(monitor._main.cells[:, NULL]).sum())
    if unwatched:
        lines.append(f"{unwatched} of {config.cells} cells are not watched: their bars leave no room for a drop.")
    return tuple(lines)
