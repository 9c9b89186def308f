"""The main family: one e-process per stratum x rubric cell that grows when the cell's mean falls below its null.

The only place where evidence about the system is computed. The same kernel is called once per item by the Monitor
and in a compiled loop by everything that runs whole streams, so that both get the same bits.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor.acquisition import (
    BOUNDARY,
    RECENT_BET,
    RECENT_EVIDENCE,
    RULES,
    UNIFORM,
    acquisition_probability,
    calm_floor,
)
from driftjudge.monitor.calibration import Calibration
from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.layout import (
    BAR,
    CASH,
    ESCALATED,
    GROWN,
    ITEMS,
    NULL,
    ONSET,
    POOLED,
    RECENT,
    SEEN,
    STRATUM_WIDTH,
    SUM_CHEAP,
    SUM_D,
    SUM_D2,
    WEALTH,
)
from driftjudge.stats._jit import kernel
from driftjudge.stats.betting import WEALTH_CEILING, grow, plug_in_bet, restart_weight
from driftjudge.stats.errors import SupermartingaleError
from driftjudge.stats.families import AVERAGE, BONFERRONI, pool
from driftjudge.stats.onset import onset_step
from driftjudge.stats.prediction import (
    highest_observation,
    highest_observation_on_ramp,
    inverse_probability,
    observation,
    observation_cap,
    proxy,
)
from driftjudge.stats.restart import legal_step, restart_step

PLUG_IN, RESTART, DETECTOR = range(3)
"""How wealth grows: the paper's bet, the restart mixture, or its e-detector variant."""


class MainProcess(NamedTuple):
    """Settings, then the state: `cells` and `strata`, whose columns `layout` names."""

    betting: int
    alarm_rule: int
    acquisition: int
    budget: float
    rubrics: int
    watched: int
    threshold: float
    proxies: NDArray[np.float64]
    fractions: NDArray[np.float64]
    caps: NDArray[np.float64]
    """lambda_max per cell and proxy for the rules under which it never changes; empty otherwise."""
    cells: NDArray[np.float64]
    """One row per cell, stratum by stratum: row t * rubrics + r."""
    strata: NDArray[np.float64]
    """One row per stratum."""


def betting_of(config: MonitorConfig) -> int:
    """The number of the config's betting scheme."""
    if config.betting == "plug-in":
        return PLUG_IN
    return RESTART if config.run_length is None else DETECTOR


def alarm_rule_of(config: MonitorConfig) -> int:
    """The number of the config's alarm rule."""
    return AVERAGE if config.alarm_rule == "average" else BONFERRONI


def new_main_process(config: MonitorConfig, calibration: Calibration) -> MainProcess:
    """All cells at wealth 1 (an e-detector: at 0); unwatched cells at 0 for good."""
    betting = betting_of(config)
    start = 0.0 if betting == DETECTOR else 1.0
    nulls = calibration.nulls.ravel()
    watched = ~np.isnan(nulls)
    cells = np.zeros((config.cells, GROWN + len(config.proxies) * len(config.bet_fractions)))
    cells[:, BAR], cells[:, NULL], cells[:, WEALTH] = calibration.bars.ravel(), nulls, np.where(watched, start, 0.0)
    cells[:, RECENT] = 1.0
    strata = np.zeros((len(config.strata), STRATUM_WIDTH))
    strata[:, CASH] = start
    process = MainProcess(
        betting=betting,
        alarm_rule=alarm_rule_of(config),
        acquisition=RULES.index(config.acquisition),
        budget=float(config.budget),
        rubrics=len(config.rubrics),
        watched=int(watched.sum()),
        threshold=float(config.system_threshold),
        proxies=np.array(config.proxies, dtype=np.float64),
        fractions=np.array(config.bet_fractions, dtype=np.float64),
        caps=_constant_caps(config, calibration),
        cells=cells,
        strata=strata,
    )
    for t in range(len(strata)):
        first = t * process.rubrics
        strata[t, POOLED] = pool(cells, WEALTH, first, first + process.rubrics, process.alarm_rule)
    return process


def _constant_caps(config: MonitorConfig, calibration: Calibration) -> NDArray[np.float64]:
    """The caps of rules with one pi for all, and of the boundary rule, whose cap holds over every pi it may choose."""
    if config.acquisition not in ("uniform", "full", "boundary"):
        return np.empty((0, 0))
    nulls, bars = calibration.nulls.ravel().tolist(), calibration.bars.ravel().tolist()
    caps = np.empty((len(nulls), len(config.proxies)))
    pi = config.budget if config.acquisition == "uniform" else 1.0
    for (cell, w), _ in np.ndenumerate(caps):
        omega = config.proxies[w]
        if config.acquisition == "boundary":
            highest = highest_observation_on_ramp(nulls[cell], omega, bars[cell], config.budget)
        else:
            highest = highest_observation(nulls[cell], omega, pi)
        caps[cell, w] = observation_cap(highest, nulls[cell])
    return caps


def main_evalue(p: MainProcess) -> float:
    """The family's e-value: it alarms at `threshold`."""
    return float(pool(p.strata, POOLED, 0, len(p.strata), p.alarm_rule) / p.watched)


@kernel
def main_probability(p: MainProcess, t: int, cheap: NDArray[np.float64]) -> float:
    """pi for an item of stratum t."""
    if p.acquisition == UNIFORM:
        return p.budget
    pi = acquisition_probability(p.acquisition, p.budget, t, cheap, p.cells, p.strata, p.threshold * p.watched)
    if not 0.0 < pi <= 1.0:
        raise SupermartingaleError("an acquisition probability left (0, 1]")
    return pi


@kernel
def main_step(
    p: MainProcess, t: int, cheap: NDArray[np.float64], asked: bool, pi: float, strong: NDArray[np.float64]
) -> float:
    """Take in one item of stratum t; return the family's e-value.

    NaN in `strong` is a call that failed for good and counts as the best score: in a test for drops that can cost
    power and never validity. `strong` means nothing when the item was not asked about.
    """
    # Each field is read once: numba counts a reference every time an array leaves the tuple.
    cells, strata, proxies, fractions, caps = p.cells, p.strata, p.proxies, p.fractions, p.caps
    betting, rubrics, follows = p.betting, p.rubrics, p.acquisition == RECENT_EVIDENCE
    if follows:
        strata[t, ESCALATED] += max(pi - calm_floor(p.budget, strata, t), 0.0)
    steepest, items = 0.0, strata[0, ITEMS] + 1.0
    labelled = asked and p.acquisition != BOUNDARY  # that rule picks labels by cheap score, which are no fair sample
    ratio = inverse_probability(asked, pi)
    cash, weight = strata[t, CASH], 1.0
    if betting == RESTART:
        weight = restart_weight(strata[t, SEEN])
        cash = max(cash - weight, 0.0)
    for r in range(rubrics):
        cell = t * rubrics + r
        null = cells[cell, NULL]
        if math.isnan(null):
            continue
        y = 1.0 if math.isnan(strong[r]) else strong[r]
        mu = null if math.isnan(cheap[r]) else cheap[r]  # any prediction is valid; m is the neutral one
        total, d, recent = 0.0, 0.0, 0.0
        for w in range(len(proxies)):
            d = null - observation(proxy(mu, null, proxies[w]), y, ratio)
            # The cap knows pi and the past, never this item's cheap score.
            if len(caps):
                cap = caps[cell, w]
            elif null > 0.0:
                cap = observation_cap(highest_observation(null, proxies[w], pi), null)
            else:
                cap = 0.0  # a bar lowered to the bottom of the scale: nothing lies below, nothing is bet
            recent += cap * d
            if betting == PLUG_IN:
                total = grow(cells[cell, WEALTH], plug_in_bet(cells[cell, SUM_D], cells[cell, SUM_D2], cap), d)
            else:
                steepest = min(steepest, cap * d)
                total += restart_step(cells, cell, GROWN + w * len(fractions), fractions, weight, cap, d)
        cells[cell, WEALTH] = total if betting == PLUG_IN else total / (len(proxies) * len(fractions)) + cash
        if labelled:
            onset_step(cells, cell, ONSET, items, null - y)
        if follows:
            growth = max(1.0 + RECENT_BET * recent / len(proxies), 0.0)
            cells[cell, RECENT] = min(max(cells[cell, RECENT], 1.0) * growth, WEALTH_CEILING)
        # The last proxy is the paper's when it is on the grid: its sums give the cell's prediction-powered mean.
        cells[cell, SUM_D] += d
        cells[cell, SUM_D2] += d * d
        cells[cell, SUM_CHEAP] += mu
    if not legal_step(steepest, fractions[len(fractions) - 1]):
        raise SupermartingaleError("a wealth factor fell below 0: the bet exceeds its cap")
    strata[t, SEEN] += 1.0
    strata[0, ITEMS] = items
    strata[t, CASH] = cash
    strata[t, POOLED] = pool(cells, WEALTH, t * rubrics, (t + 1) * rubrics, p.alarm_rule)
    evalue = pool(strata, POOLED, 0, len(strata), p.alarm_rule) / p.watched
    if math.isnan(evalue):
        raise SupermartingaleError("evidence is no longer a number")
    return evalue
