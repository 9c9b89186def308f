"""Processes that look right and are not: the contract must turn every one of them away."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from driftjudge.monitor.config import Preset
from driftjudge.monitor.main_process import new_main_process
from tests.validity.anchor_subjects import ANCHOR_SUBJECTS, Statistics, process_of
from tests.validity.checks import Draw, Law, Subject, Vector
from tests.validity.main_subjects import MAIN_SUBJECTS, Cells, Item, config_of, drawn_calibration, inner, lifted, unit


def _realised_cap(preset: Preset) -> Subject:
    """The boundary rule with lambda_max(pi) of the realised pi, as the paper's text has it: pi knows mu."""

    def start(draw: Draw) -> Cells:
        config = config_of(preset, "boundary", budget=draw(st.floats(0.05, 0.5)))
        process = new_main_process(config, drawn_calibration(draw))
        return Cells(process._replace(caps=np.empty((0, 0))))

    return Subject(f"boundary-rule-with-the-cap-of-its-realised-pi-{preset}", start)


@dataclass
class PeekingBet:
    """Bets everything when this item's cheap score is low and nothing when it is high."""

    null: float
    pi: float
    wealth: Vector = field(default_factory=lambda: np.ones(1))

    def evalues(self) -> Vector:
        return self.wealth.copy()

    fortunes = evalues

    def some(self, rng: np.random.Generator) -> Item:
        return Item(0, rng.random(1), rng.random(1), float(rng.random()))

    def null_law(self, draw: Draw) -> Law:
        counts = draw(st.lists(st.integers(1, 9), min_size=2, max_size=3))
        weights = [count / sum(counts) for count in counts]
        cheap = [draw(unit) for _ in counts]
        strong = lifted([draw(unit) for _ in counts], weights, self.null, exactly=True)
        return [
            (weight * share, Item(0, np.array([mu]), np.array([y]), coin))
            for weight, mu, y in zip(weights, cheap, strong, strict=True)
            for share, coin in ((self.pi, 0.0), (1.0 - self.pi, 1.0))
        ]

    def step(self, item: Item) -> None:
        mu, y = float(item.cheap[0]), float(item.strong[0])
        z = mu + (y - mu) / self.pi if item.coin < self.pi else mu
        bet = 1.0 / (1.0 / self.pi - self.null) if mu < self.null else 0.0
        self.wealth = self.wealth * (1.0 + bet * (self.null - z))

    def copy(self) -> Self:
        return replace(self, wealth=self.wealth.copy())

    def size(self) -> int:
        return int(self.wealth.nbytes)


def _too_sure_of_its_baseline(honest: Subject) -> Subject:
    """Anchor statistics whose centre lies a little on the wrong side of what the unchanged judge does."""

    def start(draw: Draw) -> Statistics:
        fair = honest.start(draw)
        assert isinstance(fair, Statistics)
        components = tuple(
            replace(component, centre=component.centre - 0.02 * component.side) for component in fair.components
        )
        assume(all(0.01 <= component.centre <= 0.99 for component in components))
        return replace(fair, components=components, process=process_of(fair.config, fair.judge, components))

    return Subject(f"baseline-on-the-wrong-side-{honest.name}", start)


CHEATS = (
    _realised_cap("paper"),
    _realised_cap("robust"),
    Subject("a-bet-that-looks-at-the-cheap-score", lambda draw: PeekingBet(draw(inner), draw(st.floats(0.1, 0.9)))),
    *(_too_sure_of_its_baseline(subject) for subject in ANCHOR_SUBJECTS if "robust" in subject.name),
    *(
        replace(subject, name=f"{subject.name}-sold-as-an-e-process", allowance=0.0)
        for subject in (*MAIN_SUBJECTS, *ANCHOR_SUBJECTS)
        if subject.allowance
    ),
)
