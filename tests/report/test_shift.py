from __future__ import annotations

import math
from dataclasses import replace

import pytest

from driftjudge.report._embed import render
from driftjudge.report._theme import LIGHT
from driftjudge.report.charts import shift_chart
from driftjudge.report.errors import ReportError
from tests.report.samples import NAN, RUBRICS, sample


def test_the_chart_names_rubrics_directions_and_shifts() -> None:
    text = render(shift_chart(sample("judge").evidence), ".svg").decode()
    for words in (*RUBRICS, "← harsher", "more lenient →", "−0.14", "+0.04"):
        assert words in text, words


def test_only_intervals_that_leave_out_zero_are_filled_in_the_judges_colour() -> None:
    spec = shift_chart(sample("judge").evidence).to_dict()
    rows = next(layer["data"]["values"] for layer in spec["layer"] if layer["mark"]["type"] == "point")
    filled = {row["rubric"] for row in rows if row["fill"] == LIGHT.judge}
    assert filled == {"helpfulness", "correctness"}


def test_zero_stands_in_the_middle() -> None:
    spec = shift_chart(sample("judge").evidence).to_dict()
    low, high = next(
        layer["encoding"]["x"]["scale"]["domain"] for layer in spec["layer"] if layer["mark"]["type"] == "point"
    )
    assert low == -high
    assert math.isclose(high, 1.15 * 0.23)


def test_a_rubric_without_re_scores_says_so() -> None:
    evidence = sample("judge").evidence
    first = replace(evidence.shifts[0], shift=NAN, low=-1.0, high=1.0, rescores=0, since=0)
    text = render(shift_chart(replace(evidence, shifts=(first, *evidence.shifts[1:]))), ".svg").decode()
    assert text.count(">no re-scores yet<") == 1


def test_a_rubric_not_re_scored_since_the_alarm_says_since_when() -> None:
    evidence = sample("judge").evidence
    first = replace(evidence.shifts[0], shift=NAN, low=-1.0, high=1.0, rescores=0, since=1691)
    text = render(shift_chart(replace(evidence, shifts=(first, *evidence.shifts[1:]))), ".svg").decode()
    assert ">no re-scores since item 1,691<" in text


def test_no_re_scores_at_all_can_be_drawn() -> None:
    evidence = sample("none").evidence
    shifts = tuple(replace(shift, shift=NAN, low=-math.inf, high=math.inf) for shift in evidence.shifts)
    text = render(shift_chart(replace(evidence, shifts=shifts)), ".svg").decode()
    assert text.count(">no re-scores yet<") == len(RUBRICS)


def test_without_anchors_the_chart_is_refused_with_what_to_do() -> None:
    with pytest.raises(ReportError, match="give the monitor an AnchorSet"):
        shift_chart(sample("unattributed", anchors=False).evidence)
