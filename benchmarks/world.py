"""The stream every contender sees: 5 rubrics x 6 strata on a five-level grid, and nothing drifts.

Nothing drifts so that no alarm changes the path of a timed loop: what is measured is the everyday item.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from driftjudge import AnchorSet, Calibration, Monitor, MonitorConfig
from driftjudge.monitor import Block
from driftjudge.stats.coins import ACQUISITION, SIMULATION, coins

Preset = Literal["paper", "robust"]
PRESETS: tuple[Preset, ...] = ("paper", "robust")

SEED = 20_260_101
RUBRICS = ("helpfulness", "correctness", "coherence", "complexity", "verbosity")
STRATA = ("coding", "creative", "extraction", "maths", "roleplay", "summary")
LEVELS = np.linspace(0.0, 1.0, 5)
SHARES = (0.05, 0.10, 0.20, 0.35, 0.30)
"""How often each level is scored."""
CALIBRATION_ITEMS = 6_000
ANCHORS = 200
PASSES = 6
REPEAT_NOISE = 0.03
"""Probability that the strong judge moves one level when it is asked again about an anchor."""
DISAGREEMENT = 0.30
"""Probability that the cheap judge stands one level beside the strong one."""

Row = tuple[float, ...]


@dataclass(frozen=True)
class Stream:
    """The same items twice: as arrays for blocks, and as the ids, names and tuples a caller of `observe` holds."""

    strata: NDArray[np.int64]
    cheap: NDArray[np.float64]
    strong: NDArray[np.float64]

    def __len__(self) -> int:
        """Number of items."""
        return len(self.strata)

    def part(self, start: int, stop: int) -> Stream:
        """The items `start` .. `stop - 1`."""
        return Stream(self.strata[start:stop], self.cheap[start:stop], self.strong[start:stop])

    def names(self) -> list[str]:
        """The stratum of each item."""
        return [STRATA[t] for t in self.strata.tolist()]

    def rows(self, scores: NDArray[np.float64]) -> list[Row]:
        """Scores as a caller holds them who has just read them from JSON."""
        return [tuple(row) for row in scores.tolist()]


def item_ids(start: int, count: int) -> list[str]:
    """Ids of one length, so that their size says nothing about the position."""
    return [f"item-{i:09d}" for i in range(start, start + count)]


def _levels(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    return rng.choice(LEVELS, p=SHARES, size=(count, len(RUBRICS)))


def _beside(rng: np.random.Generator, scores: NDArray[np.float64], probability: float) -> NDArray[np.float64]:
    """The scores with some moved one level up or down."""
    step = float(LEVELS[1])
    moves = np.where(rng.random(scores.shape) < 0.5, -step, step) * (rng.random(scores.shape) < probability)
    moved: NDArray[np.float64] = np.clip(scores + moves, 0.0, 1.0)
    return moved


@lru_cache(maxsize=4)
def make_stream(items: int) -> Stream:
    """In-control items; the same for the same number."""
    rng = np.random.default_rng([SEED, 1])
    strong = _levels(rng, items)
    cheap = _beside(rng, strong, DISAGREEMENT)
    return Stream(rng.integers(0, len(STRATA), size=items), cheap, strong)


@dataclass(frozen=True)
class World:
    """What a monitor is set up from, and how the strong judge answers on the anchors."""

    config: MonitorConfig
    calibration: Calibration
    anchors: AnchorSet

    def monitor(self) -> Monitor:
        """A monitor that has seen nothing yet."""
        return Monitor(self.config, calibration=self.calibration, anchors=self.anchors)

    def block(self, monitor: Monitor, stream: Stream) -> Block:
        """The stream with every score known beforehand."""
        assert monitor.baseline is not None
        rescored = np.ascontiguousarray(self.anchors.passes[None][:, :, monitor.baseline.kept])
        versions = np.zeros(len(stream), dtype=np.int64)
        return Block(stream.strata, stream.cheap, stream.strong, versions, rescored)

    def answers(self) -> dict[str, list[Row]]:
        """Per anchor, what the judge answers in each of its moods.

        Its moods are the baseline passes themselves, so that the time-0 means are exact. Preset `paper` takes them as
        such, and would rightly find out any other judge within the ten million items of the longest run.
        """
        by_anchor = self.anchors.passes.transpose(1, 0, 2).tolist()
        return {i: [tuple(row) for row in rows] for i, rows in zip(self.anchors.ids, by_anchor, strict=True)}

    def moods(self, start: int, count: int) -> list[int]:
        """In which mood the judge is at each anchor draw; the coins are those a block reads."""
        uniform = coins(self.config.seed, SIMULATION, start, count)
        return [int(i) for i in (uniform * len(self.anchors.passes)).astype(np.int64)]

    def asked(self, count: int) -> list[bool]:
        """Which of the first items the monitor asks the strong judge about."""
        uniform = coins(self.config.seed, ACQUISITION, 0, count)
        return [bool(hit) for hit in uniform < self.config.budget]


@lru_cache(maxsize=len(PRESETS))
def make_world(preset: Preset) -> World:
    """The set-up of a preset; the same scores for both."""
    rng = np.random.default_rng([SEED, 2])
    config = MonitorConfig(rubrics=RUBRICS, strata=STRATA, preset=preset, seed=SEED)
    strata = [STRATA[i % len(STRATA)] for i in range(CALIBRATION_ITEMS)]
    calibration = Calibration.from_scores(strata, _levels(rng, CALIBRATION_ITEMS), config)
    human = _levels(rng, ANCHORS)
    usual = _beside(rng, human, DISAGREEMENT)
    passes = np.array([_beside(rng, usual, REPEAT_NOISE) for _ in range(PASSES)])
    anchors = AnchorSet(ids=[f"anchor-{i:03d}" for i in range(ANCHORS)], human=human, passes=passes)
    return World(config, calibration, anchors)
