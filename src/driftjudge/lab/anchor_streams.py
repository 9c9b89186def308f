"""The anchor re-scores of a stream as plain arrays: what any other detector of judge drift may look at.

They are the Monitor's own: the same anchors, the same keyed draws, the same answers of the judge in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from driftjudge.lab.scenarios import Staged
from driftjudge.stats.coins import ANCHOR_DRAW, SIMULATION, coins


@dataclass(frozen=True)
class AnchorStream:
    """The re-scores of one stream, one row each, and what was known before the first. NaN is unscored."""

    gaps: NDArray[np.float64]
    """n x R, equation 5, in the order of the draws."""
    baseline: NDArray[np.float64]
    """Gaps of the time-0 judge over all anchors in all baseline passes: (m k) x R."""
    human: NDArray[np.float64]
    """k x R."""
    usual: NDArray[np.float64]
    """k x R: the first baseline pass."""
    rescored: NDArray[np.float64]
    """versions x repeats x k x R: what each version of the judge answers on every anchor."""
    versions: NDArray[np.int64]
    """Which version answered, per re-score."""
    repeats: NDArray[np.int64]
    """Which of its repeats, per re-score."""

    def __len__(self) -> int:
        """Number of re-scores."""
        return len(self.gaps)

    @cached_property
    def centre(self) -> NDArray[np.float64]:
        """Mean gap at time 0, per rubric."""
        mean: NDArray[np.float64] = np.nanmean(self.baseline, axis=0)
        return mean

    @cached_property
    def spread(self) -> NDArray[np.float64]:
        """Standard deviation of one gap at time 0, per rubric."""
        deviation: NDArray[np.float64] = np.nanstd(self.baseline, axis=0)
        return deviation

    @cached_property
    def mean_gap(self) -> NDArray[np.float64]:
        """n x 1: mean over the scored rubrics of gap minus its centre, so that a refused rubric moves nothing."""
        return _row_means(self.gaps - self.centre)

    @cached_property
    def mean_spread(self) -> NDArray[np.float64]:
        """Standard deviation of one `mean_gap` at time 0."""
        deviation: NDArray[np.float64] = np.nanstd(_row_means(self.baseline - self.centre), axis=0)
        return deviation


def _row_means(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    scored = ~np.isnan(rows)
    counts = scored.sum(axis=1)
    sums = np.where(scored, rows, 0.0).sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)[:, None]


def gap_of(scores: NDArray[np.float64], human: NDArray[np.float64]) -> NDArray[np.float64]:
    """Equation 5 for whole arrays; NaN stays NaN.

    >>> gap_of(np.array([0.75, np.nan]), np.array([0.25, 0.5])).tolist()
    [0.75, nan]
    """
    return np.clip((scores - human + 1.0) / 2.0, 0.0, 1.0)


def anchor_stream(staged: Staged) -> AnchorStream:
    """The re-scores that the staged monitor takes in its stream (it must not burst)."""
    monitor, block, config = staged.monitor, staged.block, staged.monitor.config
    assert monitor.anchors is not None
    assert monitor.baseline is not None
    kept = monitor.baseline.kept
    human, passes = monitor.anchors.human[kept], monitor.anchors.passes[:, kept]
    count = len(block) // config.anchor_every
    drawn = (coins(config.seed, ANCHOR_DRAW, 0, count) * len(kept)).astype(np.int64)
    repeats = (coins(config.seed, SIMULATION, 0, count) * block.rescored.shape[1]).astype(np.int64)
    versions = block.versions[config.anchor_every - 1 :: config.anchor_every]
    return AnchorStream(
        gaps=gap_of(block.rescored[versions, repeats, drawn], human[drawn]),
        baseline=gap_of(passes, human).reshape(-1, human.shape[1]),
        human=human,
        usual=passes[0],
        rescored=block.rescored,
        versions=versions,
        repeats=repeats,
    )
