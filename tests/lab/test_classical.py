"""Classical change detectors against their textbook sums, and their threshold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from driftjudge.lab.classical import (
    SHIFT,
    TOLERANCE,
    page_hinkley,
    shiryaev_roberts,
    standardised,
)
from driftjudge.lab.thresholds import first_above, in_sample_threshold


def a_stream(seed: int, items: int = 80) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, size=items), rng.normal(size=(items, 2))


def literal_page_hinkley(scores: NDArray[np.float64]) -> float:
    """max_j U_j - U_n with U_n = sum_i (z_i - mean of z_1 .. z_i + tolerance) and U_0 = 0."""
    steps = [scores[i] - scores[: i + 1].mean() + TOLERANCE for i in range(len(scores))]
    sums = [sum(steps[:n]) for n in range(len(scores) + 1)]
    return float(max(sums) - sums[-1])


def literal_shiryaev_roberts(scores: NDArray[np.float64]) -> float:
    """log sum_k prod_{i >= k} of the likelihood ratios of mean -s against mean 0."""
    ratios = [math.exp(-((z + SHIFT) ** 2) / 2 + z**2 / 2) for z in scores]
    return math.log(sum(math.prod(ratios[k:]) for k in range(len(ratios))))


@pytest.mark.parametrize(
    ("fast", "literal"), [(page_hinkley, literal_page_hinkley), (shiryaev_roberts, literal_shiryaev_roberts)]
)
def test_the_kernels_follow_the_textbook_in_every_cell(fast: object, literal: object) -> None:
    assert callable(fast)
    assert callable(literal)
    for seed in range(3):
        strata, scores = a_stream(seed)
        path = fast(strata, scores, 3)
        for n in range(1, len(strata) + 1):
            mine = scores[:n][strata[:n] == strata[n - 1]]
            assert path[n - 1] == pytest.approx(max(literal(mine[:, r]) for r in range(2)), abs=1e-9)


@pytest.mark.parametrize("detector", [page_hinkley, shiryaev_roberts])
def test_a_drop_drives_the_statistic_up_and_a_rise_does_not(detector: object) -> None:
    assert callable(detector)
    strata, scores = a_stream(7, 600)
    after = np.arange(600)[:, None] >= 300
    quiet, drop, rise = (detector(strata, scores + move * after, 3).max() for move in (0.0, -2.0, 2.0))
    assert drop > quiet + 50
    assert rise <= quiet


def test_a_very_long_drop_does_not_overflow() -> None:
    path = shiryaev_roberts(np.zeros(5_000, dtype=np.int64), np.full((5_000, 1), -10.0), 1)
    assert np.isfinite(path).all()


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=80), st.floats(0.01, 0.5))
def test_the_threshold_gives_at_most_alpha_in_sample_and_no_lower_one_does(peaks: list[float], alpha: float) -> None:
    found = np.array(peaks)
    threshold = in_sample_threshold(found, alpha)
    allowed = int(alpha * len(peaks) + 1e-9)
    assert (found > threshold).sum() <= allowed
    assert (found >= threshold).sum() > allowed


def test_the_first_crossing_is_counted_from_one() -> None:
    path = np.array([0.0, 2.0, 1.0, 3.0])
    assert first_above(path, 0.5) == 2
    assert first_above(path, 2.0) == 4
    assert first_above(path, 3.0) == 0


def test_scores_are_standardised_cell_by_cell_and_a_constant_cell_keeps_its_scale() -> None:
    known = np.array([0, 0, 1, 1])
    healthy = np.array([[0.2, 0.5], [0.4, 0.5], [0.6, 0.1], [1.0, 0.3]])
    z = standardised(np.array([1, 0]), np.array([[0.6, 0.2], [0.4, 0.7]]), known, healthy)
    assert z == pytest.approx(np.array([[-1.0, 0.0], [1.0, 0.2]]))
