from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from driftjudge.report._series import pieces, spread, thin

heights = st.lists(st.floats(-20.0, 20.0), min_size=1, max_size=40)


@given(heights)
def test_no_piece_of_a_line_leaves_the_picture(y: list[float]) -> None:
    x = [float(at) for at in range(len(y))]
    cut = pieces(x, y, [], low=-3.0, high=5.0)
    assert all(-3.0 <= height <= 5.0 for piece in cut for _, height in piece)


@given(heights)
def test_cutting_keeps_every_point_inside_and_the_order(y: list[float]) -> None:
    x = [float(at) for at in range(len(y))]
    points = [point for piece in pieces(x, y, [], low=-3.0, high=5.0) for point in piece]
    assert {(at, height) for at, height in zip(x, y, strict=True) if -3.0 <= height <= 5.0} <= set(points)
    assert [at for at, _ in points] == sorted(at for at, _ in points)


def test_a_line_that_jumps_over_the_picture_is_drawn_across_it() -> None:
    assert pieces([0, 10], [-10.0, 10.0], [], low=-5.0, high=5.0) == [[(2.5, -5.0), (7.5, 5.0)]]


def test_the_next_epoch_starts_its_own_piece() -> None:
    assert [len(piece) for piece in pieces([1, 2, 3, 4], [0.0] * 4, [2, 3], low=-1.0, high=1.0)] == [2, 1, 1]


@given(st.integers(1, 3000), st.integers(4, 200))
def test_thinning_keeps_both_ends_and_the_extremes_within_its_limit(count: int, limit: int) -> None:
    value = np.sin(np.arange(count) * 0.37) * np.arange(count)
    kept = thin(np.arange(1, count + 1), value, keep=(), limit=limit)
    assert len(kept) <= limit
    assert {0, count - 1, int(value.argmin()), int(value.argmax())} <= set(kept.tolist())


def test_thinning_keeps_the_neighbours_of_a_position_that_is_not_in_the_trace() -> None:
    position = np.arange(0, 20_000, 10)
    kept = thin(position, np.zeros(2000), keep=[10_005], limit=50)
    assert {1000, 1001} <= set(kept.tolist())


@given(st.lists(st.floats(0.0, 10.0), max_size=4))
def test_spread_labels_never_touch_and_never_leave(wanted: list[float]) -> None:
    placed = sorted(spread(wanted, gap=2.0, low=0.0, high=10.0))
    assert all(0.0 <= height <= 10.0 for height in placed)
    assert all(upper - lower >= 2.0 - 1e-9 for lower, upper in pairwise(placed))
