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


def test_equal_shares_are_the_plain_average_and_a_larger_share_counts_for_more() -> None:
    evalues = np.array([60.0, 12.0, 0.5, 0.1])
    assert (e_holm(evalues, 0.1, np.full(4, 0.25)) == e_holm(evalues, 0.1)).all()
    assert e_holm(evalues, 0.1, np.array([0.7, 0.1, 0.1, 0.1])).tolist() == [True, False, False, False]
    assert e_holm(evalues, 0.1, np.array([0.1, 0.1, 0.4, 0.4])).tolist() == [False, False, False, False]


def test_closed_testing_with_shares_looks_at_every_subset() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        evalues, shares = rng.exponential(15.0, 5), rng.uniform(0.1, 1.0, 5)
        subsets = [np.array(s) for size in range(1, 6) for s in itertools.combinations(range(5), size)]
        means = [(shares[s] @ evalues[s]) / shares[s].sum() for s in subsets]
        named = [all(m >= 10.0 for s, m in zip(subsets, means, strict=True) if i in s) for i in range(5)]
        assert e_holm(evalues, 0.1, shares).tolist() == named
