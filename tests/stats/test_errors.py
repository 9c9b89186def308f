from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from driftjudge.stats.bounds import highest_rate, lowest_mean, mean_radius
from driftjudge.stats.errors import StatisticsError, SupermartingaleError
from driftjudge.stats.families import e_bh, e_holm

SOME = np.array([0.5, 0.5])


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: highest_rate(1, 10, 0.0), "0.0"),
        (lambda: highest_rate(1, 10, 1.0), "1.0"),
        (lambda: highest_rate(11, 10, 0.1), "11 of 10"),
        (lambda: highest_rate(0, 0, 0.1), "0 of 0"),
        (lambda: highest_rate(-1, 10, 0.1), "-1 of 10"),
        (lambda: lowest_mean(SOME, 1.5), "1.5"),
        (lambda: mean_radius(SOME, np.arange(2), -0.1), "-0.1"),
        (lambda: mean_radius(np.empty(0), np.empty(0, dtype=np.int64), 0.1), "no values"),
        (lambda: e_holm(SOME, 0.0), "0.0"),
        (lambda: e_bh(SOME, 1.0), "1.0"),
        (lambda: e_holm(np.empty(0), 0.1), "non-empty"),
        (lambda: e_holm(np.array([1.0, -0.5]), 0.1), "at or above 0"),
        (lambda: e_bh(np.array([1.0, np.nan]), 0.1), "at or above 0"),
        (lambda: e_bh(np.ones((2, 2)), 0.1), "vector"),
    ],
)
def test_what_the_mathematics_does_not_hold_for_is_refused_in_one_sentence(call: Callable[[], Any], named: str) -> None:
    with pytest.raises(StatisticsError, match=named):
        call()


def test_a_caller_who_knows_only_the_standard_library_catches_them_too() -> None:
    assert issubclass(StatisticsError, ValueError)
    assert issubclass(SupermartingaleError, ArithmeticError)
