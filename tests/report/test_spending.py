from __future__ import annotations

from dataclasses import replace

import pytest

from driftjudge.report._embed import render
from driftjudge.report._theme import LIGHT
from driftjudge.report.charts import spending_chart
from driftjudge.report.errors import ReportError
from tests.report.samples import sample


def test_the_chart_says_how_many_calls_went_where_and_what_asking_always_would_be() -> None:
    shown = sample("judge")
    text = render(spending_chart(shown.trace, shown.evidence), ".svg").decode()
    for words in ("on stream items: 450", "on anchors: 300", "every item would be: 1,500"):
        assert words in text, words


def test_anchor_calls_are_stacked_on_item_calls_in_the_families_colours() -> None:
    shown = sample("judge")
    items, anchors = spending_chart(shown.trace, shown.evidence).to_dict()["layer"][:2]
    assert (items["mark"]["color"], anchors["mark"]["color"]) == (LIGHT.system, LIGHT.judge)
    assert items["data"]["values"][-1] == {"item": 1500, "strong": 450, "total": 750}
    assert anchors["encoding"]["y2"]["field"] == "total"


def test_a_long_stream_is_drawn_with_a_few_hundred_points() -> None:
    shown = sample("none", items=30_000)
    area = spending_chart(shown.trace, shown.evidence).to_dict()["layer"][0]
    assert 50 < len(area["data"]["values"]) <= 320


def test_calls_beyond_one_per_item_still_fit_the_picture() -> None:
    shown = sample("none")
    dear = replace(shown.trace, anchor_calls=shown.trace.position * 3)
    area = spending_chart(dear, shown.evidence).to_dict()["layer"][0]
    assert area["encoding"]["y"]["scale"]["domain"] == [0, 1500 * 3 + 450]


def test_an_empty_trace_is_refused_with_a_sentence() -> None:
    shown = sample("none")
    names = ("position", "system", "judge", "strong_calls", "anchor_calls")
    empty = replace(shown.trace, **{name: getattr(shown.trace, name)[:0] for name in names})
    with pytest.raises(ReportError, match="observe at least one item"):
        spending_chart(empty, shown.evidence)
