"""The main family under the contract: every preset and promise with every acquisition rule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, get_args

import numpy as np
from hypothesis import strategies as st

from driftjudge.monitor import Calibration, MonitorConfig
from driftjudge.monitor.config import Acquisition, Preset
from driftjudge.monitor.layout import GROWN, NULL, WEALTH
from driftjudge.monitor.main_process import MainProcess, main_evalue, main_probability, main_step, new_main_process
from driftjudge.stats.families import AVERAGE
from tests.validity.checks import Draw, Law, Subject, Vector

ACQUISITIONS: tuple[Acquisition, ...] = get_args(Acquisition)
RUBRICS, STRATA = 2, 2

unit = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.floats(0.0, 1.0, allow_subnormal=False))
inner = st.floats(0.05, 0.95)


class Item(NamedTuple):
    """One stream item with every score known; the coin decides whether the strong ones are seen."""

    stratum: int
    cheap: Vector
    strong: Vector
    coin: float


def config_of(preset: Preset, acquisition: Acquisition, **settings: Any) -> MonitorConfig:
    return MonitorConfig(
        rubrics=("clear", "right"),
        strata=("code", "prose"),
        preset=preset,
        acquisition=acquisition,
        **settings,
    )


def calibration_of(nulls: Vector, bars: Vector) -> Calibration:
    """A calibration that knows its nulls exactly."""
    return Calibration(bars, np.zeros(bars.shape), nulls, np.full(bars.shape, 100), frozenset())


def lifted(values: Sequence[float], weights: Sequence[float], mean: float, *, exactly: bool) -> list[float]:
    """The values moved within [0, 1] until their weighted mean is at least `mean`, or exactly that."""
    now = math.fsum(w * v for w, v in zip(weights, values, strict=True))
    if now < mean:
        share = (mean - now) / (1.0 - now)
        return [v + (1.0 - v) * share for v in values]
    if exactly and now > 0.0:
        return [v * (mean / now) for v in values]
    return list(values)


@dataclass
class Cells:
    """The main family in some state."""

    process: MainProcess

    def evalues(self) -> Vector:
        wealth = self.process.cells[~np.isnan(self.process.cells[:, NULL]), WEALTH]
        # The largest member is no e-process under the Bonferroni rule, so there only the members are checked.
        family = [main_evalue(self.process)] if self.process.alarm_rule == AVERAGE else []
        return np.concatenate([wealth, family])

    def fortunes(self) -> Vector:
        cells = self.process.cells
        return np.concatenate([cells[:, WEALTH], cells[:, GROWN:].ravel(), self.process.strata.ravel()])

    def probability(self, stratum: int, cheap: Vector) -> float:
        return float(main_probability(self.process, stratum, cheap))

    def some(self, rng: np.random.Generator) -> Item:
        scores = rng.random((2, RUBRICS))
        scores = np.where(rng.random(scores.shape) < 0.4, scores.round(), scores)
        scores[rng.random(scores.shape) < 0.05] = np.nan
        return Item(int(rng.integers(STRATA)), scores[0], scores[1], float(rng.random()))

    def null_law(self, draw: Draw) -> Law:
        """Joint laws of (mu, y) on two or three points whose strong means lie at or above their nulls."""
        t = draw(st.integers(0, STRATA - 1))
        counts = draw(st.lists(st.integers(1, 9), min_size=2, max_size=3))
        weights = [count / sum(counts) for count in counts]
        points = len(weights)
        cheap = np.array(draw(st.lists(st.lists(unit, min_size=2, max_size=2), min_size=points, max_size=points)))
        strong = np.empty((points, RUBRICS))
        for r in range(RUBRICS):
            null = float(self.process.cells[t * RUBRICS + r, NULL])
            values = draw(st.lists(unit, min_size=points, max_size=points))
            strong[:, r] = values if math.isnan(null) else lifted(values, weights, null, exactly=draw(st.booleans()))
        if draw(st.booleans()):  # some call fails for good, perhaps because of the score it would have given
            strong[draw(st.integers(0, points - 1)), draw(st.integers(0, RUBRICS - 1))] = np.nan
        if draw(st.booleans()):
            cheap[draw(st.integers(0, points - 1)), draw(st.integers(0, RUBRICS - 1))] = np.nan
        return self.outcomes(t, weights, cheap, strong)

    def outcomes(self, t: int, weights: Sequence[float], cheap: Vector, strong: Vector) -> Law:
        """Each point of the joint law with the coin falling either way."""
        law: list[tuple[float, Item]] = []
        for weight, mu, y in zip(weights, cheap, strong, strict=True):
            pi = self.probability(t, mu)
            law.append((weight * pi, Item(t, mu, y, 0.0)))
            if pi < 1.0:
                law.append((weight * (1.0 - pi), Item(t, mu, y, 1.0)))
        return law

    def step(self, item: Item) -> None:
        pi = self.probability(item.stratum, item.cheap)
        main_step(self.process, item.stratum, item.cheap, item.coin < pi, pi, item.strong)

    def copy(self) -> Self:
        state = {name: getattr(self.process, name).copy() for name in ("cells", "strata")}
        return replace(self, process=self.process._replace(**state))

    def size(self) -> int:
        return int(self.process.cells.nbytes + self.process.strata.nbytes)


def drawn_calibration(draw: Draw) -> Calibration:
    """Any nulls, bars above them, and perhaps a cell that is not watched."""
    nulls = np.array(draw(st.lists(inner, min_size=4, max_size=4))).reshape(STRATA, RUBRICS)
    room = np.array(draw(st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4))).reshape(STRATA, RUBRICS)
    bars = nulls + room * (1.0 - nulls)
    if draw(st.booleans()):
        nulls[draw(st.integers(0, STRATA - 1)), draw(st.integers(0, RUBRICS - 1))] = np.nan
    return calibration_of(nulls, bars)


def _subject(name: str, preset: Preset, acquisition: Acquisition, run_length: float | None = None) -> Subject:
    def start(draw: Draw) -> Cells:
        config = config_of(preset, acquisition, budget=draw(st.floats(0.05, 1.0)), run_length=run_length)
        return Cells(new_main_process(config, drawn_calibration(draw)))

    detector = run_length is not None
    return Subject(
        f"main-{name}-{acquisition}",
        start,
        start_value=0.0 if detector else 1.0,
        allowance=1.0 if detector else 0.0,
    )


PROMISES: tuple[tuple[str, Preset, float | None], ...] = (
    ("paper", "paper", None),
    ("robust", "robust", None),
    ("detector", "robust", 1e3),
)
"""Name, preset and run length: the two presets, and the e-detector."""

MAIN_SUBJECTS = tuple(
    _subject(name, preset, acquisition, run_length)
    for name, preset, run_length in PROMISES
    for acquisition in ACQUISITIONS
)
