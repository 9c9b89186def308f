"""The replicas match what was published, and the blind spots the experiments need are in them."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from driftjudge.tables import REPLICAS, ScoreTable, TableError, describe_replica, load_replica
from driftjudge.tables.replicas import Figure, load_spec
from driftjudge.tables.replicas.generator import JUDGES, generate

TOLERANCE = {"shift": 0.002, "corr": 0.01, "agree": 0.03, "slope": 0.01}


def _figure_id(figure: Figure) -> str:
    return f"{figure.rubric}-{figure.judge}-{figure.figure}"


def _pool(table: ScoreTable, rubric: str, strong_at_most: float) -> dict[str, int]:
    """Per stratum, the items the strong judge scores low and the cheap judge high (paper, appendices B and C)."""
    r = table.rubrics.index(rubric)
    blind = (table.judge("strong")[:, r] <= strong_at_most) & (table.judge("cheap")[:, r] >= 0.6)
    strata = np.array(table.strata)
    return {name: int(blind[strata == name].sum()) for name in table.stratum_names}


def _stratum_shifts(table: ScoreTable, judge: str) -> NDArray[np.float64]:
    shift = table.judge(judge) - table.judge("strong")
    strata = np.array(table.strata)
    return np.array([shift[strata == name].mean(axis=0) for name in table.stratum_names])


@pytest.mark.parametrize("name", REPLICAS)
def test_a_replica_has_the_published_size_and_says_what_it_is(name: str) -> None:
    table = load_replica(name)

    assert len(table) == 1498
    assert table.judge_names == JUDGES
    assert table.replica is True
    assert "replica" in table.name


def test_the_replicas_have_the_published_rubrics_and_strata() -> None:
    helpsteer2, tldr = load_replica("helpsteer2"), load_replica("tldr")

    assert helpsteer2.rubrics == ("helpfulness", "correctness", "coherence", "complexity", "verbosity")
    assert helpsteer2.stratum_names == ("coding", "creative", "factual_qa", "math", "other", "reasoning")
    assert tldr.rubrics == ("overall", "accuracy", "coverage", "coherence")
    assert len(tldr.stratum_names) == 5
    assert {"relationships", "AskReddit"} < set(tldr.stratum_names)


@pytest.mark.parametrize(
    ("name", "judge", "levels"),
    [(name, judge, 5) for name in REPLICAS for judge in JUDGES if judge != "human"]
    + [("helpsteer2", "human", 5), ("tldr", "human", 7)],
)
def test_every_judge_scores_on_its_grid_and_uses_all_of_it(name: str, judge: str, levels: int) -> None:
    scores = load_replica(name).judge(judge)

    np.testing.assert_allclose(np.unique(scores), np.linspace(0, 1, levels), atol=1e-15)


@pytest.mark.parametrize("figure", [figure for name in REPLICAS for figure in describe_replica(name)], ids=_figure_id)
def test_a_replica_matches_a_figure_of_its_spec(figure: Figure) -> None:
    assert abs(figure.error) <= TOLERANCE[figure.figure]


def test_the_description_covers_every_published_figure() -> None:
    helpsteer2, tldr = describe_replica("helpsteer2"), describe_replica("tldr")

    assert len(helpsteer2) == 5 * (3 + 3 + 3)
    assert {figure.source for figure in helpsteer2} == {"published"}
    assert {figure.judge for figure in tldr if figure.source == "assumed"} == {"cheap"}
    targets = {(f.rubric, f.judge, f.figure): f.target for f in helpsteer2}
    assert targets["helpfulness", "harsh", "agree"] == 0.45
    assert targets["verbosity", "cheap", "slope"] == 0.28


def test_coherence_sits_near_the_ceiling() -> None:
    table = load_replica("helpsteer2")

    assert table.judge("strong")[:, table.rubrics.index("coherence")].mean() == pytest.approx(0.92, abs=0.005)


def test_the_cheap_judge_overrates_every_bar_of_helpsteer2() -> None:
    table = load_replica("helpsteer2")
    lead = _stratum_shifts(table, "cheap") + 0.05  # the slack of the main process

    assert (lead > 0).all()
    overall = (table.judge("cheap") - table.judge("strong")).mean(axis=0) + 0.05
    published = {"helpfulness": 0.18, "complexity": 0.23, "verbosity": 0.27}
    for rubric, figure in published.items():
        assert overall[table.rubrics.index(rubric)] == pytest.approx(figure, abs=0.025)


def test_the_blind_spot_of_helpsteer2_holds_the_published_21_items_and_one_extreme() -> None:
    table = load_replica("helpsteer2")

    assert _pool(table, "helpfulness", 0.25)["creative"] == 21
    assert _pool(table, "helpfulness", 0.45)["creative"] == 21
    assert _pool(table, "helpfulness", 0.15)["creative"] == 1


@pytest.mark.parametrize(
    ("name", "empty"),
    [
        ("helpsteer2", {("coding", "coherence"), ("math", "coherence")}),
        ("tldr", {("AskReddit", "coherence")}),
    ],
)
def test_only_the_published_cells_have_no_blind_spot(name: str, empty: set[tuple[str, str]]) -> None:
    table = load_replica(name)
    pools = {(t, rubric): n for rubric in table.rubrics for t, n in _pool(table, rubric, 0.5).items()}

    assert {cell for cell, items in pools.items() if items == 0} == empty


def test_the_target_cell_of_tldr_has_a_blind_spot() -> None:
    assert _pool(load_replica("tldr"), "overall", 0.25)["relationships"] >= 5


def test_coverage_is_where_the_cheap_judge_of_tldr_is_most_generous() -> None:
    table = load_replica("tldr")
    bias = (table.judge("cheap") - table.judge("strong")).mean(axis=0)

    assert table.rubrics[int(bias.argmax())] == "coverage"


@pytest.mark.parametrize("name", REPLICAS)
@pytest.mark.parametrize("judge", ["lenient", "harsh"])
def test_heterogeneity_spreads_the_shift_over_strata_and_keeps_its_mean(name: str, judge: str) -> None:
    even, uneven = (load_replica(name, heterogeneity=h) for h in (0.0, 1.0))

    spread = [_stratum_shifts(table, judge).std(axis=0).mean() for table in (even, load_replica(name), uneven)]
    assert spread[0] < spread[1] < spread[2]
    assert spread[2] > 2 * spread[0]
    for table in (even, uneven):
        np.testing.assert_allclose(
            (table.judge(judge) - table.judge("strong")).mean(axis=0),
            [rubric.relations[judge].shift for rubric in load_spec(name).rubrics.values()],
            atol=0.002,
        )


@pytest.mark.parametrize("judge", ["human", "strong", "cheap"])
def test_heterogeneity_leaves_the_undrifted_judges_alone(judge: str) -> None:
    np.testing.assert_array_equal(
        load_replica("helpsteer2", heterogeneity=0.0).judge(judge),
        load_replica("helpsteer2", heterogeneity=2.0).judge(judge),
    )


@pytest.mark.parametrize("heterogeneity", [0.0, 3.0])
@pytest.mark.parametrize("name", REPLICAS)
def test_the_ends_of_the_heterogeneity_range_work(name: str, heterogeneity: float) -> None:
    shifts = [f for f in describe_replica(name, heterogeneity=heterogeneity) if f.figure == "shift"]

    assert max(abs(figure.error) for figure in shifts) <= TOLERANCE["shift"]


@pytest.mark.parametrize("heterogeneity", [-0.1, 3.1, float("nan")])
def test_heterogeneity_outside_its_range_is_refused(heterogeneity: float) -> None:
    with pytest.raises(TableError, match=rf"must lie in \[0, 3\], not {heterogeneity:g}"):
        load_replica("tldr", heterogeneity=heterogeneity)


def test_an_unknown_replica_is_answered_with_the_known_ones() -> None:
    with pytest.raises(TableError, match=r"no replica 'mnist'; choose one of: helpsteer2, tldr\."):
        load_replica("mnist")


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("helpsteer2", "b2b76177acb100a6"),
        ("tldr", "57999682a13a5bb5"),
    ],
)
def test_a_replica_never_changes_unnoticed(name: str, digest: str) -> None:
    table = generate(load_spec(name), load_spec(name).heterogeneity)
    twelfths = [np.rint(12 * table.judge(judge)).astype(np.uint8).tobytes() for judge in JUDGES]

    assert hashlib.sha256(b"".join([*twelfths, "".join(table.strata).encode()])).hexdigest()[:16] == digest


def test_another_seed_gives_another_table_with_the_same_published_shifts() -> None:
    spec = load_spec("tldr")
    other = generate(replace(spec, seed=spec.seed + 1), spec.heterogeneity)

    assert not np.array_equal(other.judge("strong"), load_replica("tldr").judge("strong"))
    for judge in ("lenient", "harsh"):
        np.testing.assert_allclose(
            (other.judge(judge) - other.judge("strong")).mean(axis=0),
            [rubric.relations[judge].shift for rubric in spec.rubrics.values()],
            atol=0.002,
        )


def test_a_replica_is_generated_once_and_shared() -> None:
    assert load_replica("tldr") is load_replica("tldr")


@pytest.mark.parametrize("name", REPLICAS)
def test_a_replica_is_generated_in_half_a_second_of_processor_time(name: str) -> None:
    start = time.process_time()
    generate(load_spec(name), 0.5)

    assert time.process_time() - start < 0.5


def test_what_the_cheap_judge_overrates_on_one_rubric_it_overrates_on_all() -> None:
    table = load_replica("helpsteer2")
    strata, cheap = np.array(table.strata) == "creative", table.judge("cheap")
    blind = strata & (table.judge("strong")[:, 0] <= 0.25) & (cheap[:, 0] >= 0.6)

    assert (cheap[blind].mean(axis=0) > cheap[strata].mean(axis=0) - 0.05).all()


def test_a_drifted_judge_with_insight_sides_with_the_humans() -> None:
    spec = load_spec("helpsteer2")
    blunt = generate(replace(spec, insight={"lenient": 0.0}), spec.heterogeneity)
    keen = generate(replace(spec, insight={"lenient": 0.8}), spec.heterogeneity)

    for r in range(len(spec.rubrics)):
        low, high = (np.corrcoef(t.judge("lenient")[:, r], t.judge("human")[:, r])[0, 1] for t in (blunt, keen))
        assert low < high
    np.testing.assert_array_equal(blunt.judge("strong"), keen.judge("strong"))
