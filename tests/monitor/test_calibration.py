from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from driftjudge import Calibration
from driftjudge.monitor.errors import CalibrationError, ScoreError
from tests.monitor.builders import STRATA, healthy_scores, make_calibration, make_config, refused, through_json


def two_strata(rows: int) -> list[str]:
    return [STRATA[i % 2] for i in range(rows)]


def test_a_bar_is_the_mean_strong_score_of_its_cell() -> None:
    scores = healthy_scores(np.random.default_rng(0), 200)
    calibration = Calibration.from_scores(two_strata(200), scores, make_config(preset="paper"))
    assert calibration.bars == pytest.approx(np.array([scores[0::2].mean(axis=0), scores[1::2].mean(axis=0)]))
    assert calibration.counts.tolist() == [[100, 100], [100, 100]]


def test_the_paper_takes_bars_as_exact_and_puts_the_null_the_slack_below() -> None:
    calibration = make_calibration(make_config(preset="paper", slack=0.07))
    assert (calibration.errors == 0.0).all()
    assert calibration.nulls == pytest.approx(calibration.bars - 0.07)


def test_an_honest_null_lies_below_the_bar_by_its_error_where_that_exceeds_the_slack() -> None:
    small, large = make_calibration(make_config(), items=200), make_calibration(make_config(), items=20_000)
    assert (small.errors > 0.05).all()
    assert small.nulls == pytest.approx(small.bars - small.errors)
    assert (large.errors < 0.05).all()
    assert large.nulls == pytest.approx(large.bars - 0.05)


def test_unscored_items_count_neither_in_the_bar_nor_among_the_items() -> None:
    scores = healthy_scores(np.random.default_rng(0), 200)
    scores[:50, 0] = math.nan
    calibration = Calibration.from_scores(two_strata(200), scores, make_config())
    assert calibration.counts.tolist() == [[75, 100], [75, 100]]
    assert calibration.bars[0, 0] == pytest.approx(np.nanmean(scores[0::2, 0]))


def test_a_sorted_file_is_bounded_as_well_as_a_shuffled_one() -> None:
    scores = healthy_scores(np.random.default_rng(0), 400)
    ordered = np.sort(scores, axis=0)
    for table in (ordered, ordered[::-1]):
        errors = Calibration.from_scores(two_strata(400), table, make_config()).errors
        shuffled = Calibration.from_scores(two_strata(400), scores, make_config()).errors
        assert errors == pytest.approx(shuffled, abs=0.03)


def test_a_calibration_comes_back_from_json_the_same() -> None:
    scores = healthy_scores(np.random.default_rng(0), 200)
    scores[0::2, 1] = 0.0
    ids = [f"c{i}" for i in range(200)]
    calibration = Calibration.from_scores(two_strata(200), scores, make_config(), ids=ids, low_bars="skip")
    back = Calibration.from_json(through_json(calibration.to_json()))
    for name in ("bars", "errors", "nulls", "counts"):
        assert np.array_equal(getattr(back, name), getattr(calibration, name), equal_nan=name == "nulls")
    assert back.ids == frozenset(ids)
    assert back.counts.dtype == calibration.counts.dtype


def test_a_bar_no_higher_than_the_slack_is_refused_with_its_cell() -> None:
    scores = healthy_scores(np.random.default_rng(0), 200)
    scores[1::2, 0] = 0.04
    with refused(CalibrationError, "helpfulness x creative", "0.040", "slack 0.05", "low_bars='skip'"):
        Calibration.from_scores(two_strata(200), scores, make_config())


def test_a_bar_exactly_at_the_slack_leaves_no_room_and_is_refused() -> None:
    with refused(CalibrationError, "is 0.250", "slack 0.25", "(and 3 more)"):
        Calibration.from_scores(two_strata(4), np.full((4, 2), 0.25), make_config(preset="paper", slack=0.25))


def test_too_few_items_to_bound_a_bar_are_refused_with_about_how_many_it_takes() -> None:
    with refused(CalibrationError, "3 calibration items for helpfulness x coding", "collect about", "low_bars='skip'"):
        make_calibration(make_config(), items=6)


def test_the_number_of_items_asked_for_is_enough() -> None:
    config = make_config()
    with pytest.raises(CalibrationError) as caught:
        make_calibration(config, items=6)
    needed = int(str(caught.value).split("collect about ")[1].split(",")[0])
    assert not np.isnan(make_calibration(config, items=2 * needed).nulls).any()


def test_cells_with_low_bars_can_be_left_unwatched() -> None:
    scores = healthy_scores(np.random.default_rng(0), 200)
    scores[1::2, 0] = 0.04
    calibration = Calibration.from_scores(two_strata(200), scores, make_config(), low_bars="skip")
    assert np.isnan(calibration.nulls).tolist() == [[False, False], [True, False]]
    assert calibration.bars[1, 0] == pytest.approx(0.04)


def test_leaving_every_cell_unwatched_is_refused() -> None:
    with refused(CalibrationError, "no cell is left to watch", "collect more"):
        Calibration.from_scores(two_strata(20), np.zeros((20, 2)), make_config(), low_bars="skip")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"strata": ["coding"] * 19}, ("19 stratum labels for 20 rows", "one per item")),
        ({"strata": ["coding"] * 19 + ["poetry"]}, ("'poetry'", "'coding', 'creative'")),
        ({"strata": ["coding"] * 20}, ("no calibration scores", "'helpfulness'", "'creative'", "add items")),
        ({"ids": ["x"] * 20}, ("'x' stands twice", "every item once")),
        ({"ids": ["x"]}, ("1 ids for 20", "one per item")),
    ],
    ids=lambda value: str(value)[:40],
)
def test_calibration_data_that_do_not_fit_are_refused(change: dict[str, Any], words: tuple[str, ...]) -> None:
    arguments: dict[str, Any] = {"strata": two_strata(20), "strong_scores": np.full((20, 2), 0.5), **change}
    with refused(CalibrationError, *words):
        Calibration.from_scores(config=make_config(preset="paper"), **arguments)


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        (np.full((20, 2), 4.0), ("calibration scores", "row 0, column 0 is 4", "map your scale")),
        (np.full((20, 1), 0.5), ("calibration scores", "row of 2 scores", "(20, 1)")),
    ],
    ids=["out of range", "missing rubric"],
)
def test_calibration_scores_that_are_not_scores_are_refused(scores: Any, words: tuple[str, ...]) -> None:
    with refused(ScoreError, *words):
        Calibration.from_scores(two_strata(20), scores, make_config())
