"""Sections 1 and 3 of the statistics page, equation by equation: slow, obvious, and sharing no code with the package.

Past observations are kept in lists and averaged anew, a restart mixture is the sum over every start it could have had,
a cap is found by looking for the largest observation. Only settings and scores are taken from outside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from driftjudge.monitor import MonitorConfig

Row = Sequence[float]
Table = Sequence[Row]


# Anchor statistics: equation 5, and section 3 of the page.


def rescaled_gap(y: float, h: float) -> float:
    """g = clip((y - h + 1) / 2, 0, 1)."""
    return min(1.0, max(0.0, (y - h + 1.0) / 2.0))


def statistic_of(kind: str, rubric: int, direction: float, y: Row, human: Row, usual: Row, resolution: Row) -> float:
    """The number one re-score gives; a score that is missing is the one that helps this bet least."""
    least, most = (1.0, 0.0) if direction < 0 else (0.0, 1.0)
    if kind == "gap":
        return rescaled_gap(least if math.isnan(y[rubric]) else y[rubric], human[rubric])
    if kind == "paired":
        return rescaled_gap(
            least if math.isnan(y[rubric]) else y[rubric], most if math.isnan(usual[rubric]) else usual[rubric]
        )
    if kind == "departure":
        difference = direction * (y[rubric] - usual[rubric])
        return 1.0 if not math.isnan(difference) and difference > resolution[rubric] else 0.0
    if kind == "silence":
        silent = [math.isnan(score) and not math.isnan(mode) for score, mode in zip(y, usual, strict=True)]
        return 1.0 if any(silent) else 0.0
    for score, mode, step in zip(y, usual, resolution, strict=True):
        if math.isnan(score) != math.isnan(mode) or abs(score - mode) > step:
            return 1.0
    return 0.0


def mode_of(values: Row) -> float:
    """The most frequent value; of equally frequent ones the first seen. Not answering is a value, too."""
    keys = ["unscored" if math.isnan(value) else repr(value) for value in values]
    return max(values, key=lambda value: keys.count("unscored" if math.isnan(value) else repr(value)))


def resolution_of(answers: Table) -> float:
    """From every anchor's answers: half the smallest step of a grid, or twice the scatter around the anchor's mean."""
    scored = [[value for value in values if not math.isnan(value)] for values in answers]
    levels = sorted({round(value, 9) for values in scored for value in values})
    if len(levels) <= 25:
        return min(b - a for a, b in pairwise(levels)) / 2.0
    squares = [(value - sum(values) / len(values)) ** 2 for values in scored for value in values]
    return max(2.0 * math.sqrt(sum(squares) / len(squares)), 0.01)


def chance_of_so_few(events: int, trials: int, rate: float) -> float:
    """P(at most `events` of `trials`) at this rate: what a Clopper-Pearson bound at `rate` has spent."""
    return math.fsum(math.comb(trials, k) * rate**k * (1.0 - rate) ** (trials - k) for k in range(events + 1))


# Bets.


def prior(n: int) -> float:
    """w_n: a tenth on n = 0, the rest like 1 / ((n + 30) log^2(n + 30))."""
    return (0.1 if n == 0 else 0.0) + 0.9 * math.log(29) / (n + 30) / math.log(n + 30) ** 2


@dataclass
class PlugIn:
    """lambda = clip(mean(d) / mean(d^2), 0, cap), 0 with no past; W <- W (1 + lambda d)."""

    wealth: float = 1.0
    past: list[float] = field(default_factory=list)

    def take(self, d: float, cap: float) -> None:
        bet = 0.0
        mean_square = sum(x * x for x in self.past) / len(self.past) if self.past else 0.0
        if mean_square > 0.0:
            bet = min(max(sum(self.past) / len(self.past) / mean_square, 0.0), cap)
        self.wealth *= 1.0 + bet * d
        self.past.append(d)


@dataclass
class Restart:
    """For every start s and bet fraction f: w_s times the product of 1 + f cap d from s on; and what is unspent."""

    fractions: Row
    detector: bool
    started: list[list[float]] = field(default_factory=list)

    def take(self, d: float, cap: float) -> None:
        weight = 1.0 if self.detector else prior(len(self.started))
        self.started.append([weight for _ in self.fractions])
        self.started = [
            [value * (1.0 + f * cap * d) for value, f in zip(values, self.fractions, strict=True)]
            for values in self.started
        ]

    @property
    def wealth(self) -> float:
        unspent = 0.0 if self.detector else 1.0 - math.fsum(prior(n) for n in range(len(self.started)))
        return math.fsum(math.fsum(values) for values in self.started) / len(self.fractions) + unspent


def bettor_of(config: MonitorConfig, fractions: Row) -> Callable[[], PlugIn | Restart]:
    if config.betting == "plug-in":
        return PlugIn
    return lambda: Restart(fractions, config.run_length is not None)


def pooled(config: MonitorConfig, wealths: Row) -> float:
    """The family's e-value: the average, or the largest over their number (max >= C / alpha)."""
    return sum(wealths) / len(wealths) if config.alarm_rule == "average" else max(wealths) / len(wealths)


# The main family.


def largest_observation(f_at: Callable[[float], float], pi_at: Callable[[float], float], low: float) -> float:
    """The largest Z over mu in [low, 1] and y = 1, which rises to one peak or falls throughout."""

    def z(mu: float) -> float:
        return f_at(mu) + (1.0 - f_at(mu)) / pi_at(mu)

    left, right = low, 1.0
    for _ in range(300):
        third = (right - left) / 3.0
        left, right = (left + third, right) if z(left + third) < z(right - third) else (left, right - third)
    return max(z((left + right) / 2.0), z(low), z(1.0))


class Cells:
    """All cells (t, r), one bettor per proxy."""

    def __init__(self, config: MonitorConfig, nulls: Table, bars: Table) -> None:
        self.config, self.nulls, self.bars = config, nulls, bars
        self.strata, self.rubrics = range(len(nulls)), range(len(nulls[0]))
        self.watched = [(t, r) for t in self.strata for r in self.rubrics if not math.isnan(nulls[t][r])]
        bettor = bettor_of(config, config.bet_fractions)
        self.bettors = {cell: [bettor() for _ in config.proxies] for cell in self.watched}
        self.seen = [0 for _ in self.strata]
        self.cheap: dict[tuple[int, int], list[float]] = {cell: [] for cell in self.watched}
        self.growth: dict[tuple[int, int], list[float]] = {cell: [] for cell in self.watched}
        self.risen: list[list[float]] = [[] for _ in self.strata]

    def wealth(self, t: int, r: int) -> float:
        if (t, r) not in self.bettors:
            return 0.0
        return sum(bettor.wealth for bettor in self.bettors[t, r]) / len(self.config.proxies)

    def leader(self, t: int) -> float:
        return max(self.wealth(t, r) for r in self.rubrics)

    def evalue(self) -> float:
        return pooled(self.config, [self.wealth(t, r) for t, r in self.watched])

    def pi(self, t: int, mu: Row) -> float:
        """The acquisition rules, from past evidence; only `boundary` reads this item's cheap scores."""
        config, tau = self.config, self.config.budget
        rule = config.acquisition
        if rule == "uniform":
            return tau
        if rule == "full":
            return 1.0
        if rule == "stratified":
            return tau
        if rule == "bandit":
            items = sum(self.seen)
            rate = math.sqrt(8.0 * math.log(len(self.seen)) / (items + 1))
            shares = [(n + 1) / (items + len(self.seen)) for n in self.seen]
            total = sum(part * self.leader(other) ** rate for other, part in zip(self.strata, shares, strict=True))
            return min(1.0, tau * (0.5 + 0.5 * (self.leader(t) ** rate / total if total > 0.0 else 1.0)))
        alarm = config.system_threshold * len(self.watched)
        if rule == "escalation":
            urgency = min(max(self.leader(t) / alarm, 0.0), 1.0)
        elif rule == "log-escalation":
            urgency = min(math.log(max(self.leader(t), 1.0)) / math.log(alarm), 1.0)
        elif rule == "recent":
            recent = [self.recent(t, r) for r in self.rubrics if self.wealth(t, r) < alarm]
            urgency = min(math.log(max([1.0, *recent])) / math.log(10.0), 1.0)
            return self.floor(t) + (1.0 - self.floor(t)) * urgency
        elif rule == "boundary":
            urgency = max(self.nearness(t, r, mu[r]) for r in self.rubrics)
        else:
            urgency = min(max(self.predicted_growth(t, r) for r in self.rubrics), 1.0)
        return tau + (1.0 - tau) * urgency

    def recent(self, t: int, r: int) -> float:
        """The most that half the largest bet could have made by now, whenever it started."""
        growth = self.growth.get((t, r), [])
        return max((math.prod(growth[start:]) for start in range(len(growth))), default=1.0)

    def floor(self, t: int) -> float:
        budget = self.config.budget
        return max(budget - sum(self.risen[t]) / (self.seen[t] + 1), budget / 3.0)

    def nearness(self, t: int, r: int, mu: float) -> float:
        bar = self.bars[t][r]
        return 1.0 if math.isnan(mu) or mu <= bar else (1.0 - mu) / (1.0 - bar)

    def predicted_growth(self, t: int, r: int) -> float:
        past = self.cheap.get((t, r), [])
        if not past:
            return 0.0
        m = self.nulls[t][r]
        return math.log(1.0 + max(m - sum(past) / len(past), 0.0) / (1.0 / self.config.budget - m))

    def cap(self, t: int, r: int, omega: float, pi: float) -> float:
        """lambda_max = 1 / (Z_max - m), over everything the bet is not allowed to know."""
        m, bar, tau = self.nulls[t][r], self.bars[t][r], self.config.budget
        if self.config.acquisition == "boundary":
            highest = 1.0
            if bar < 1.0:
                highest = largest_observation(
                    lambda mu: m + omega * (mu - m), lambda mu: tau + (1.0 - tau) * (1.0 - mu) / (1.0 - bar), bar
                )
            return 1.0 / (max(highest, 1.0) - m)
        lowest = m * (1.0 - omega)
        return 1.0 / (lowest + (1.0 - lowest) / pi - m)

    def take(self, t: int, mu: Row, asked: bool, pi: float, y: Row) -> None:
        self.risen[t].append(max(pi - self.floor(t), 0.0))
        for r in self.rubrics:
            if (t, r) not in self.bettors:
                continue
            m = self.nulls[t][r]
            predicted = m if math.isnan(mu[r]) else mu[r]
            label = 1.0 if math.isnan(y[r]) else y[r]
            factors = []
            for omega, bettor in zip(self.config.proxies, self.bettors[t, r], strict=True):
                f = m + omega * (predicted - m)
                z = f + (label - f) / pi if asked else f
                bettor.take(m - z, self.cap(t, r, omega, pi))
                factors.append(1.0 + self.cap(t, r, omega, pi) * (m - z) / 2.0)
            self.growth[t, r].append(sum(factors) / len(factors))
            self.cheap[t, r].append(predicted)
        self.seen[t] += 1


# The anchor family.

STEPS = (0, 1, 2, 3, 4, 5, 6, 8, 10)
"""-log delta of the bounds of a ladder."""


def worth_beyond(bounds: int) -> float:
    """What evidence is worth for an edge that lies beyond this many bounds: the mean over all of 1/delta of those."""
    return math.fsum(math.exp(step) for step in STEPS[: bounds + 1]) / len(STEPS)


def weight_of(kind: str, rubrics: int) -> float:
    """A statistic's share in the family: 1 for gaps, half for silence, 2 for others, over rubrics and directions."""
    per_rubric = {"gap": 0.5 / rubrics, "paired": 1.0 / rubrics, "departure": 1.0 / rubrics}
    return {**per_rubric, "any departure": 2.0, "silence": 0.5}[kind]


@dataclass
class Watch:
    """One statistic, its direction, and what it is compared with: one bound, or several and what each is worth."""

    kind: str
    rubric: int
    direction: float
    weight: float
    rungs: list[tuple[float, float, PlugIn | Restart]]
    members: frozenset[int]
    """The anchors it watches: all of them, or those of one stratum."""

    def take(self, x: float) -> None:
        below = self.direction < 0 and self.kind in ("gap", "paired")
        for centre, _, bettor in self.rungs:
            room = centre if below else 1.0 - centre
            d = centre - x if below else x - centre
            bettor.take(d, 1.0 / (1.0 - room) if room > 0.0 else 0.0)

    @property
    def wealth(self) -> float:
        return min(worth * bettor.wealth for _, worth, bettor in self.rungs)


@dataclass
class Anchors:
    """The anchors that are drawn from, and what watches them."""

    config: MonitorConfig
    human: Table
    usual: Table
    resolution: Row
    watches: list[Watch]

    def evalue(self) -> float:
        if self.config.alarm_rule != "average":
            return pooled(self.config, [watch.wealth for watch in self.watches])
        total = math.fsum(watch.weight for watch in self.watches)
        return math.fsum(watch.weight * watch.wealth for watch in self.watches) / total

    def take(self, anchor: int, y: Row) -> None:
        for watch in self.watches:
            if anchor not in watch.members:
                continue
            watch.take(
                statistic_of(
                    watch.kind,
                    watch.rubric,
                    watch.direction,
                    y,
                    self.human[anchor],
                    self.usual[anchor],
                    self.resolution,
                )
            )
