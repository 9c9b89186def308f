from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftjudge.tables import TableError
from driftjudge.tables.replicas.marginals import Mixture, level_counts


def _mixture(levels: int = 5) -> Mixture:
    return Mixture(
        centres=np.array([0.0, 0.05, -0.05]),
        gains=np.ones(3),
        factors=np.array([1.0, 1.0, 0.5]),
        weights=np.array([0.5, 0.3, 0.2]),
        levels=levels,
    )


@given(mean=st.floats(0.1, 0.9), sd=st.floats(0.2, 0.28), levels=st.sampled_from([5, 7]))
def test_a_solved_mixture_has_the_mean_and_the_deviation_asked_for(mean: float, sd: float, levels: int) -> None:
    mixture = _mixture(levels)

    assert mixture.moments(*mixture.solve(mean, sd)) == pytest.approx((mean, sd), abs=1e-4)


@given(shift=st.floats(-2, 3), spread=st.floats(0.05, 1))
def test_level_probabilities_are_a_law_in_every_stratum(shift: float, spread: float) -> None:
    law = _mixture().probabilities(shift, spread)

    assert (law >= 0).all()
    np.testing.assert_allclose(law.sum(axis=1), 1.0)


def test_a_deviation_the_grid_cannot_have_is_refused() -> None:
    with pytest.raises(TableError, match=r"mean 0\.625 and standard deviation 0\.050"):
        _mixture().solve(0.625, 0.05)


def test_a_mean_outside_the_scale_is_refused() -> None:
    with pytest.raises(TableError, match=r"No replica marginal has mean 1\.100"):
        _mixture().solve_shift(1.1, 0.2)


@given(weights=st.lists(st.floats(0.001, 1), min_size=2, max_size=7), items=st.integers(0, 2000))
def test_level_counts_share_out_every_item_within_one_of_its_due(weights: list[float], items: int) -> None:
    law = np.array(weights) / np.sum(weights)
    counts = level_counts(law, items)

    assert counts.sum() == items
    assert (counts >= 0).all()
    assert np.abs(counts - law * items).max() <= 1.0 + 1e-9
