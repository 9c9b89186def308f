"""The test against lowered bars, literally: every bound worked out anew from everything that was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.optimize import brentq

from driftjudge.monitor import MonitorConfig
from tests.validity.reference import Cells, Row, Table

FINEST = 2**24
"""Candidate means are multiples of 1 / FINEST."""


def coin_divergence(x: float, p: float) -> float:
    terms = [(x, p), (1.0 - x, 1.0 - p)]
    return math.fsum(a * math.log(a / b) for a, b in terms if a > 0.0)


def most(values: Row, delta: float) -> float:
    """The largest average expectation p with n kl(mean, p) <= log(1 / delta)."""
    mean, room = math.fsum(values) / len(values), math.log(1.0 / delta) / len(values)
    if mean >= 1.0:
        return 1.0
    return float(brentq(lambda p: coin_divergence(mean, p) - room, mean, 1.0 - 1e-15, xtol=1e-15))


def least(values: Row, delta: float) -> float:
    return 1.0 - most([1.0 - value for value in values], delta)


def bets_on(values: Row, delta: float) -> Row:
    """sqrt(2 log(1 / delta) / (variance of the past x horizon)) before each value."""
    centres = [(0.5 + math.fsum(values[: j + 1])) / (j + 2) for j in range(len(values))]
    squares = [(x - c) ** 2 for x, c in zip(values, centres, strict=True)]
    variances = [(0.05 + math.fsum(squares[:i])) / (i + 1) for i in range(len(values))]
    return [math.sqrt(2.0 * math.log(1.0 / delta) / variance / max(60, i + 1)) for i, variance in enumerate(variances)]


def ever_rejected(values: Row, bets: Row, candidate: float, delta: float) -> bool:
    """Whether betting that the mean lies above the candidate ever made 1 / delta of 1."""
    wealth = 1.0
    for value, bet in zip(values, bets, strict=True):
        wealth *= 1.0 + min(bet, 0.9 / candidate) * (value - candidate)
        if wealth >= 1.0 / delta:
            return True
    return False


def largest_rejected(values: Row, delta: float) -> float:
    """The largest candidate that is rejected: all below it are, all above it are not."""
    known, open_, bets = 0, FINEST, bets_on(values, delta)
    while open_ - known > 1:
        middle = (known + open_) // 2
        known, open_ = (middle, open_) if ever_rejected(values, bets, middle / FINEST, delta) else (known, middle)
    return known / FINEST


class LoweredCells(Cells):
    """Cells whose bars move: nothing is bet on one that was lowered to the bottom of the scale."""

    def cap(self, t: int, r: int, omega: float, pi: float) -> float:
        return super().cap(t, r, omega, pi) if self.nulls[t][r] > 0.0 else 0.0


class Correction:
    """What is measured after the judge alarm, and the cells whose bars it lowers."""

    def __init__(self, config: MonitorConfig, nulls: Table, bars: Table, usual: Table, fresh: Sequence[Table]) -> None:
        self.config, self.nulls, self.usual = config, nulls, usual
        self.rubrics = range(len(nulls[0]))
        self.cells = LoweredCells(config, [[0.0 if m == m else m for m in row] for row in nulls], bars)
        self.delta = config.alpha_system * config.shift_share / 2.0 / len(self.rubrics)
        apart = [
            [
                (1.0 if math.isnan(scores[r]) else scores[r]) - usual[a][r]
                for scoring in fresh
                for a, scores in enumerate(scoring)
            ]
            for r in self.rubrics
        ]
        self.high0 = [self.old(values) if config.shift_share else 0.0 for values in apart]
        self.measured: list[tuple[int, Row]] = []
        self.seen = 0
        self.started = False

    def old(self, values: Row) -> float:
        half = self.delta / 2.0
        if self.config.baseline_share == 0.0:
            return math.fsum(values) / len(values)
        return most([max(v, 0.0) for v in values], half) - least([max(-v, 0.0) for v in values], half)

    def lower(self) -> None:
        """m' = m + min(low1 - high0, 0) - tolerance."""
        for r in self.rubrics:
            values = [
                ((0.0 if math.isnan(scores[r]) else scores[r]) - self.usual[a][r] + 1.0) / 2.0
                for a, scores in self.measured
            ]
            shift = 2.0 * largest_rejected(values, self.delta) - 1.0 - self.high0[r]
            for t, row in enumerate(self.nulls):
                lowered = row[r] + min(shift, 0.0) - self.config.shift_tolerance
                if lowered == lowered:
                    self.cells.nulls[t][r] = lowered if lowered >= 0.01 else 0.0  # type: ignore[index]
                    self.started |= lowered >= 0.01
        self.seen = len(self.measured)

    def take(self, t: int, mu: Row, asked: bool, pi: float, y: Row) -> bool:
        """True when the system is shown to have dropped."""
        if not self.config.shift_share:
            return False
        if len(self.measured) >= 10 and 16 * len(self.measured) >= 17 * self.seen:
            self.lower()
        if not self.started:
            return False
        self.cells.take(t, mu, asked, pi, y)
        return self.cells.evalue() >= self.config.corrected_threshold
