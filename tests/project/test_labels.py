"""Human labels from files, the anchor file, its lock, and a look at both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from driftjudge.project.errors import ProjectError
from driftjudge.project.items import ItemShape
from driftjudge.project.labels import read_labels

SHAPE = ItemShape(fields={"prompt": "prompt"}, strata=("all",))
RUBRICS = ("tone", "truth")


def read(path: Path, items: Path | None = None) -> list[tuple[str, str, tuple[float | None, ...]]]:
    found = read_labels(path, SHAPE, RUBRICS, (1.0, 5.0), items)
    return [(row.item.id, row.rater, row.labels) for row in found]


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_labels_come_with_their_texts_from_csv(tmp_path: Path) -> None:
    path = written(tmp_path / "l.csv", "id,prompt,tone,human_truth,rater\na,hi,5,1,ann\na,hi,4,,bob\n")
    assert read(path) == [("a", "ann", (5.0, 1.0)), ("a", "bob", (4.0, None))]


def test_labels_come_from_json_lines_with_texts_in_another_file(tmp_path: Path) -> None:
    items = written(tmp_path / "items.jsonl", '{"id": 1, "prompt": "hi"}\n{"id": 2, "prompt": "ho"}\n')
    path = written(tmp_path / "l.jsonl", json.dumps({"id": "2", "tone": 3, "truth": 3.5}) + "\n")
    assert read(path, items) == [("2", "human", (3.0, 3.5))]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("id,prompt,tone\na,hi,5\n", "no column for the rubric 'truth'; name it 'truth' or 'human_truth'"),
        ("id,prompt,tone,truth\na,hi,6,1\n", "'6' in column 'tone'; a label is a number from 1 to 5"),
        ("id,prompt,tone,truth\na,hi,good,1\n", "'good' in column 'tone'"),
        ("id,tone,truth\na,5,1\n", r"has labels but no texts \(prompt\); give the file of items with --items"),
    ],
)
def test_bad_labels_are_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(ProjectError, match=sentence):
        read(written(tmp_path / "l.csv", text))


def test_labels_for_unknown_ids_are_refused(tmp_path: Path) -> None:
    items = written(tmp_path / "items.jsonl", '{"id": 1, "prompt": "hi"}\n')
    path = written(tmp_path / "l.csv", "id,tone,truth\nx7,5,1\n")
    with pytest.raises(ProjectError, match="labels 'x7', which is no item of"):
        read(path, items)


def test_nan_is_no_label(tmp_path: Path) -> None:
    assert read(written(tmp_path / "l.csv", "id,prompt,tone,truth\na,hi,nan,1\n"))[0][2] == (None, 1.0)
