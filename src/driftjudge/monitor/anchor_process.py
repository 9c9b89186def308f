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
    POOLED,
    RUBRIC,
    SEEN,
    SIDE,
    SUM_E,
    SUM_E2,
)
from driftjudge.monitor.main_process import DETECTOR, PLUG_IN, RESTART, alarm_rule_of, betting_of
from driftjudge.stats._jit import kernel
from driftjudge.stats.anchors import anchor_statistic, rescaled_difference
from driftjudge.stats.betting import grow, plug_in_bet, restart_weight
from driftjudge.stats.errors import SupermartingaleError
from driftjudge.stats.families import pool
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
    statistics: NDArray[np.float64]
    """One row per statistic x rubric x direction."""
    progress: NDArray[np.float64]
    """Re-scores taken in, and prior mass not yet spent: one row laid out like a stratum's."""
    shifts: NDArray[np.float64]
    """State of the interval for the judge's shift, per rubric."""


def new_anchor_process(config: MonitorConfig, anchors: AnchorSet, baseline: Baseline) -> AnchorProcess:
    """All statistics at wealth 1 (an e-detector: at 0)."""
    betting = betting_of(config)
    start = 0.0 if betting == DETECTOR else 1.0
    components = baseline.components
    statistics = np.zeros((len(components), COMPONENTS + len(config.bet_fractions)))
    for i, component in enumerate(components):
        statistics[i, CENTRE], statistics[i, SIDE] = component.centre, component.side
        statistics[i, CAP], statistics[i, EVALUE] = component.cap, start
    progress = np.zeros((1, POOLED + 1))
    progress[0, CASH] = start
    return AnchorProcess(
        betting=betting,
        alarm_rule=alarm_rule_of(config),
        threshold=float(config.judge_threshold),
        interval_alpha=config.alpha_judge / len(config.rubrics),
        human=np.ascontiguousarray(anchors.human[baseline.kept]),
        usual=np.ascontiguousarray(baseline.usual),
        resolution=baseline.resolution.copy(),
        fractions=np.array(config.bet_fractions, dtype=np.float64),
        meanings=np.array([(c.kind, c.rubric, int(c.direction)) for c in components], dtype=np.int64),
        statistics=statistics,
        progress=progress,
        shifts=np.zeros((len(config.rubrics), WIDTH)),
    )


def anchor_evalue(p: AnchorProcess) -> float:
    """The family's e-value: it alarms at `threshold`."""
    return float(pool(p.statistics, EVALUE, 0, len(p.statistics), p.alarm_rule) / len(p.statistics))


@kernel
def anchor_step(p: AnchorProcess, anchor: int, scores: NDArray[np.float64]) -> float:
    """Take in one re-score of a kept anchor (NaN: refused or garbled); return the family's e-value."""
    # Each field is read once: numba counts a reference every time an array leaves the tuple.
    meanings, statistics, fractions, progress = p.meanings, p.statistics, p.fractions, p.progress
    betting, resolution, shifts, alpha = p.betting, p.resolution, p.shifts, p.interval_alpha
    human, usual = p.human[anchor], p.usual[anchor]
    cash, weight = progress[0, CASH], 1.0
    if betting == RESTART:
        weight = restart_weight(progress[0, SEEN])
        cash = max(cash - weight, 0.0)
    steepest = 0.0
    for i in range(len(statistics)):
        direction = float(meanings[i, DIRECTION])
        x = anchor_statistic(meanings[i, KIND], meanings[i, RUBRIC], direction, scores, human, usual, resolution)
        d = statistics[i, SIDE] * (x - statistics[i, CENTRE])
        if betting == PLUG_IN:
            bet = plug_in_bet(statistics[i, SUM_E], statistics[i, SUM_E2], statistics[i, CAP])
            statistics[i, EVALUE] = grow(statistics[i, EVALUE], bet, d)
        else:
            steepest = min(steepest, statistics[i, CAP] * d)
            total = restart_step(statistics, i, COMPONENTS, fractions, weight, statistics[i, CAP], d)
            statistics[i, EVALUE] = total / len(fractions) + cash
        statistics[i, SUM_E] += d
        statistics[i, SUM_E2] += d * d
    if not legal_step(steepest, fractions[len(fractions) - 1]):
        raise SupermartingaleError("a wealth factor fell below 0: the bet exceeds its cap")
    progress[0, SEEN] += 1.0
    progress[0, CASH] = cash
    for r in range(len(scores)):
        # Unscored on either side is left to the fingerprint: it says nothing about the size of a shift.
        if not (math.isnan(scores[r]) or math.isnan(usual[r])):
            interval_step(shifts, r, rescaled_difference(scores[r], usual[r]), alpha)
    evalue = pool(statistics, EVALUE, 0, len(statistics), p.alarm_rule) / len(statistics)
    if math.isnan(evalue):
        raise SupermartingaleError("evidence is no longer a number")
    return evalue
