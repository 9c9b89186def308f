"""The arithmetic of `stats` under the contract, without any judge around it: bets, mixtures and the interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from hypothesis import strategies as st

from driftjudge.stats.betting import cap_above, cap_below, grow, plug_in_bet, restart_weight
from driftjudge.stats.intervals import SUM_BET, SUM_BET_X, SUM_COST, WIDTH, interval_step
from driftjudge.stats.restart import restart_step
from tests.validity.checks import Draw, Law, Subject, Vector
from tests.validity.main_subjects import inner, lifted, unit


def law_of_mean(draw: Draw, mean: float, *, above: bool, exactly: bool) -> Law:
    """A law of x in [0, 1] on two or three points whose mean is at least (or at most) `mean`, or exactly that."""
    counts = draw(st.lists(st.integers(1, 9), min_size=2, max_size=3))
    weights = [count / sum(counts) for count in counts]
    values = draw(st.lists(unit, min_size=len(counts), max_size=len(counts)))
    if not above:
        values = [1.0 - value for value in values]
    values = lifted(values, weights, mean if above else 1.0 - mean, exactly=exactly)
    return list(zip(weights, values if above else [1.0 - value for value in values], strict=True))


@dataclass
class Bounded:
    """x in [0, 1] against a centre; `below` bets that the mean lies below it."""

    centre: float
    below: bool

    @property
    def cap(self) -> float:
        return float(cap_below(self.centre) if self.below else cap_above(self.centre))

    def d(self, x: float) -> float:
        return self.centre - x if self.below else x - self.centre

    def some(self, rng: np.random.Generator) -> float:
        return float(rng.integers(2) if rng.random() < 0.5 else rng.random())

    def null_law(self, draw: Draw) -> Law:
        return law_of_mean(draw, self.centre, above=self.below, exactly=draw(st.booleans()))

    def reflect(self, x: float) -> float:
        return 1.0 - x


@dataclass
class PlugIn(Bounded):
    """The paper's bet."""

    wealth: float = 1.0
    sum_d: float = 0.0
    sum_d2: float = 0.0

    def evalues(self) -> Vector:
        return np.array([self.wealth])

    fortunes = evalues

    def step(self, x: float) -> None:
        d = self.d(x)
        self.wealth = float(grow(self.wealth, plug_in_bet(self.sum_d, self.sum_d2, self.cap), d))
        self.sum_d, self.sum_d2 = self.sum_d + d, self.sum_d2 + d * d

    def copy(self) -> Self:
        return replace(self)

    def size(self) -> int:
        return 3 * 8

    def mirror(self) -> Self:
        return replace(self, centre=1.0 - self.centre, below=not self.below)


@dataclass
class Restart(Bounded):
    """The restart mixture, or with `detector` its e-detector variant."""

    grown: Vector
    detector: bool
    seen: int = 0
    cash: float = 1.0

    FRACTIONS = np.array([0.05, 0.4, 1.0])

    def evalues(self) -> Vector:
        return np.array([float(np.mean(self.grown)) + (0.0 if self.detector else self.cash)])

    def fortunes(self) -> Vector:
        return np.append(self.grown.ravel(), self.cash)

    def step(self, x: float) -> None:
        weight = 1.0 if self.detector else float(restart_weight(self.seen))
        restart_step(self.grown, 0, 0, self.FRACTIONS, weight, self.cap, self.d(x))
        self.seen += 1
        self.cash -= 0.0 if self.detector else weight

    def copy(self) -> Self:
        return replace(self, grown=self.grown.copy())

    def size(self) -> int:
        return int(self.grown.nbytes) + 2 * 8

    def mirror(self) -> Self:
        return replace(self.copy(), centre=1.0 - self.centre, below=not self.below)


@dataclass
class Interval:
    """What the interval inverts: exp of +-(sum of bets times x - mean) minus its cost, at the true mean."""

    mean: float
    alpha: float
    states: Vector
    turned: bool = False
    """In the mirror the two sides are exchanged."""

    def evalues(self) -> Vector:
        gain = float(self.states[0, SUM_BET_X] - self.mean * self.states[0, SUM_BET])
        gain, cost = -gain if self.turned else gain, float(self.states[0, SUM_COST])
        return np.array([math.exp(gain - cost), math.exp(-gain - cost)])

    fortunes = evalues

    def some(self, rng: np.random.Generator) -> float:
        return float(rng.random() < self.mean if rng.random() < 0.5 else rng.random())

    def null_law(self, draw: Draw) -> Law:
        return law_of_mean(draw, self.mean, above=True, exactly=True)

    def step(self, x: float) -> None:
        interval_step(self.states, 0, x, self.alpha)

    def copy(self) -> Self:
        return replace(self, states=self.states.copy())

    def size(self) -> int:
        return int(self.states.nbytes)

    def mirror(self) -> Self:
        return replace(self.copy(), mean=1.0 - self.mean, turned=not self.turned)

    def reflect(self, x: float) -> float:
        return 1.0 - x


def _restart(below: bool, detector: bool) -> Callable[[Draw], Restart]:
    return lambda draw: Restart(draw(inner), below, np.zeros((1, len(Restart.FRACTIONS))), detector)


PLAIN_SUBJECTS = (
    Subject("plug-in-below", lambda draw: PlugIn(draw(inner), True), mirrored=True),
    Subject("plug-in-above", lambda draw: PlugIn(draw(inner), False), mirrored=True),
    Subject("restart-below", _restart(True, False), mirrored=True),
    Subject("restart-above", _restart(False, False), mirrored=True),
    Subject("detector-below", _restart(True, True), start_value=0.0, allowance=1.0, mirrored=True),
    Subject("detector-above", _restart(False, True), start_value=0.0, allowance=1.0, mirrored=True),
    Subject(
        "interval",
        lambda draw: Interval(draw(inner), draw(st.floats(0.01, 0.5)), np.zeros((1, WIDTH))),
        mirrored=True,
    ),
)
