from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from driftjudge import AnchorSet
from driftjudge.monitor.anchors import MOST_ANCHORS
from driftjudge.monitor.errors import AnchorError, MonitorError, ScoreError
from tests.monitor.builders import make_anchors, refused, through_json

IDS = ("a", "b", "c")
HUMAN = [[0.5, 1.0], [0.0, 0.25], [1.0, 1.0]]


def anchor_set(**settings: Any) -> AnchorSet:
    return AnchorSet(**{"ids": IDS, "human": HUMAN, "passes": [HUMAN, HUMAN], **settings})


def test_the_freeze_hash_changes_when_anybody_edits_an_item_or_a_label() -> None:
    frozen = anchor_set().freeze_hash
    assert anchor_set().freeze_hash == frozen
    assert anchor_set(ids=("a", "b", "d")).freeze_hash != frozen
    assert anchor_set(human=[[0.5, 1.0], [0.0, 0.25], [1.0, 0.75]]).freeze_hash != frozen


def test_the_freeze_hash_does_not_change_when_the_judge_scores_the_anchors_again() -> None:
    assert anchor_set(passes=[HUMAN]).freeze_hash == anchor_set().freeze_hash


def test_one_table_of_scores_is_one_pass() -> None:
    assert anchor_set(passes=HUMAN).passes.shape == (1, 3, 2)


def test_a_pass_may_leave_an_anchor_unscored() -> None:
    passes = [[[0.5, math.nan], *HUMAN[1:]]]
    assert math.isnan(anchor_set(passes=passes).passes[0, 0, 1])


def test_edits_to_the_callers_arrays_do_not_reach_the_anchors() -> None:
    human, passes = np.array(HUMAN), np.array([HUMAN])
    anchors = anchor_set(human=human, passes=passes)
    human[:], passes[:] = 0.0, 0.0
    assert anchors.human.tolist() == HUMAN
    assert anchors.passes.tolist() == [HUMAN]


def test_an_anchor_set_comes_back_from_json_the_same() -> None:
    anchors = anchor_set(passes=[HUMAN, [[math.nan, 0.1], *HUMAN[1:]]], resolution=0.07)
    back = AnchorSet.from_json(through_json(anchors.to_json()))
    assert (back.ids, back.resolution, back.freeze_hash) == (anchors.ids, 0.07, anchors.freeze_hash)
    assert np.array_equal(back.passes, anchors.passes, equal_nan=True)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"ids": ("a", "b", "a")}, ("'a' stands twice", "one id")),
        ({"ids": ("a",), "human": [[0.5]], "passes": [[0.5]]}, ("1 anchors", "from 2 to")),
        ({"ids": tuple(map(str, range(MOST_ANCHORS + 1)))}, (f"{MOST_ANCHORS + 1} anchors", f"to {MOST_ANCHORS}")),
        ({"ids": (1, 2, 3)}, ("ids are texts", "turn numbers into texts")),
        ({"ids": ("a", "b")}, ("3 rows of human labels for 2 anchors", "one each")),
        ({"passes": [HUMAN, HUMAN[:2]]}, ("differ in size", "every pass")),
        ({"passes": HUMAN[:2]}, ("(1, 2, 2)", "3 anchors x 2 rubrics")),
        ({"passes": []}, ("3 anchors x 2 rubrics",)),
        ({"passes": [[[1.5, 1.0], *HUMAN[1:]]]}, ("1.5", "outside [0, 1]", "map your scale")),
        ({"resolution": 0.0}, ("resolution is 0.0", "(0, 1)")),
        ({"resolution": 1.0}, ("resolution is 1.0", "(0, 1)")),
    ],
    ids=lambda value: str(value)[:50],
)
def test_anchors_that_cannot_be_used_are_refused(settings: dict[str, Any], words: tuple[str, ...]) -> None:
    with refused(AnchorError, *words):
        anchor_set(**settings)


@pytest.mark.parametrize(
    ("human", "words"),
    [
        ([[0.5, math.nan], *HUMAN[1:]], ("human labels", "row 0, column 1 is nan")),
        ([[0.5, 5.0], *HUMAN[1:]], ("human labels", "row 0, column 1 is 5", "map your scale")),
        ([0.5, 1.0, 0.0], ("human labels", "(3,)")),
    ],
    ids=str,
)
def test_human_labels_that_are_not_scores_are_refused(human: Any, words: tuple[str, ...]) -> None:
    with refused(ScoreError, *words):
        anchor_set(human=human)


@pytest.mark.parametrize("human", [[["good", "bad"]] * 3, 0.5, [[0.5, 1.0], [0.5]]], ids=str)
def test_human_labels_that_are_not_a_table_of_numbers_are_refused(human: Any) -> None:
    with pytest.raises(MonitorError, match="human labels"):
        anchor_set(human=human)


def test_an_anchor_set_has_the_length_of_its_ids() -> None:
    assert len(make_anchors(count=17)) == 17


def test_strata_are_one_text_per_anchor_and_part_of_what_is_frozen() -> None:
    plain = AnchorSet(ids=["a", "b"], human=[[0.5], [1.0]], passes=[[0.5], [0.75]])
    placed = AnchorSet(ids=["a", "b"], human=[[0.5], [1.0]], passes=[[0.5], [0.75]], strata=["s", "t"])
    assert placed.strata == ("s", "t")
    assert placed.freeze_hash != plain.freeze_hash
    assert AnchorSet.from_json(placed.to_json()).strata == ("s", "t")
    assert "strata" not in plain.to_json()
    for wrong in (["s"], "st", ["s", ""]):
        with pytest.raises(AnchorError, match="strata"):
            AnchorSet(ids=["a", "b"], human=[[0.5], [1.0]], passes=[[0.5], [0.75]], strata=wrong)
