from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from driftjudge import Failure
from driftjudge.monitor.errors import ScoreError
from driftjudge.monitor.scores import score_matrix, score_row
from tests.monitor.builders import RUBRICS, refused


def test_a_row_of_scores_keeps_the_rubrics_order() -> None:
    row = score_row((0.25, 1), RUBRICS, "scores")
    assert row is not None
    assert row.tolist() == [0.25, 1.0]


def test_a_failure_has_no_row() -> None:
    assert score_row(Failure("refusal"), RUBRICS, "scores") is None


@pytest.mark.parametrize("edge", [0.0, 1.0])
def test_both_ends_of_the_scale_are_scores(edge: float) -> None:
    row = score_row((edge, edge), RUBRICS, "scores")
    assert row is not None
    assert row.tolist() == [edge, edge]


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ((0.5, 1.01), ("'correctness' is 1.01", "outside [0, 1]", "map your scale")),
        ((-0.5, 0.5), ("'helpfulness' is -0.5", "outside [0, 1]", "map your scale")),
        ((0.5, math.inf), ("'correctness' is inf", "outside [0, 1]")),
        ((math.nan, 0.5), ("'helpfulness' is NaN", "pass a Failure")),
        ((0.5,), ("1 scores for the 2 rubrics helpfulness, correctness", "give one each")),
        ((0.5, 0.5, 0.5), ("3 scores for the 2 rubrics", "give one each")),
        (((0.5, 0.5),), ("rubrics", "give one each")),
        (0.5, ("rubrics", "give one each")),
        (("good", "bad"), ("numbers in rubric order", "('good', 'bad')")),
        (None, ("scores",)),
    ],
    ids=str,
)
def test_what_is_not_one_score_per_rubric_is_refused_with_its_source_and_value(
    scores: Any, words: tuple[str, ...]
) -> None:
    with refused(ScoreError, "strong scores of item 'x'", *words):
        score_row(scores, RUBRICS, "strong scores of item 'x'")


@pytest.mark.parametrize("reason", ["transport", "refusal", "unparsable", "out_of_range"])
def test_a_failure_knows_its_reason(reason: Any) -> None:
    assert Failure(reason, "HTTP 529").reason == reason


def test_a_failure_for_an_unknown_reason_is_refused() -> None:
    with refused(ScoreError, "'timeout'", "'transport'"):
        Failure("timeout")  # type: ignore[arg-type]


def test_a_matrix_may_hold_unscored_entries_only_where_that_is_said() -> None:
    table = [[0.5, math.nan], [1.0, 0.0]]
    assert math.isnan(score_matrix(table, 2, "table", unscored=True)[0, 1])
    with refused(ScoreError, "table", "row 0, column 1 is nan"):
        score_matrix(table, 2, "table")


def test_a_matrix_is_a_copy_that_later_edits_do_not_reach() -> None:
    table = np.full((3, 2), 0.5)
    checked = score_matrix(table, 2, "table")
    table[:] = 0.0
    assert (checked == 0.5).all()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[0.5, 2.0]], ("row 0, column 1 is 2", "map your scale")),
        ([[0.5, 0.5], [0.5, -1.0]], ("row 1, column 1 is -1", "map your scale")),
        ([[0.5]], ("at least one row of 2 scores", "(1, 1)")),
        ([0.5, 0.5], ("at least one row of 2 scores", "(2,)")),
        ([], ("at least one row of 2 scores", "(0,)")),
        (np.empty((0, 2)), ("at least one row", "(0, 2)")),
        ([[0.5, 0.5], [0.5]], ("table of numbers", "one column per rubric")),
        ([["a", "b"]], ("table of numbers",)),
    ],
    ids=str,
)
def test_what_is_not_a_table_of_scores_is_refused(table: Any, words: tuple[str, ...]) -> None:
    with refused(ScoreError, "human labels", *words):
        score_matrix(table, 2, "human labels", unscored=True)
