"""When a drop began and how large it is: the recursions are the sums over every start, and the estimates are near."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from driftjudge.stats.onset import LARGEST_MASS, MASS, MIDDLE, ONSET_WIDTH, STEEPNESS, onset_of, onset_step


def fed(distances: list[float]) -> NDArray[np.float64]:
    state = np.zeros((1, ONSET_WIDTH))
    for n, d in enumerate(distances, start=1):
        onset_step(state, 0, 0, float(n), d)
    row: NDArray[np.float64] = state[0]
    return row


def test_the_recursions_are_averages_over_every_start() -> None:
    distances = np.random.default_rng(1).uniform(-0.4, 0.6, 40).tolist()
    starts = range(len(distances))
    weights = [math.exp(STEEPNESS * math.fsum(d - MIDDLE for d in distances[s:])) for s in starts]
    total = math.fsum(weights)
    mean = math.fsum(w * (s + 1) for w, s in zip(weights, starts, strict=True)) / total
    square = math.fsum(w * (s + 1) ** 2 for w, s in zip(weights, starts, strict=True)) / total
    count = math.fsum(w * (len(distances) - s) for w, s in zip(weights, starts, strict=True)) / total
    size = math.fsum(w * math.fsum(distances[s:]) for w, s in zip(weights, starts, strict=True)) / total / count
    found = onset_of(fed(distances))
    assert found is not None
    assert found.start == pytest.approx(mean, rel=1e-12)
    assert found.size == pytest.approx(size, rel=1e-12)
    assert found.start_high - found.start == pytest.approx(2.5 * math.sqrt(square - mean**2), rel=1e-9)


def test_a_long_drop_overflows_nothing_and_changes_no_ratio() -> None:
    state = fed([-0.2] * 50 + [0.6] * 2_000)
    found = onset_of(state)
    assert 0.0 < state[MASS] <= LARGEST_MASS
    assert found is not None
    assert found.start == pytest.approx(51.0, abs=2.0)
    assert found.size == pytest.approx(0.6, abs=0.01)


def test_nothing_seen_says_nothing() -> None:
    assert onset_of(np.zeros(ONSET_WIDTH)) is None
