"""The anchor family: e-processes on re-scores of the frozen anchors, which only the judge can move.

The only place where evidence about the judge is computed; called per re-score by the Monitor and in a compiled loop
by everything that runs whole streams.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor.anchors import AnchorSet
from driftjudge.monitor.baseline import Baseline
from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.layout import (
    CAP,
    CASH,
    CENTRE,
    COMPONENTS,
    DIRECTION,
    EVALUE,
    KIND,
    RUBRIC,
    RUNG_HEAD,
    SEEN,
    SIDE,
    STRATUM_WIDTH,
    SUM_E,
    SUM_E2,
    WEIGHT,
    WORTH,
)
from driftjudge.monitor.main_process import DETECTOR, PLUG_IN, RESTART, alarm_rule_of, betting_of
from driftjudge.stats._jit import kernel
from driftjudge.stats.anchors import anchor_statistic, rescaled_difference
from driftjudge.stats.betting import grow, plug_in_bet, restart_weight
from driftjudge.stats.errors import SupermartingaleError
from driftjudge.stats.families import AVERAGE
from driftjudge.stats.intervals import WIDTH, interval_step
from driftjudge.stats.restart import legal_step, restart_step


class AnchorProcess(NamedTuple):
    """Settings, then the state: `statistics`, `progress` and `shifts`, whose columns `layout` names."""

    betting: int
    alarm_rule: int
    threshold: float
    interval_alpha: float
    human: NDArray[np.float64]
    usual: NDArray[np.float64]
    resolution: NDArray[np.float64]
    fractions: NDArray[np.float64]
    meanings: NDArray[np.int64]
    """What each statistic is: kind, rubric and direction."""
    groups: NDArray[np.int64]
    """Per anchor the row of `spans` and `progress` of its stratum, 0 where that is not watched by itself."""
    spans: NDArray[np.int64]
    """First and last statistic (exclusive) over all anchors, then per stratum that is watched by itself."""
    statistics: NDArray[np.float64]
    """One row per statistic x rubric x direction, with the rungs of its ladder side by side (`stats/ladder.py`)."""
    progress: NDArray[np.float64]
    """Re-scores taken in, and prior mass not yet spent, laid out like a stratum's: one row for all anchors, then one
    per stratum that is watched by itself."""
    shifts: NDArray[np.float64]
    """State of the interval for the judge's shift, per rubric."""


def new_anchor_process(config: MonitorConfig, anchors: AnchorSet, baseline: Baseline) -> AnchorProcess:
    """All statistics at wealth 1 (an e-detector: at 0)."""
    betting = betting_of(config)
    start = 0.0 if betting == DETECTOR else 1.0
    components = baseline.components
    rungs, width = max(len(component.rungs) for component in components), RUNG_HEAD + len(config.anchor_fractions)
    statistics = np.zeros((len(components), COMPONENTS + rungs * width))
    for i, component in enumerate(components):
        statistics[i, WEIGHT], statistics[i, SIDE] = component.weight, component.side
        statistics[i, EVALUE] = start * component.rungs[0].worth
        for rung in range(rungs):  # a shorter ladder stands on its last rung
            first, at = rung * width, component.rungs[min(rung, len(component.rungs) - 1)]
            statistics[i, first + CENTRE], statistics[i, first + WORTH] = at.centre, at.worth
            statistics[i, first + CAP] = component.cap_at(at.centre)
    spans = _spans(baseline)
    progress = np.zeros((len(spans), STRATUM_WIDTH))
    progress[:, CASH] = start
    return AnchorProcess(
        betting=betting,
        alarm_rule=alarm_rule_of(config),
        threshold=float(config.judge_threshold),
        interval_alpha=config.alpha_judge * (1.0 - config.baseline_share) / len(config.rubrics),
        human=np.ascontiguousarray(anchors.human[baseline.kept]),
        usual=np.ascontiguousarray(baseline.usual),
        resolution=baseline.resolution.copy(),
        fractions=np.array(config.anchor_fractions, dtype=np.float64),
        meanings=np.array([(c.kind, c.rubric, int(c.direction)) for c in components], dtype=np.int64),
        groups=np.zeros(len(baseline.kept), dtype=np.int64) if baseline.groups is None else baseline.groups.copy(),
        spans=spans,
        statistics=statistics,
        progress=progress,
        shifts=np.zeros((len(config.rubrics), WIDTH)),
    )


def _spans(baseline: Baseline) -> NDArray[np.int64]:
    """Where the statistics of each group of anchors stand: `baseline.components` lists them group by group."""
    strata = np.array([component.stratum for component in baseline.components])
    rows = [np.flatnonzero(strata == stratum) for stratum in (-1, *baseline.local)]
    return np.array([(row[0], row[-1] + 1) if len(row) else (0, 0) for row in rows], dtype=np.int64)


def anchor_evalue(p: AnchorProcess) -> float:
    """The family's e-value: it alarms at `threshold`."""
    return float(_family(p.statistics, p.alarm_rule))


@kernel
def _family(statistics: NDArray[np.float64], rule: int) -> float:
    """The weighted mean of the statistics' e-values; the paper's rule takes the largest and divides by their number."""
    total, mass = 0.0, 0.0
    for i in range(len(statistics)):
        if rule == AVERAGE:
            total += statistics[i, WEIGHT] * statistics[i, EVALUE]
            mass += statistics[i, WEIGHT]
        else:
            total = max(total, statistics[i, EVALUE])
    return total / mass if rule == AVERAGE else total / len(statistics)


@kernel
def anchor_step(p: AnchorProcess, anchor: int, scores: NDArray[np.float64]) -> float:
    """Take in one re-score of a kept anchor (NaN: refused or garbled); return the family's e-value."""
    # Each field is read once: numba counts a reference every time an array leaves the tuple.
    statistics, progress, shifts, alpha = p.statistics, p.progress, p.shifts, p.interval_alpha
    human, usual = p.human[anchor], p.usual[anchor]
    _step_group(p, statistics, progress, 0, scores, human, usual)
    if p.groups[anchor] > 0:
        _step_group(p, statistics, progress, p.groups[anchor], scores, human, usual)
    for r in range(len(scores)):
        # Unscored on either side is left to the fingerprint: it says nothing about the size of a shift.
        if not (math.isnan(scores[r]) or math.isnan(usual[r])):
            interval_step(shifts, r, rescaled_difference(scores[r], usual[r]), alpha)
    evalue = _family(statistics, p.alarm_rule)
    if math.isnan(evalue):
        raise SupermartingaleError("evidence is no longer a number")
    return evalue


@kernel
def _step_group(
    p: AnchorProcess,
    statistics: NDArray[np.float64],
    progress: NDArray[np.float64],
    group: int,
    scores: NDArray[np.float64],
    human: NDArray[np.float64],
    usual: NDArray[np.float64],
) -> None:
    """Let the statistics over all anchors (group 0), or over those of one stratum, take in a re-score."""
    meanings, fractions, betting, resolution = p.meanings, p.fractions, p.betting, p.resolution
    cash, weight = progress[group, CASH], 1.0
    if betting == RESTART:
        weight = restart_weight(progress[group, SEEN])
        cash = max(cash - weight, 0.0)
    steepest, width = 0.0, RUNG_HEAD + len(fractions)
    for i in range(p.spans[group, 0], p.spans[group, 1]):
        direction = float(meanings[i, DIRECTION])
        x = anchor_statistic(meanings[i, KIND], meanings[i, RUBRIC], direction, scores, human, usual, resolution)
        d = statistics[i, SIDE] * (x - statistics[i, CENTRE])
        if betting == PLUG_IN:
            bet = plug_in_bet(statistics[i, SUM_E], statistics[i, SUM_E2], statistics[i, CAP])
            statistics[i, EVALUE] = grow(statistics[i, EVALUE], bet, d)
        else:
            lowest = np.inf
            for rung in range(COMPONENTS, statistics.shape[1], width):
                away = statistics[i, SIDE] * (x - statistics[i, rung])
                cap = statistics[i, rung + CAP - CENTRE]
                steepest = min(steepest, cap * away)
                total = restart_step(statistics, i, rung + RUNG_HEAD, fractions, weight, cap, away)
                lowest = min(lowest, statistics[i, rung + WORTH - CENTRE] * (total / len(fractions) + cash))
            statistics[i, EVALUE] = lowest
        statistics[i, SUM_E] += d
        statistics[i, SUM_E2] += d * d
    if not legal_step(steepest, fractions[len(fractions) - 1]):
        raise SupermartingaleError("a wealth factor fell below 0: the bet exceeds its cap")
    progress[group, SEEN] += 1.0
    progress[group, CASH] = cash
