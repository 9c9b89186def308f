"""When to ask the strong judge: every rule gives a probability pi that is fixed before the label is known.

The paper names seven ways to spend the budget and gives a sentence for most. How each was pinned down, and two more:

uniform      pi = tau.
stratified   proportional allocation: every stratum is asked about at the rate tau, so that pi = tau. Equal numbers of
             labels per stratum, tried first, contradict the paper: its three allocations coincide.
bandit       half of the budget uniform, half following the evidence by Hedge (Freund and Schapire 1997): stratum t has
             the prior share_t, its share of the stream so far, and the gain log W_t, W_t its largest wealth;
             pi = tau (1/2 + 1/2 W_t^eta / sum_s share_s W_s^eta) with the textbook rate eta = sqrt(8 log K / n) after
             n items. The rate 1, tried first, leaves the other two far behind, against the paper's word.
escalation   equation 2: pi = pi_0 + (1 - pi_0) clip(W_t / threshold, 0, 1).
log-escalation  the same with log W_t / log threshold: earlier to rise. Found by trying two other triggers after
             equation 2 missed the published censoring on the HelpSteer2 replica; this one fits (see the lab's
             frontier). The paper's figure 2 puts the thresholds at 4.61 and 5.70, log 100 and log 300, which
             speaks for it without proving that the paper's escalation read its wealth so.
recent       ours, for monitors that live long: like log-escalation, but it follows the evidence since a cell last began
             anew (a CUSUM S <- max(S, 1) (1 + lambda_max d / 2), averaged over the proxies), which does not
             remember how long all was well: pi = floor + (1 - floor) clip(log S / log 10, 0, 1), S the largest of the
             stratum. A cell that has proved its drop alone needs no more labels and is left out. The floor is the
             budget minus what such rises have cost this stratum on average so far (and at least a third of the
             budget), so that the budget is what is spent while all is calm; after a judge
             alarm the family with lowered bars decides instead.
boundary     (D2) pi rises from pi_0 at mu = 1 to 1 at mu <= q0, linearly, and the most urgent rubric decides. The one
             rule that looks at this item's mu, so its bets are capped over every mu (`highest_observation_on_ramp`).
growth       (D3) the growth a bet at the cap would make if the strong judge agreed with the cheap one's past mean in
             this cell: g = max_r log(1 + lambda_max (m - mean mu))+, pi = pi_0 + (1 - pi_0) min(g, 1). It reads
             exactly 0 when the cheap judge overrates every bar, as in the paper.
full         pi = 1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor.layout import BAR, ESCALATED, NULL, RECENT, SEEN, SUM_CHEAP, WEALTH
from driftjudge.stats._jit import kernel
from driftjudge.stats.prediction import highest_observation, observation_cap

RULES = ("uniform", "stratified", "bandit", "escalation", "boundary", "growth", "full", "log-escalation", "recent")
UNIFORM, STRATIFIED, BANDIT, ESCALATION, BOUNDARY, GROWTH, FULL, LOG_ESCALATION, RECENT_EVIDENCE = range(9)

RECENT_BET = 0.5
"""Fraction of the cap at which recent evidence is measured."""
FULL_ATTENTION = 10.0
"""Recent evidence at which every item is asked about."""
LOWEST_FLOOR = 1.0 / 3.0
"""Share of the budget that is spent whatever the rises cost."""


@kernel
def acquisition_probability(
    rule: int,
    budget: float,
    t: int,
    cheap: NDArray[np.float64],
    cells: NDArray[np.float64],
    strata: NDArray[np.float64],
    wealth_at_alarm: float,
) -> float:
    """pi for an item of stratum t, from the past and (boundary rule only) its cheap scores.

    `wealth_at_alarm` is the wealth one cell alone needs to raise the alarm.
    """
    rubrics, seen = len(cheap), float(strata[t, SEEN])
    if rule == UNIFORM:
        return budget
    if rule == FULL:
        return 1.0
    if rule == STRATIFIED:
        return budget
    if rule == BANDIT:
        return min(1.0, budget * (0.5 + 0.5 * _hedge(cells, strata, rubrics, t)))
    urgency = 0.0
    if rule == ESCALATION:
        urgency = min(_largest_wealth(cells, rubrics, t) / wealth_at_alarm, 1.0)
    elif rule == LOG_ESCALATION:
        wealth = _largest_wealth(cells, rubrics, t)
        urgency = min(math.log(wealth) / math.log(wealth_at_alarm), 1.0) if wealth > 1.0 else 0.0
    elif rule == RECENT_EVIDENCE:
        floor = calm_floor(budget, strata, t)
        return floor + (1.0 - floor) * _recent_urgency(cells, rubrics, t, wealth_at_alarm)
    elif rule == BOUNDARY:
        urgency = _nearness(cheap, cells, t)
    else:
        urgency = _predicted_growth(budget, cells, rubrics, t, seen)
    return budget + (1.0 - budget) * urgency


@kernel
def calm_floor(budget: float, strata: NDArray[np.float64], t: int) -> float:
    """The share of stratum t's items that is asked about without any evidence (`recent` rule)."""
    return float(max(budget - strata[t, ESCALATED] / (strata[t, SEEN] + 1.0), budget * LOWEST_FLOOR))


@kernel
def _recent_urgency(cells: NDArray[np.float64], rubrics: int, t: int, wealth_at_alarm: float) -> float:
    largest = 1.0
    for cell in range(t * rubrics, (t + 1) * rubrics):
        if cells[cell, WEALTH] < wealth_at_alarm:
            largest = max(largest, cells[cell, RECENT])
    return min(math.log(largest) / math.log(FULL_ATTENTION), 1.0)


@kernel
def _share(strata: NDArray[np.float64], t: int) -> float:
    """Share of the stream that fell into stratum t, starting from equal shares."""
    total = 0.0
    for other in range(len(strata)):
        total += strata[other, SEEN]
    return float((strata[t, SEEN] + 1.0) / (total + len(strata)))


@kernel
def _largest_wealth(cells: NDArray[np.float64], rubrics: int, t: int) -> float:
    largest = 0.0
    for cell in range(t * rubrics, (t + 1) * rubrics):
        largest = max(largest, cells[cell, WEALTH])
    return largest


@kernel
def _hedge(cells: NDArray[np.float64], strata: NDArray[np.float64], rubrics: int, t: int) -> float:
    """Hedge's weight of stratum t over its prior, its share of the stream."""
    items = 1.0
    for other in range(len(strata)):
        items += strata[other, SEEN]
    rate = math.sqrt(8.0 * math.log(float(len(strata))) / items)
    total = 0.0
    for other in range(len(strata)):
        total += _share(strata, other) * _largest_wealth(cells, rubrics, other) ** rate
    # Wealth of exactly 0 everywhere is possible for plug-in bets; nobody leads then.
    return float(_largest_wealth(cells, rubrics, t) ** rate / total) if total > 0.0 else 1.0


@kernel
def _nearness(cheap: NDArray[np.float64], cells: NDArray[np.float64], t: int) -> float:
    """1 when some rubric's cheap score is at or below its bar (or unscored), falling to 0 at the best score."""
    nearest = 0.0
    for r in range(len(cheap)):
        bar = cells[t * len(cheap) + r, BAR]
        if math.isnan(cheap[r]) or cheap[r] <= bar:
            return 1.0
        nearest = max(nearest, (1.0 - cheap[r]) / (1.0 - bar))
    return nearest


@kernel
def _predicted_growth(floor: float, cells: NDArray[np.float64], rubrics: int, t: int, seen: float) -> float:
    if seen == 0.0:
        return 0.0
    growth = 0.0
    for cell in range(t * rubrics, (t + 1) * rubrics):
        null = cells[cell, NULL]
        shortfall = null - cells[cell, SUM_CHEAP] / seen
        if shortfall > 0.0:  # never true for a cell that is not watched
            cap = observation_cap(highest_observation(null, 1.0, floor), null)
            growth = max(growth, math.log(1.0 + cap * shortfall))
    return min(growth, 1.0)
