from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from driftjudge.stats.families import AVERAGE, BONFERRONI, e_bh, e_holm, pool

Vector = NDArray[np.float64]

evidence = st.one_of(st.floats(0.0, 100.0), st.sampled_from([0.0, 1.0, 5.0, 10.0, 20.0, 30.0, 1e280]))
families = st.lists(evidence, min_size=1, max_size=7).map(np.array)
alphas = st.sampled_from([0.05, 0.1, 0.2, 0.5])


def whole(evalues: NDArray[np.float64], rule: int) -> float:
    return float(pool(evalues[:, None], 0, 0, len(evalues), rule))


@given(families, alphas)
def test_e_holm_names_what_closed_testing_over_every_subset_names(evalues: Vector, alpha: float) -> None:
    count = len(evalues)
    subsets = [s for size in range(1, count + 1) for s in itertools.combinations(range(count), size)]
    rejected = {subset for subset in subsets if np.mean(evalues[list(subset)]) >= 1.0 / alpha}
    named = [all(subset in rejected for subset in subsets if i in subset) for i in range(count)]
    margins = [abs(np.mean(evalues[list(subset)]) * alpha - 1.0) for subset in subsets]
    if min(margins) > 1e-9:  # a mean that equals the threshold up to rounding may fall either way
        assert e_holm(evalues, alpha).tolist() == named


@given(families, alphas)
def test_e_bh_names_the_largest_k_whose_smallest_is_at_least_n_over_k_alpha(evalues: Vector, alpha: float) -> None:
    count = len(evalues)
    largest = max(
        (k for k in range(1, count + 1) if sum(e >= count / (k * alpha) * (1 - 1e-12) for e in evalues) >= k), default=0
    )
    named = e_bh(evalues, alpha)
    margins = [abs(e * k * alpha / count - 1.0) for e in evalues for k in range(1, count + 1)]
    if min(margins) > 1e-9:
        assert int(named.sum()) == largest
        assert set(np.flatnonzero(named)) == set(np.argsort(-evalues, kind="stable")[:largest])


@given(families)
def test_the_average_is_never_below_bonferroni_so_it_fires_no_later(evalues: Vector) -> None:
    assert whole(evalues, AVERAGE) >= whole(evalues, BONFERRONI) * (1.0 - 1e-12)
    assert whole(evalues, BONFERRONI) == evalues.max()
    np.testing.assert_allclose(whole(evalues, AVERAGE), evalues.sum(), rtol=1e-12)


@given(families, st.integers(1, 6))
def test_pooling_the_pools_of_parts_pools_the_whole(evalues: Vector, cut: int) -> None:
    parts = [part for part in (evalues[:cut], evalues[cut:]) if len(part)]
    for rule in (AVERAGE, BONFERRONI):
        pooled = np.array([whole(part, rule) for part in parts])
        np.testing.assert_allclose(whole(pooled, rule), whole(evalues, rule), rtol=1e-12)


def test_a_lone_member_is_named_exactly_at_its_threshold() -> None:
    for rule in (e_holm, e_bh):
        assert rule(np.array([10.0]), 0.1).tolist() == [True]
        assert rule(np.array([9.99]), 0.1).tolist() == [False]
        assert rule(np.array([0.0, 0.0]), 0.1).tolist() == [False, False]
