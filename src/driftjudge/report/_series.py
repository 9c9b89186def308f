"""Long traces made small enough to draw, and lines cut where they leave the picture. Arrays only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

MOST_POINTS = 300
"""A line on a screen shows no more than this."""


def thin(
    position: NDArray[np.int64], value: NDArray[np.float64], keep: Iterable[int], limit: int = MOST_POINTS
) -> NDArray[np.intp]:
    """Indices worth drawing: both ends, the extremes of each stretch, and what surrounds the positions in `keep`.

    >>> position = np.arange(1, 10_001)
    >>> value = np.zeros(10_000)
    >>> value[4_321] = 9.0
    >>> kept = thin(position, value, keep=[7_000], limit=100)
    >>> len(kept) <= 100 + 2, 4_321 in kept, 6_999 in kept
    (True, True, True)
    """
    count = len(position)
    if count <= limit:
        return np.arange(count)
    edges = np.linspace(0, count, max(1, (limit - 2) // 2) + 1).astype(np.intp)
    chosen = {0, count - 1}
    for start, stop in pairwise(edges.tolist()):
        stretch = np.nan_to_num(value[start:stop], nan=0.0)
        chosen.update((int(start + stretch.argmin()), int(start + stretch.argmax())))
    for wanted in keep:
        at = int(np.searchsorted(position, wanted))
        chosen.update(index for index in (at - 1, at) if 0 <= index < count)
    return np.array(sorted(chosen), dtype=np.intp)


def pieces(
    x: Sequence[float], y: Sequence[float], breaks: Sequence[int], low: float, high: float
) -> list[list[tuple[float, float]]]:
    """The line through (x, y) as the pieces that lie within [low, high], cut at its crossings and after each break.

    >>> pieces([0, 10, 20], [0.0, 4.0, 0.0], [], low=-1.0, high=2.0)
    [[(0, 0.0), (5.0, 2.0)], [(15.0, 2.0), (20, 0.0)]]
    >>> pieces([1, 2, 3], [0.0, 1.0, 0.0], [2], low=-1.0, high=2.0)
    [[(1, 0.0), (2, 1.0)], [(3, 0.0)]]
    """
    done: list[list[tuple[float, float]]] = []
    current: list[tuple[float, float]] = []

    def close() -> None:
        nonlocal current
        if current:
            done.append(current)
        current = []

    for index, (x1, y1) in enumerate(zip(x, y, strict=True)):
        if index:
            x0, y0 = x[index - 1], y[index - 1]
            if any(x0 <= at < x1 for at in breaks):
                close()
            else:
                for bound in _crossings(y0, y1, low, high):
                    current.append((x0 + (x1 - x0) * (bound - y0) / (y1 - y0), bound))
        if low <= y1 <= high:
            current.append((x1, y1))
        else:
            close()
    close()
    return done


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Heights for labels that would like to stand at `wanted`, at least `gap` apart and within [low, high].

    >>> spread([1.0, 1.1, 5.0], gap=1.0, low=0.0, high=5.0)
    [1.0, 2.0, 5.0]
    >>> spread([5.0, 5.0], gap=1.0, low=0.0, high=5.0)
    [4.0, 5.0]
    """
    placed = [0.0] * len(wanted)
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    floor = low
    for index in order:
        placed[index] = max(floor, min(wanted[index], high))
        floor = placed[index] + gap
    ceiling = high
    for index in reversed(order):
        placed[index] = min(placed[index], ceiling)
        ceiling = placed[index] - gap
    return placed


def _crossings(y0: float, y1: float, low: float, high: float) -> list[float]:
    """The bounds strictly between two heights, in the order in which the line meets them."""
    met = [bound for bound in (low, high) if min(y0, y1) < bound < max(y0, y1)]
    return met if y0 < y1 else met[::-1]
