from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from driftjudge.tables import ScoreTable, TableError


def _table(**changes: Any) -> ScoreTable:
    fields: dict[str, Any] = {
        "name": "mine",
        "ids": ("a", "b", "c"),
        "strata": ("y", "x", "y"),
        "rubrics": ("tone", "facts"),
        "scores": {"cheap": np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]), "strong": np.full((3, 2), 0.5)},
    }
    return ScoreTable(**(fields | changes))


def _message(**changes: Any) -> str:
    with pytest.raises(TableError) as caught:
        _table(**changes)
    return str(caught.value)


def test_a_table_knows_its_length_its_strata_and_its_judges() -> None:
    table = _table()

    assert len(table) == 3
    assert table.stratum_names == ("x", "y")
    assert table.judge_names == ("cheap", "strong")
    assert table.replica is False


def test_a_judge_is_found_by_name() -> None:
    np.testing.assert_array_equal(_table().judge("cheap")[:, 1], [0.2, 0.4, 0.6])


def test_an_unknown_judge_is_answered_with_the_known_ones() -> None:
    with pytest.raises(TableError, match=r"'mine' has no judge 'gpt'; choose one of: cheap, strong\."):
        _table().judge("gpt")


def test_an_empty_table_is_refused() -> None:
    assert "'mine' has no items" in _message(ids=(), strata=(), scores={"cheap": np.empty((0, 2))})


def test_a_table_without_judges_is_refused() -> None:
    assert "'mine' has no judges" in _message(scores={})


def test_a_table_without_rubrics_is_refused() -> None:
    assert "'mine' has no rubrics" in _message(rubrics=(), scores={"cheap": np.empty((3, 0))})


def test_a_duplicate_item_id_is_named() -> None:
    assert "item id 'b' 2 times" in _message(ids=("a", "b", "b"))


def test_a_duplicate_rubric_is_named() -> None:
    assert "rubric 'tone' 2 times" in _message(rubrics=("tone", "tone"))


def test_a_missing_stratum_is_counted() -> None:
    assert "3 ids but 2 strata" in _message(strata=("x", "y"))


def test_scores_of_another_shape_are_refused_with_both_shapes() -> None:
    message = _message(scores={"cheap": np.zeros((2, 3))})

    assert "judge 'cheap'" in message
    assert "(2, 3)" in message
    assert "(3, 2)" in message


@pytest.mark.parametrize("value", [1.5, -0.01, math.inf, -math.inf])
def test_a_score_off_the_scale_is_named_with_judge_rubric_item_and_value(value: float) -> None:
    scores = np.full((3, 2), 0.5)
    scores[2, 1] = value

    message = _message(scores={"cheap": np.zeros((3, 2)), "strong": scores})

    for part in ("judge 'strong'", "item 'c'", f"score {value:g}", "rubric 'facts'"):
        assert part.lower() in message.lower()


def test_an_unscored_item_stays_unscored() -> None:
    scores = np.array([[0.0, math.nan], [1.0, 0.5], [math.nan, math.nan]])

    assert np.isnan(_table(scores={"human": scores}).judge("human")).sum() == 3


def test_a_table_keeps_its_own_copy_of_the_scores() -> None:
    scores = np.zeros((3, 2))
    table = _table(scores={"strong": scores})

    scores[0, 0] = 1.0

    assert table.judge("strong")[0, 0] == 0.0


def test_a_table_cannot_be_changed() -> None:
    table = _table()

    with pytest.raises(ValueError, match="read-only"):
        table.judge("strong")[0, 0] = 1.0
    with pytest.raises(TypeError):
        table.scores["strong"] = np.zeros((3, 2))  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        table.name = "other"  # type: ignore[misc]


def test_rows_are_taken_in_the_order_asked_for() -> None:
    part = _table(replica=True).take([2, 0])

    assert part.ids == ("c", "a")
    assert part.strata == ("y", "y")
    assert part.judge("cheap")[:, 0].tolist() == [0.5, 0.1]
    assert part.replica is True


def test_rows_are_taken_by_mask() -> None:
    assert _table().take(np.array([False, True, True])).ids == ("b", "c")


@pytest.mark.parametrize("row", [3, -1])
def test_a_row_that_is_not_there_is_named(row: int) -> None:
    with pytest.raises(TableError, match=rf"rows 0 to 2; row {row} is not one of them"):
        _table().take([0, row])


def test_a_mask_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(TableError, match="needs 3 entries"):
        _table().take(np.array([True, False]))


def test_taking_no_rows_is_refused() -> None:
    with pytest.raises(TableError, match="has no items"):
        _table().take([])
