from __future__ import annotations

from typing import Any

import pytest

from driftjudge import Verdict
from tests.monitor.builders import is_one_sentence, make_config

CELL = (("helpfulness", "coding"),)
MANY = tuple((f"rubric {r}", f"stratum {t}") for r in range(6) for t in range(6))


def verdict(kind: Any, status: Any = "final", **fields: Any) -> Verdict:
    defaults: dict[str, Any] = {
        "position": 120,
        "epoch": 1,
        "system_alarm_at": 110 if kind != "none" else None,
        "judge_alarm_at": 120 if kind == "judge" else None,
        "cells": CELL if kind != "none" else (),
        "rubrics": (("correctness", "harsher"),) if kind == "judge" else (),
        "promise": make_config().promise,
    }
    return Verdict(kind=kind, status=status, **{**defaults, **fields})


EVERY = [
    ("none", "watching"),
    ("system", "pending"),
    ("system", "final"),
    ("judge", "pending"),
    ("judge", "final"),
    ("unattributed", "final"),
]


@pytest.mark.parametrize(("kind", "status"), EVERY)
def test_every_verdict_is_explained_in_one_sentence(kind: str, status: str) -> None:
    text = verdict(kind, status).explain()
    assert is_one_sentence(text)
    assert text.endswith(".")


def test_every_verdict_has_a_sentence_of_its_own() -> None:
    assert len({verdict(kind, status).explain() for kind, status in EVERY}) == len(EVERY)


@pytest.mark.parametrize(("kind", "status"), EVERY)
def test_a_verdict_on_many_cells_with_ordinary_names_stays_below_300_letters(kind: str, status: str) -> None:
    cells = tuple((r, t) for r in ("helpfulness", "correctness", "coherence") for t in ("coding", "creative", "math"))
    rubrics = tuple((r, "harsher") for r in ("helpfulness", "correctness", "coherence", "complexity", "verbosity"))
    assert len(verdict(kind, status, cells=cells, rubrics=rubrics).explain()) <= 300


@pytest.mark.parametrize(("kind", "status"), [("system", "pending"), ("system", "final"), ("unattributed", "final")])
def test_a_drop_is_explained_with_its_cells_and_its_position(kind: str, status: str) -> None:
    text = verdict(kind, status, cells=(*CELL, ("tone", "math"))).explain()
    assert "helpfulness in coding and tone in math" in text
    assert "item 110" in text


def test_more_than_three_cells_are_counted_and_not_listed() -> None:
    text = verdict("system", cells=MANY).explain()
    assert "rubric 0 in stratum 2" in text
    assert "rubric 0 in stratum 3" not in text
    assert "and 33 more" in text


def test_a_pending_drop_asks_for_patience() -> None:
    text = verdict("system", "pending").explain()
    assert "wait" in text
    assert "Your system" not in text


def test_an_unattributed_drop_blames_nobody_and_asks_for_anchors() -> None:
    text = verdict("unattributed").explain()
    assert "without anchors" in text
    assert "Your system got worse" not in text


@pytest.mark.parametrize(
    ("rubrics", "phrase"),
    [
        ((("tone", "harsher"),), "it scores tone harsher"),
        ((("tone", "more lenient"),), "it scores tone more lenient"),
        ((("tone", "different"),), "it scores tone differently"),
        ((("tone", "harsher"), ("style", "harsher")), "it scores tone and style harsher"),
        ((("*", "different"),), "departs from its usual scores"),
        ((), "departs from its usual scores"),
    ],
)
def test_a_judge_that_moved_is_explained_with_its_rubrics_and_directions(
    rubrics: tuple[tuple[str, str], ...], phrase: str
) -> None:
    text = verdict("judge", rubrics=rubrics).explain()
    assert phrase in text
    assert "item 120" in text
    assert "re-anchor" in text
