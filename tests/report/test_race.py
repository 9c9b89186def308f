from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import vl_convert

from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.evidence import Milestone
from driftjudge.report._embed import render, vegalite_version
from driftjudge.report.charts import race_chart
from driftjudge.report.errors import ReportError
from tests.report.samples import NAN, RUBRICS, STRATA, Sample, sample


def svg(shown: Sample, **settings: Any) -> str:
    return render(race_chart(shown.trace, shown.evidence, change_at=shown.change_at, **settings), ".svg").decode()


def lines(shown: Sample) -> list[list[dict[str, Any]]]:
    """The data of both families' lines, judge first."""
    spec = race_chart(shown.trace, shown.evidence, change_at=shown.change_at).to_dict()
    return [layer["data"]["values"] for layer in spec["layer"] if layer["mark"]["type"] == "line"]


def test_the_race_names_change_alarms_guard_thresholds_and_both_families() -> None:
    shown = sample("judge")
    verdict = shown.evidence.verdict
    text = svg(shown)
    for words in (
        "change, item 300",
        f"judge alarm, item {verdict.judge_alarm_at:,}",
        f"system alarm, item {verdict.system_alarm_at:,}",
        ">guard<",
        "system alarms above 5.7",
        "judge alarms above 4.6",
        ">system<",
        ">judge ↑",
        "natural log",
    ):
        assert words in text, words


def test_a_quiet_race_shows_no_alarm_no_guard_and_no_change() -> None:
    text = svg(sample("none"))
    for words in ("alarm, item", ">guard<", "change, item"):
        assert words not in text


def test_without_anchors_only_the_system_races_and_the_picture_says_why() -> None:
    shown = sample("unattributed", anchors=False)
    text = svg(shown)
    assert len(lines(shown)) == 1
    assert "There are no anchors" in text
    assert "judge alarms" not in text


def test_thresholds_that_coincide_share_one_label() -> None:
    text = svg(sample("judge", config=MonitorConfig(rubrics=RUBRICS, strata=STRATA, preset="robust", ladder=False)))
    assert text.count("both alarm above 2.5") == 2  # the label and its halo
    assert "judge alarms" not in text


def test_evidence_that_runs_away_is_cut_so_that_the_thresholds_stay_in_the_picture() -> None:
    shown = sample("judge")
    runaway = replace(shown.trace, judge=np.where(shown.trace.position > 700, 400.0, shown.trace.judge))
    drawn = max(row["evidence"] for line in lines(replace(shown, trace=runaway)) for row in line)
    assert shown.trace.system_threshold < drawn <= 1.3 * shown.trace.system_threshold
    assert "judge ↑400" in svg(replace(shown, trace=runaway))


def test_a_family_that_starts_far_below_zero_is_in_the_picture_from_its_start() -> None:
    shown = sample("none")
    low = replace(shown.trace, system=shown.trace.system - 6.0)
    system = lines(replace(shown, trace=low))[1]
    assert system[0]["item"] == 1
    assert system[0]["evidence"] == pytest.approx(low.system[0])


def test_evidence_of_minus_infinity_can_be_drawn() -> None:
    shown = sample("none")
    gone = replace(shown.trace, system=np.where(shown.trace.position > 700, -math.inf, shown.trace.system))
    system = lines(replace(shown, trace=gone))[1]
    assert all(math.isfinite(row["evidence"]) for row in system)
    assert max(row["item"] for row in system) <= 701


def test_a_long_trace_is_drawn_with_a_few_hundred_points_that_keep_the_alarm() -> None:
    shown = sample("judge", items=60_000)
    judge, system = lines(shown)
    assert 100 < len(judge) <= 320
    assert 100 < len(system) <= 320
    assert shown.evidence.verdict.judge_alarm_at in {row["item"] for row in judge}


def test_a_new_epoch_breaks_the_lines_and_is_named() -> None:
    shown = sample("system")
    story = (*shown.evidence.story, Milestone(1400, "acknowledged", "the alarm was acknowledged"))
    later = replace(shown, evidence=replace(shown.evidence, story=story))
    assert "new epoch" in svg(later)
    ends = {row["piece"]: row["item"] for row in lines(later)[1]}
    assert 1400 in ends.values()
    assert len({row["piece"] for row in lines(later)[1]}) == len({row["piece"] for row in lines(shown)[1]}) + 1


def test_alarms_of_many_epochs_are_all_marked_but_only_labelled_where_there_is_room() -> None:
    shown = sample("system")
    early = tuple(Milestone(at, "system_alarm", "alarm") for at in (400, 410, 420))
    spec = race_chart(shown.trace, replace(shown.evidence, story=(*early, *shown.evidence.story))).to_dict()
    marks = [layer for layer in spec["layer"] if layer["mark"].get("shape") == "circle"]
    assert len(marks[0]["data"]["values"]) == 4
    said = [layer["mark"]["text"] for layer in spec["layer"] if layer["mark"].get("fontWeight") == "bold"]
    assert "420" in said
    assert "410" not in said


def test_the_figures_under_the_pointer_are_found_where_vega_keeps_them() -> None:
    shown = sample("judge")
    spec = race_chart(shown.trace, shown.evidence).to_dict()
    compiled = vl_convert.vegalite_to_vega(spec, vl_version=vegalite_version())
    nearest = next(mark for mark in compiled["marks"] if mark["name"] == "hover_rules_voronoi")
    told = nearest["encode"]["update"]["tooltip"]["signal"]
    assert all(f'datum.datum["{name}"]' in told for name in ("item", "judge", "system"))
    assert 'datum["' not in told.replace('datum.datum["', "")


def test_a_change_that_lies_ahead_is_not_drawn() -> None:
    shown = sample("none")
    assert "change, item" not in svg(replace(shown, change_at=10_000))


def test_the_first_item_alone_can_be_drawn() -> None:
    shown = sample("none")
    first = replace(shown.trace, **{name: getattr(shown.trace, name)[:1] for name in ("position", "system", "judge")})
    first = replace(first, strong_calls=shown.trace.strong_calls[:1], anchor_calls=shown.trace.anchor_calls[:1])
    assert "evidence" in svg(replace(shown, trace=first))


def test_a_judge_whose_first_anchor_comes_late_is_drawn_from_there() -> None:
    shown = sample("none")
    late = replace(shown.trace, judge=np.where(shown.trace.position < 500, NAN, shown.trace.judge))
    judge = lines(replace(shown, trace=late))[0]
    assert min(row["item"] for row in judge) == 500


def test_an_empty_trace_is_refused_with_a_sentence() -> None:
    shown = sample("none")
    names = ("position", "system", "judge", "strong_calls", "anchor_calls")
    empty = replace(shown.trace, **{name: getattr(shown.trace, name)[:0] for name in names})
    with pytest.raises(ReportError, match="observe at least one item"):
        race_chart(empty, shown.evidence)


def test_drawing_twice_gives_the_same_specification() -> None:
    shown = sample("judge")
    one, two = (race_chart(shown.trace, shown.evidence, change_at=300).to_dict() for _ in range(2))
    assert one == two
