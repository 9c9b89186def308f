"""The detectors that stand beside the e-process, against cases worked by hand and slow, obvious implementations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from driftjudge.lab import anchor_rivals as rivals
from driftjudge.lab.anchor_streams import AnchorStream, gap_of
from driftjudge.lab.river_rivals import river_detector
from driftjudge.lab.thresholds import first_above, held_out_threshold

NAN = math.nan
HALF, TENTH = np.array([0.5]), np.array([0.1])


def column(*values: float) -> NDArray[np.float64]:
    return np.array(values)[:, None]


def gaps_with_a_shift(seed: int, shift: float = 0.06, rubrics: int = 3) -> NDArray[np.float64]:
    gaps = np.random.default_rng(seed).normal(0.5, 0.1, size=(200, rubrics))
    gaps[80:] += shift
    return gaps


def slow_rolling_z(gaps: NDArray[np.float64], centre: float, spread: float, window: int, critical: float) -> int:
    for n in range(1, len(gaps) + 1):
        for scores in gaps[:n].T:
            scored = scores[~np.isnan(scores)]
            if (
                len(scored) >= window
                and abs(scored[-window:].mean() - centre) / (spread / math.sqrt(window)) > critical
            ):
                return n
    return 0


@pytest.mark.parametrize("seed", range(8))
def test_the_rolling_z_test_is_the_textbook_one_at_every_re_score(seed: int) -> None:
    gaps = gaps_with_a_shift(seed)
    gaps[np.random.default_rng(seed + 100).random(gaps.shape) < 0.1] = NAN
    expected = slow_rolling_z(gaps, 0.5, 0.1, 30, rivals.CRITICAL)
    assert rivals.rolling_z(gaps, np.full(3, 0.5), np.full(3, 0.1), 30, rivals.CRITICAL) == expected


def test_the_rolling_z_test_waits_for_a_full_window() -> None:
    assert rivals.rolling_z(column(0.9, 0.9), HALF, TENTH, 3, 2.0) == 0
    assert rivals.rolling_z(column(0.9, 0.9, 0.9), HALF, TENTH, 3, 2.0) == 3


def test_a_judge_without_spread_alarms_the_z_test_on_any_departure_and_on_nothing_else() -> None:
    nothing = np.zeros(1)
    assert rivals.rolling_z(column(0.5, 0.5, 0.5), HALF, nothing, 2, 2.0) == 0
    assert rivals.rolling_z(column(0.5, 0.5, 0.75), HALF, nothing, 2, 2.0) == 3


def test_page_hinkley_with_a_running_mean_by_hand() -> None:
    # Running means 0.4, 0.5, 0.6; up: 0 - 0.01 -> 0, 0.1 - 0.01, + 0.2 - 0.01. Down: reflected at 0 throughout.
    path = rivals.page_hinkley_path(column(0.4, 0.6, 0.8), np.array([NAN]), 0.01)
    assert path == pytest.approx([0.0, 0.09, 0.28])


def test_page_hinkley_with_a_known_mean_by_hand() -> None:
    # Down: 0.2 - 0.05, then - 0.1 - 0.05 -> 0. Up: 0, then 0.1 - 0.05, then 0.3 - 0.05 more.
    path = rivals.page_hinkley_path(column(0.3, 0.6, 0.8), HALF, 0.05)
    assert path == pytest.approx([0.15, 0.05, 0.30])


@pytest.mark.parametrize("threshold", [0.5, 1.0, 2.0])
def test_page_hinkley_is_rivers_without_its_forgetting(threshold: float) -> None:
    drift = pytest.importorskip("river.drift")
    for seed in range(5):
        values = gaps_with_a_shift(seed, shift=0.2, rubrics=1)
        theirs = drift.PageHinkley(min_instances=1, delta=0.005, threshold=threshold, alpha=1.0)
        first = 0
        for i, value in enumerate(values[:, 0].tolist()):
            theirs.update(value)
            if theirs.drift_detected:
                first = i + 1
                break
        assert first_above(rivals.page_hinkley_path(values, np.array([NAN]), 0.005), threshold) == first > 0


def test_the_calibrated_threshold_is_exceeded_by_at_most_the_stated_share_of_exchangeable_streams() -> None:
    maxima = [float(i) for i in range(1, 61)]
    assert held_out_threshold(maxima, 0.1) == 55.0  # ceil(61 * 0.9): ranks 56 .. 61 of 61 are above
    assert held_out_threshold(maxima[:8], 0.1) == math.inf


def test_batches_are_standardised_by_what_was_scored() -> None:
    gaps = np.column_stack([[0.6, NAN, 0.7, 0.7, 0.9], [NAN, NAN, 0.4, 0.6, 0.1]])
    scores = rivals.batch_zscores(gaps, np.full(2, 0.5), np.full(2, 0.1), 2)
    assert scores[0, 0] == pytest.approx(1.0)  # one scored: 0.1 / 0.1
    assert math.isnan(scores[0, 1])
    assert scores[1] == pytest.approx([0.2 / (0.1 / math.sqrt(2)), 0.0])
    assert len(scores) == 2  # the fifth re-score waits for its batch


def test_the_ewma_chart_alarms_at_three_deviations_of_its_own() -> None:
    # First batch: e = 0.2 z against 3 * 0.2, so exactly |z| > 3.
    assert rivals.ewma_chart(column(2.99), 0.2, 3.0) == 0
    assert rivals.ewma_chart(column(-3.01), 0.2, 3.0) == 1
    # z = 2 throughout: e_t = 2 (1 - 0.8^t); 0.72 < 0.768, 0.976 > 0.859 at t = 2 and 3.
    assert rivals.ewma_chart(column(2.0, 2.0, 2.0, 2.0), 0.2, 3.0) == 3


def test_the_cusum_chart_adds_what_exceeds_its_allowance() -> None:
    # z = 2: 1.5, 3.0, 4.5, 6.0 > 5 at the fourth; a quiet batch in between takes its allowance back.
    assert rivals.cusum_chart(column(2.0, 2.0, 2.0, 2.0), 0.5, 5.0) == 4
    assert rivals.cusum_chart(column(-2.0, -2.0, 0.0, -2.0, -2.0), 0.5, 5.0) == 5
    assert rivals.cusum_chart(column(0.5, 0.5, 0.5), 0.5, 5.0) == 0


def test_a_batch_that_nobody_scored_leaves_the_charts_where_they_were() -> None:
    with_hole, without = column(2.0, NAN, 2.0, 2.0, 2.0), column(2.0, 2.0, 2.0, 2.0)
    assert rivals.cusum_chart(with_hole, 0.5, 5.0) == rivals.cusum_chart(without, 0.5, 5.0) + 1
    assert rivals.ewma_chart(with_hole, 0.2, 3.0) == rivals.ewma_chart(without, 0.2, 3.0) + 1


@pytest.mark.parametrize("seed", range(4))
def test_scores_mirrored_at_one_half_alarm_at_the_same_time(seed: int) -> None:
    gaps, centre, spread = gaps_with_a_shift(seed), np.full(3, 0.5), np.full(3, 0.1)
    mirrored = 1.0 - gaps
    for view in (gaps, mirrored):
        scores = rivals.batch_zscores(view, centre, spread, 20)
        found = (
            rivals.rolling_z(view, centre, spread, 30, rivals.CRITICAL),
            first_above(rivals.page_hinkley_path(view, np.full(3, NAN), 0.005), 0.9),
            rivals.ewma_chart(scores, 0.2, 3.0),
            rivals.cusum_chart(scores, 0.5, 5.0),
        )
        if view is gaps:
            first = found
    assert found == first
    assert max(first) > 0


def test_cohens_kappa_of_a_two_by_two_table_by_hand() -> None:
    # 20 both yes, 5 and 10 split, 15 both no: p_o = 0.7, p_e = 0.5, kappa = 0.4.
    one = np.repeat([1.0, 1.0, 0.0, 0.0], [20, 5, 10, 15])
    other = np.repeat([1.0, 0.0, 1.0, 0.0], [20, 5, 10, 15])
    assert rivals.cohen_kappa(one, other, 0.25) == pytest.approx(0.4)
    assert rivals.cohen_kappa(np.append(one, NAN), np.append(other, 1.0), 0.25) == pytest.approx(0.4)


def test_kappa_rounds_scores_to_the_grid_and_defines_its_edge_cases() -> None:
    assert rivals.cohen_kappa(np.array([0.2, 0.8]), np.array([0.3, 0.7]), 0.25) == 1.0
    assert rivals.cohen_kappa(np.array([0.5, 0.5]), np.array([0.5, 0.5]), 0.25) == 1.0
    assert math.isnan(rivals.cohen_kappa(np.array([NAN]), np.array([0.5]), 0.25))


def stream_of(before: NDArray[np.float64], after: NDArray[np.float64], human: NDArray[np.float64]) -> AnchorStream:
    versions = np.repeat([0, 1], [len(human) * 2 - 1, len(human) * 2 + 1])
    return AnchorStream(
        gaps=np.full((len(versions), human.shape[1]), 0.5),
        baseline=gap_of(before, human),
        human=human,
        usual=before,
        rescored=np.array([[before], [after]]),
        versions=versions,
        repeats=np.zeros_like(versions),
    )


def test_the_kappa_rule_looks_once_per_anchor_sets_worth_of_calls_and_sees_one_rubric_fall() -> None:
    labels = np.tile([0.0, 1.0], 10)
    human = np.column_stack([labels, labels])
    worse = human.copy()
    worse[:2, 1] = [1.0, 0.0]  # two of twenty swapped on the second rubric: kappa 0.8
    assert rivals.kappa_rule(stream_of(human, worse, human), 0.25, 0.10) == 40  # in force from the 40th re-score on
    assert rivals.kappa_rule(stream_of(human, worse, human), 0.25, 0.20) == 0
    assert rivals.kappa_rule(stream_of(human, human, human), 0.25, 0.10) == 0


def test_the_kappa_rule_survives_a_judge_that_refuses() -> None:
    human = np.tile([0.0, 1.0], 10)[:, None]
    refused = human.copy()
    refused[:5] = NAN
    assert rivals.kappa_rule(stream_of(human, refused, human), 0.25, 0.10) == 0
    assert rivals.kappa_rule(stream_of(human, np.full_like(human, NAN), human), 0.25, 0.10) == 0


def test_a_refused_rubric_does_not_move_the_mean_gap() -> None:
    human = np.array([[0.5, 0.5], [0.5, 0.5]])
    stream = stream_of(np.array([[0.25, 1.0], [0.25, 1.0]]), human, human)
    gaps = np.array([[0.375, 0.75], [0.375, NAN], [NAN, NAN]])
    refusing = AnchorStream(
        gaps, stream.baseline, human, stream.usual, stream.rescored, stream.versions, stream.repeats
    )
    assert refusing.mean_gap[:2, 0].tolist() == [0.0, 0.0]
    assert math.isnan(refusing.mean_gap[2, 0])


def test_rivers_detectors_run_as_shipped_and_skip_what_was_not_scored() -> None:
    pytest.importorskip("river.drift")
    values = np.concatenate([np.zeros(300), np.full(300, 5.0)])
    holes = np.concatenate([[NAN], values])
    for name in ("ADWIN", "PageHinkley"):
        found = river_detector(name, values)
        assert 300 < found < 600
        assert river_detector(name, holes) == found + 1
        assert river_detector(name, np.zeros(300)) == 0
