"""The anchor file and its lock."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from driftjudge.judges.protocol import Item
from driftjudge.project.anchor_file import Anchors, freeze, frozen_anchors, is_frozen, read_anchors, write_anchors
from driftjudge.project.errors import ProjectError
from driftjudge.project.labels import Labelled

RUBRICS, SCALE = ("tone",), (0.0, 4.0)
NONE = Anchors((), RUBRICS, SCALE)


def row(name: str, label: float | None, rater: str = "ann", text: str = "hi") -> Labelled:
    return Labelled(Item(name, {"prompt": text}, "all"), rater, (label,))


def test_several_raters_are_averaged_onto_the_unit_scale() -> None:
    anchors = NONE.with_labels([row("a", 4), row("a", 2, "bob"), row("b", 0), row("b", None, "bob")])
    assert anchors.human().tolist() == [[0.75], [0.0]]


def test_anchors_survive_the_file(tmp_path: Path) -> None:
    path = tmp_path / "anchors.jsonl"
    anchors = NONE.with_labels([row("a", 4), row("a", None, "bob"), row("b", 0, text='quote " and \u2028')])
    write_anchors(path, anchors)
    again = read_anchors(path, RUBRICS, SCALE)
    assert again.freeze_hash == anchors.freeze_hash
    assert np.array_equal(again.human(), anchors.human())


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (row("a", 3), "'ann' has labelled 'a' twice and differently"),
        (row("a", 4, "bob", "other"), "'a' is already here with other texts"),
    ],
)
def test_contradictions_are_refused(more: Labelled, sentence: str) -> None:
    with pytest.raises(ProjectError, match=sentence):
        NONE.with_labels([row("a", 4)]).with_labels([more])


def test_an_anchor_that_nobody_labelled_on_a_rubric_is_named() -> None:
    with pytest.raises(ProjectError, match="'b' has no human label for 'tone'"):
        NONE.with_labels([row("a", 4), row("b", None)]).human()


def test_an_edit_after_freezing_is_noticed_and_named(tmp_path: Path) -> None:
    path = tmp_path / "anchors.jsonl"
    write_anchors(path, NONE.with_labels([row("a", 4), row("b", 0)]))
    assert not is_frozen(path)
    with pytest.raises(ProjectError, match="not frozen yet"):
        frozen_anchors(path, RUBRICS, SCALE)
    made = freeze(path, read_anchors(path, RUBRICS, SCALE))
    assert frozen_anchors(path, RUBRICS, SCALE).freeze_hash == made
    path.write_text(path.read_text(encoding="utf-8").replace('"hi"', '"ho"', 1), encoding="utf-8")
    with pytest.raises(ProjectError, match=r"edited since it was frozen: 'a' \(1 in all\)"):
        frozen_anchors(path, RUBRICS, SCALE)


def test_a_single_anchor_cannot_be_frozen(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="cannot show who drifted"):
        freeze(tmp_path / "anchors.jsonl", NONE.with_labels([row("a", 4)]))


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "anchors.jsonl"
    path.write_text('{"id": "a"}\n', encoding="utf-8")
    with pytest.raises(ProjectError, match="damaged at line 1"):
        read_anchors(path, RUBRICS, SCALE)
