"""Ville's inequality on seeded drift-free streams: the rate of ever alarming is at most alpha, by an exact test."""

from __future__ import annotations

import numpy as np
import pytest

from driftjudge.monitor.config import Acquisition, Preset, Statistic
from driftjudge.stats._jit import COMPILED
from tests.validity.exact import assert_rate_above, assert_rate_at_most
from tests.validity.main_subjects import ACQUISITIONS, config_of
from tests.validity.streams import edge_anchors, edge_main, edge_streams, false_alarms, steady_judge

pytestmark = pytest.mark.skipif(not COMPILED, reason="thousands of streams take hours without numba")

ALPHA, RUNS, ITEMS = 0.2, 1000, 600

WATCHED: tuple[tuple[Preset, Statistic], ...] = (
    ("paper", "gap"),
    ("robust", "gap"),
    ("robust", "fingerprint"),
    ("robust", "paired"),
)
CASES = [(preset, statistic, acquisition) for preset, statistic in WATCHED for acquisition in ACQUISITIONS]


@pytest.mark.parametrize(("preset", "statistic", "acquisition"), CASES)
def test_neither_family_alarms_more_often_than_its_alpha(
    preset: Preset, statistic: Statistic, acquisition: Acquisition
) -> None:
    seed = sum(map(ord, preset + statistic + acquisition))  # a case of its own, whatever stands beside it
    config = config_of(
        preset,
        acquisition,
        statistics=(statistic,),
        alpha_system=ALPHA,
        alpha_judge=ALPHA,
        baseline_share=0.0,
        budget=0.3,
    )
    streams, (judge, table) = edge_streams(seed), steady_judge(seed)
    main, anchors = edge_main(config, streams), edge_anchors(config, judge)
    system, false_judge = false_alarms(main, anchors, streams, table, every=2, runs=RUNS, items=ITEMS, seed=seed)
    assert_rate_at_most(system, RUNS, ALPHA)
    assert_rate_at_most(false_judge, RUNS, ALPHA)


@pytest.mark.parametrize("preset", ["paper", "robust"])
def test_the_count_notices_cells_below_their_nulls(preset: Preset) -> None:
    config = config_of(preset, "uniform", statistics=("gap",), alpha_system=ALPHA, baseline_share=0.0)
    streams, (judge, table) = edge_streams(2), steady_judge(2)
    main, anchors = edge_main(config, streams, above=0.1), edge_anchors(config, judge)
    system, _ = false_alarms(main, anchors, streams, table, every=0, runs=200, items=ITEMS, seed=1)
    assert_rate_above(system, 200, ALPHA)


def test_the_count_notices_a_judge_that_is_not_where_its_baseline_says() -> None:
    config = config_of("robust", "uniform", statistics=("gap", "fingerprint"), alpha_judge=ALPHA, baseline_share=0.0)
    streams, (judge, _), (_, other) = edge_streams(2), steady_judge(2), steady_judge(3)
    main, anchors = edge_main(config, streams), edge_anchors(config, judge)
    _, false_judge = false_alarms(main, anchors, streams, other, every=2, runs=200, items=ITEMS, seed=1)
    assert_rate_above(false_judge, 200, ALPHA)


def test_the_boundary_rule_would_break_its_promise_if_its_cap_knew_the_cheap_score() -> None:
    config = config_of("robust", "boundary", statistics=("gap",), alpha_system=ALPHA, baseline_share=0.0, budget=0.1)
    streams, (judge, table) = edge_streams(2), steady_judge(2)
    main, anchors = edge_main(config, streams), edge_anchors(config, judge)
    peeking = main._replace(caps=np.empty((0, 0)))
    false, _ = false_alarms(peeking, anchors, streams, table, every=0, runs=300, items=4000, seed=2)
    assert_rate_above(false, 300, ALPHA)
    false, _ = false_alarms(main, anchors, streams, table, every=0, runs=300, items=4000, seed=2)
    assert_rate_at_most(false, 300, ALPHA)
