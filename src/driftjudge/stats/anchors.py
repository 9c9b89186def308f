"""What one re-score of an anchor says about the judge: gap, fingerprint and paired statistics.

Every statistic is turned into a number x of [0, 1] whose mean (or rate) under "same judge" lies on a known side of a
centre c, so that one betting recursion serves them all (statistics page, section 3). A Bernoulli stream with rate at
most p0 is the mean of x in {0, 1} at most p0: betting the fraction f of the cap 1/p0 gives the factors p1/p0 and
(1 - p1)/(1 - p0) with p1 = p0 + f (1 - p0).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from driftjudge.stats._jit import kernel

GAP, PAIRED, DEPARTURE, ANY_DEPARTURE, SILENCE = range(5)
STATISTIC_NAMES = ("gap", "paired", "fingerprint", "fingerprint", "fingerprint")
OF_NO_RUBRIC = (ANY_DEPARTURE, SILENCE)
"""Kinds that look at all rubrics together."""

BELOW = -1.0
"""The judge turned harsher. (The sentence after the paper's equation 6 swaps the two directions.)"""
ABOVE = 1.0
"""The judge turned more lenient, or departs from its usual score more often than it used to."""


@kernel
def rescaled_difference(score: float, reference: float) -> float:
    """Equation 5: clip((y - h + 1) / 2, 0, 1), for the human label h or for the judge's own usual score.

    >>> rescaled_difference(0.75, 0.25), rescaled_difference(0.0, 1.0)
    (0.75, 0.0)
    """
    return min(max((score - reference + 1.0) / 2.0, 0.0), 1.0)


@kernel
def departure(score: float, usual: float, resolution: float, direction: float) -> float:
    """1 when the score departs from the usual one in `direction` by more than the resolution, else 0.

    >>> departure(0.75, 0.5, 0.125, ABOVE), departure(0.75, 0.5, 0.125, BELOW), departure(0.6, 0.5, 0.125, ABOVE)
    (1.0, 0.0, 0.0)
    """
    return 1.0 if direction * (score - usual) > resolution else 0.0


@kernel
def anchor_statistic(
    kind: int,
    rubric: int,
    direction: float,
    scores: NDArray[np.float64],
    human: NDArray[np.float64],
    usual: NDArray[np.float64],
    resolution: NDArray[np.float64],
) -> float:
    """The number x of one statistic for one re-score; NaN marks what the judge refused or garbled.

    A refusal is behaviour. It counts as a departure of no direction, and by itself as silence where the judge usually
    answers: a judge that begins to fail is seen sooner among its failures than among its other moods. For the means it
    counts as the score that supports this bet least, in the baseline as in the stream, so that it can cost power and
    never validity.

    >>> y, h, u, res = np.array([0.5, np.nan]), np.array([0.5, 0.5]), np.array([0.25, 0.5]), np.array([0.1, 0.1])
    >>> anchor_statistic(GAP, 0, BELOW, y, h, u, res), anchor_statistic(GAP, 1, BELOW, y, h, u, res)
    (0.5, 0.75)
    >>> anchor_statistic(DEPARTURE, 0, ABOVE, y, h, u, res), anchor_statistic(ANY_DEPARTURE, 0, ABOVE, y, h, u, res)
    (1.0, 1.0)
    """
    if kind == SILENCE:
        for r in range(len(scores)):
            if math.isnan(scores[r]) and not math.isnan(usual[r]):
                return 1.0
        return 0.0
    if kind == ANY_DEPARTURE:
        for r in range(len(scores)):
            if _differs(scores[r], usual[r], resolution[r]):
                return 1.0
        return 0.0
    if kind == DEPARTURE:
        if math.isnan(scores[rubric]) or math.isnan(usual[rubric]):
            return 0.0
        return departure(scores[rubric], usual[rubric], resolution[rubric], direction)
    score = imputed(scores[rubric], direction)
    if kind == GAP:
        return rescaled_difference(score, human[rubric])
    return rescaled_difference(score, imputed(usual[rubric], -direction))


@kernel
def anchor_statistics(
    kind: int,
    rubric: int,
    direction: float,
    passes: NDArray[np.float64],
    human: NDArray[np.float64],
    usual: NDArray[np.float64],
    resolution: NDArray[np.float64],
) -> NDArray[np.float64]:
    """One statistic of every anchor in every pass (passes x anchors x rubrics), pass by pass.

    >>> y = np.array([[[0.5], [0.75]]])
    >>> anchor_statistics(GAP, 0, ABOVE, y, y[0], y[0], np.array([0.1])).tolist()
    [0.5, 0.5]
    """
    observed = np.empty(passes.shape[0] * passes.shape[1])
    for p in range(passes.shape[0]):
        for a in range(passes.shape[1]):
            x = anchor_statistic(kind, rubric, direction, passes[p, a], human[a], usual[a], resolution)
            observed[p * passes.shape[1] + a] = x
    return observed


@kernel
def imputed(score: float, direction: float) -> float:
    """The score itself, or for an unscored one the value that supports a bet in `direction` least.

    >>> imputed(0.25, BELOW), imputed(float("nan"), BELOW), imputed(float("nan"), ABOVE)
    (0.25, 1.0, 0.0)
    """
    if math.isnan(score):
        return 1.0 if direction == BELOW else 0.0
    return score


@kernel
def _differs(score: float, usual: float, resolution: float) -> bool:
    if math.isnan(score) or math.isnan(usual):
        return math.isnan(score) != math.isnan(usual)
    return abs(score - usual) > resolution


def usual_scores(passes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The judge's usual score per anchor and rubric: the most frequent value over `passes` (m x k x R).

    Ties go to the value of the earliest pass, which treats high and low scores alike. An anchor that most passes left
    unscored is usually unscored (NaN).

    >>> usual_scores(np.array([[[0.5]], [[0.75]], [[0.75]]])).item()
    0.75
    """
    same = (passes[:, None] == passes[None, :]) | (np.isnan(passes[:, None]) & np.isnan(passes[None, :]))
    votes = same.sum(axis=0)
    first = np.argmax(votes, axis=0)
    usual: NDArray[np.float64] = np.take_along_axis(passes, first[None], axis=0)[0]
    return usual


def resolution_of(passes: NDArray[np.float64], most_levels: int = 25) -> NDArray[np.float64]:
    """By how much a score must differ to count as different, per rubric, from the defining passes (m x k x R).

    Scores on a grid: half its smallest step. Continuous scores: twice the deviation of the judge from its own mean on
    one anchor, and at least 0.01 where a single pass cannot tell.

    >>> resolution_of(np.array([[[0.0], [0.25], [1.0]]])).tolist()
    [0.125]
    """
    resolutions = []
    for rubric in range(passes.shape[2]):
        values = passes[:, :, rubric]
        levels = np.unique(values[~np.isnan(values)].round(9))
        if len(levels) <= most_levels:
            resolutions.append(float(np.min(np.diff(levels))) / 2.0 if len(levels) > 1 else 1e-9)
        else:
            counts = np.maximum((~np.isnan(values)).sum(axis=0), 1)
            within = values - np.nansum(values, axis=0) / counts
            resolutions.append(max(2.0 * float(np.sqrt(np.nanmean(within**2))), 0.01))
    return np.array(resolutions)
