"""Tables pasted into the re-anchor form: taken as they are meant, or one sentence."""

from __future__ import annotations

import pytest

from driftjudge.service.errors import BadRequestError
from driftjudge.service.page.uploads import calibration_rows, pass_rows

RUBRICS = ("tone", "facts")


def test_calibration_items_may_have_their_columns_in_any_order() -> None:
    rows = calibration_rows('stratum,facts,id,tone,note\ncoding,0.25,"a,1",1,x\nchat,0,b,0.5,\n', RUBRICS)
    assert [(row.id, row.stratum, row.scores) for row in rows] == [
        ("a,1", "coding", (1.0, 0.25)),
        ("b", "chat", (0.5, 0.0)),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "lacks the column 'id'"),
        ("id,stratum,tone\n", "lacks the column 'facts'"),
        ("id,stratum,tone,facts\n", "no lines"),
        ("id,stratum,tone,facts\na,b,1\n", "line 2 .* too short"),
        ("id,stratum,tone,facts\na,b,1,x\n", "'x' is not a number"),
        ("id,stratum,tone,facts\na,b,1,1.5\n", "outside"),
        ("id,stratum,tone,facts\na,b,1,nan\n", "outside"),
        ('id,stratum,tone,facts\n"a"b,b,1,0\n', "not CSV"),
    ],
)
def test_a_bad_table_is_refused_in_one_sentence(text: str, words: str) -> None:
    with pytest.raises(BadRequestError, match=words):
        calibration_rows(text, RUBRICS)


def test_passes_come_in_anchor_order_and_an_empty_cell_is_unscored() -> None:
    text = "anchor,pass,tone,facts\nb,1,0.5,\na,1,1,0\na,2,1,1\nb,2,0,0\n"
    assert pass_rows(text, RUBRICS, ["a", "b"]) == [[[1.0, 0.0], [0.5, None]], [[1.0, 1.0], [0.0, 0.0]]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("anchor,pass,tone,facts\nz,1,1,1\n", "unknown anchor 'z'"),
        ("anchor,pass,tone,facts\na,1,1,1\n", "pass '1' lacks 1 anchors, for example 'b'"),
        ("anchor,pass,tone,facts\na,1,1,1\na,1,1,1\nb,1,1,1\n", "stands twice"),
    ],
)
def test_incomplete_passes_are_refused(text: str, words: str) -> None:
    with pytest.raises(BadRequestError, match=words):
        pass_rows(text, RUBRICS, ["a", "b"])
