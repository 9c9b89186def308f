"""How well a judge agrees with the humans, and how well it agrees with itself."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftjudge.stats.anchors import usual_scores

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Agreement:
    """One rubric: the judge beside the human labels, over the anchors it scored."""

    rubric: str
    kappa: float
    """Quadratic-weighted kappa: 1 is perfect, 0 is chance; NaN where neither varies."""
    correlation: float
    """Pearson; NaN where one of the two does not vary."""
    bias: float
    """Mean of judge minus human, on the scale from 0 to 1."""
    scored: int
    unscored: int


@dataclass(frozen=True)
class Disagreement:
    """An anchor on which judge and humans are far apart."""

    anchor: str
    rubric: str
    judge: float
    human: float


@dataclass(frozen=True)
class RepeatNoise:
    """One rubric: how the judge departs from itself when asked again about the same anchor."""

    rubric: str
    departures: float
    """Share of scores that differ from the anchor's usual score by more than the resolution."""
    deviation: float
    """Standard deviation of a score around its anchor's mean; NaN with a single pass."""


def weighted_kappa(one: Array, other: Array) -> float:
    """Cohen's kappa with quadratic weights, in its closed form: no bins, so it takes expected scores too.

    1 - E(x - y)^2 / (var x + var y + (mean x - mean y)^2), the denominator being E(x - y)^2 for independent raters.

    >>> weighted_kappa(np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.5, 1.0]))
    1.0
    >>> round(weighted_kappa(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])), 6)
    0.0
    """
    by_chance = float(np.var(one) + np.var(other) + (np.mean(one) - np.mean(other)) ** 2)
    return 1.0 - float(np.mean((one - other) ** 2)) / by_chance if by_chance > 0.0 else math.nan


def agreement(rubrics: tuple[str, ...], judge: Array, human: Array) -> tuple[Agreement, ...]:
    """Judge (n x R, NaN: unscored) beside humans (n x R), rubric by rubric."""
    found = []
    for r, rubric in enumerate(rubrics):
        both = ~np.isnan(judge[:, r]) & ~np.isnan(human[:, r])
        x, y = judge[both, r], human[both, r]
        varied = len(x) > 1 and float(np.ptp(x)) > 0.0 and float(np.ptp(y)) > 0.0
        found.append(
            Agreement(
                rubric=rubric,
                kappa=weighted_kappa(x, y) if len(x) else math.nan,
                correlation=float(np.corrcoef(x, y)[0, 1]) if varied else math.nan,
                bias=float(np.mean(x - y)) if len(x) else math.nan,
                scored=int(both.sum()),
                unscored=int(np.isnan(judge[:, r]).sum()),
            )
        )
    return tuple(found)


def worst_disagreements(
    ids: tuple[str, ...], rubrics: tuple[str, ...], judge: Array, human: Array, most: int = 10
) -> tuple[Disagreement, ...]:
    """The anchors and rubrics on which the two are farthest apart, farthest first."""
    distance = np.nan_to_num(np.abs(judge - human), nan=-1.0)
    order = np.argsort(-distance, axis=None, kind="stable")[:most]
    found = []
    for a, r in zip(*np.unravel_index(order, distance.shape), strict=True):
        if distance[a, r] > 0.0:
            found.append(Disagreement(ids[a], rubrics[r], float(judge[a, r]), float(human[a, r])))
    return tuple(found)


def repeat_noise(rubrics: tuple[str, ...], passes: Array, resolution: Array) -> tuple[RepeatNoise, ...]:
    """The judge against itself over passes (m x k x R), rubric by rubric."""
    usual = usual_scores(passes)
    found = []
    for r, rubric in enumerate(rubrics):
        scores = passes[:, :, r]
        scored = ~np.isnan(scores)
        departed = np.where(scored, np.abs(scores - usual[:, r]) > resolution[r], ~np.isnan(usual[:, r]))
        found.append(RepeatNoise(rubric, float(departed.mean()), _deviation(scores, scored)))
    return tuple(found)


def _deviation(scores: Array, scored: NDArray[np.bool_]) -> float:
    """Pooled within-anchor standard deviation, with the degrees of freedom the means used up."""
    counts = scored.sum(axis=0)
    spare = int(np.maximum(counts - 1, 0).sum())
    if spare == 0:
        return math.nan
    means = np.where(scored, scores, 0.0).sum(axis=0) / np.maximum(counts, 1)
    return math.sqrt(float(np.where(scored, (scores - means) ** 2, 0.0).sum()) / spare)
