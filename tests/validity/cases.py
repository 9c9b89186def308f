"""Whole monitors with small streams in which the system drops, the judge shifts, both or neither."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from driftjudge.monitor import AnchorSet, Block, Calibration, Monitor, MonitorConfig
from driftjudge.monitor.config import Acquisition, Preset
from tests.validity.checks import Vector
from tests.validity.streams import GRID

RUBRICS, STRATA, ITEMS, ANCHORS, REPEATS = 3, 2, 260, 20, 5


@dataclass(frozen=True)
class Case:
    """A monitor and the stream it is going to see."""

    monitor: Monitor
    block: Block


def noisy(scores: Vector, rate: float, rng: np.random.Generator) -> Vector:
    step = np.where(rng.random(scores.shape) < rate, rng.choice([-0.25, 0.25], size=scores.shape), 0.0)
    return np.clip(scores + step, 0.0, 1.0)


def case(
    config: MonitorConfig,
    *,
    drop: float = 0.0,
    shift: float = 0.0,
    unscored: float = 0.0,
    low: bool = False,
    continuous: bool = False,
    strata: bool = False,
) -> Case:
    """A stream in which the system drops and the judge shifts after item 60, with some scores missing."""
    rng = np.random.default_rng([config.seed, 51])
    settled = rng.random((ANCHORS, RUBRICS)) if continuous else rng.choice(GRID, size=(ANCHORS, RUBRICS))
    passes = np.array([noisy(settled, 0.03, rng) for _ in range(6)])
    if continuous:
        passes = np.clip(passes + rng.normal(scale=0.01, size=passes.shape), 0.0, 1.0)
    passes[rng.random(passes.shape) < unscored] = np.nan
    calibration = rng.choice(GRID, p=[0.05, 0.1, 0.2, 0.3, 0.35], size=(400, RUBRICS))
    if low:
        calibration[:, 0] *= 0.01
    labels = [config.strata[t] for t in rng.integers(STRATA, size=400)]
    monitor = Monitor(
        config,
        calibration=Calibration.from_scores(labels, calibration, config, low_bars="skip" if low else "refuse"),
        anchors=AnchorSet(
            ids=[str(a) for a in range(ANCHORS)],
            human=rng.choice(GRID, size=(ANCHORS, RUBRICS)),
            passes=passes,
            strata=[config.strata[a % STRATA] for a in range(ANCHORS)] if strata else None,
        ),
    )
    assert monitor.baseline is not None
    after = (np.arange(ITEMS) >= 60).astype(np.int64)
    strong = noisy(rng.choice(GRID, p=[0.05, 0.1, 0.2, 0.3, 0.35], size=(ITEMS, RUBRICS)), 0.5, rng)
    cheap = noisy(strong, 0.4, rng)
    strong = np.clip(strong + (drop + shift) * after[:, None], 0.0, 1.0)
    kept = settled[monitor.baseline.kept]
    judges = [kept, np.clip(kept + shift, 0.0, 1.0)]
    rescored = np.array([[noisy(judge, 0.03, rng) for _ in range(REPEATS)] for judge in judges])
    for scores in (cheap, strong, rescored):
        scores[rng.random(scores.shape) < unscored] = np.nan
    return Case(monitor, Block(rng.integers(STRATA, size=ITEMS), cheap, strong, after, rescored))


def config_of(preset: Preset, acquisition: Acquisition, seed: int, **settings: Any) -> MonitorConfig:
    return MonitorConfig(
        rubrics=("a", "b", "c"),
        strata=("s", "t"),
        preset=preset,
        acquisition=acquisition,
        seed=seed,
        **{"budget": 0.3, **settings},
    )
