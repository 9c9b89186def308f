"""Rows of files as items."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftjudge.project.items import ItemShape, RowError, read_items

SHAPE = ItemShape(fields={"prompt": "prompt"}, strata=("x", "y"), stratum="topic", longest=20)


def test_a_row_becomes_an_item() -> None:
    item = SHAPE.item({"id": 3, "prompt": "hello", "topic": "y", "more": None}, "row 1")
    assert (item.id, dict(item.fields), item.stratum) == ("3", {"prompt": "hello"}, "y")


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"prompt": "p", "topic": "x"}, "row 1 has nothing in column 'id'"),
        ({"id": " ", "prompt": "p", "topic": "x"}, "empty id"),
        ({"id": "i" * 300, "prompt": "p", "topic": "x"}, "an id of 300 characters"),
        ({"id": "1", "topic": "x"}, "nothing in column 'prompt'"),
        ({"id": "1", "prompt": {"a": 1}, "topic": "x"}, "dict in column 'prompt'; give a text"),
        ({"id": "1", "prompt": "p" * 21, "topic": "x"}, "item '1' has 21 characters, more than the 20 allowed"),
        ({"id": "1", "prompt": "p", "topic": "z"}, "unknown stratum 'z'"),
        ({"id": "1", "prompt": "p"}, "nothing in column 'topic'"),
    ],
)
def test_a_row_no_judge_could_take_is_one_sentence(row: dict[str, object], sentence: str) -> None:
    with pytest.raises(RowError, match=sentence):
        SHAPE.item(row, "row 1")


def test_an_id_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text("id,prompt,topic\n1,p,x\n1,q,y\n", encoding="utf-8")
    with pytest.raises(RowError, match="'1' 2 times"):
        read_items(path, SHAPE)
