from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.evidence import Milestone
from driftjudge.report import ReportError, write_report
from driftjudge.report.html import report_html
from tests.report.pages import Page, within
from tests.report.samples import RUBRICS, Sample, crowded, sample

HOSTILE = "</script><b onload=x>'\"&$title"
SECTIONS = [
    "What to do now",
    "The race",
    "Evidence cell by cell",
    "How the judge moved on the anchors",
    "What it cost",
    "What was assumed",
    "What happened when",
    "How to get this report again",
]


def report(shown: Sample, **settings: Any) -> str:
    usual: dict[str, Any] = {
        "title": "Monthly check",
        "table_name": "scores.parquet",
        "replica": False,
        "evidence": shown.evidence,
        "trace": shown.trace,
        "change_at": shown.change_at,
        "command": "driftjudge replay scores.parquet --seed 7",
    }
    return report_html(**usual | settings)


@pytest.fixture(scope="module")
def source() -> str:
    return report(sample("judge"))


@pytest.fixture(scope="module")
def page(source: str) -> Page:
    return Page(source)


def test_the_verdict_comes_first_then_the_sections_in_order(source: str) -> None:
    sentence = "The judge drifted by item 735"
    marks = [source.index(sentence), *(source.index(f"<h2>{name}</h2>") for name in SECTIONS)]
    assert marks == sorted(marks)
    assert marks[0] < source.index("<figure")


def test_each_chart_stands_in_its_section(source: str) -> None:
    places = [source.index(f'id="chart-{name}"') for name in ("race", "cells", "shift", "spending")]
    heads = [source.index(f"<h2>{SECTIONS[number]}</h2>") for number in (1, 2, 3, 4, 5)]
    assert all(heads[at] < places[at] < heads[at + 1] for at in range(4))


def test_nothing_on_the_page_points_to_the_network(page: Page) -> None:
    for tag, attributes in page.tags:
        for name, value in attributes.items():
            assert not re.match(r"\s*(https?:)?//", value), (tag, name, value[:80])
        assert tag not in {"link", "iframe", "object", "base", "form"}
    assert not any("url(" in style or "@import" in style for style in page.styles)
    assert all(attributes.keys() <= {"type", "class"} for attributes in page.all("script"))
    assert list(within(page.specifications(), "url")) == []


def test_the_browser_is_told_to_run_these_scripts_and_to_ask_the_network_for_nothing(page: Page) -> None:
    policy = next(tag["content"] for tag in page.all("meta") if "http-equiv" in tag)
    assert "default-src 'none'" in policy
    assert "http" not in policy
    assert "unsafe-eval" not in policy
    run = [
        text
        for tag, text in zip(page.all("script"), page.scripts, strict=True)
        if tag.get("type") != "application/json"
    ]
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in run]
    assert re.findall(r"'sha256-([^']+)'", policy) == digests


def test_tags_are_balanced_and_headings_in_order(page: Page) -> None:
    assert page.open == []
    headings = [tag for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert headings == ["h1"] + ["h2"] * len(SECTIONS)


def test_the_page_speaks_to_screen_readers(page: Page) -> None:
    assert page.all("html") == [{"lang": "en"}]
    summaries = [image["alt"] for image in page.all("img")]
    assert len(summaries) == 4
    assert all(len(summary) > 40 for summary in summaries)
    assert [live["aria-label"] for live in page.all("div") if live.get("role") == "img"] == summaries
    assert {head.get("scope") for head in page.all("th")} == {"col", "row"}
    assert "the judge family alarms at item" in summaries[0]


def test_hostile_text_is_shown_and_never_run() -> None:
    config = MonitorConfig(rubrics=(HOSTILE, "tone"), strata=(f"{HOSTILE} 1", f"{HOSTILE} 2"), preset="paper")
    shown = sample("judge", config=config)
    evidence = replace(
        shown.evidence,
        verdict=replace(shown.evidence.verdict, promise=HOSTILE),
        story=(Milestone(3, "system_alarm", HOSTILE),),
        assumptions=(HOSTILE,),
    )
    page = Page(report(replace(shown, evidence=evidence), title=HOSTILE, table_name=HOSTILE, command=HOSTILE))
    assert page.open == []
    assert page.all("b") == []
    assert len(page.scripts) == 4 + 2
    assert not any("onload" in attributes for _, attributes in page.tags)
    # title (2), table, promise, advice, cells (6), shift, settings (3), story, assumption, command
    assert page.text.count(HOSTILE) >= 16
    assert len(page.specifications()) == 8
    for image in page.all("img"):
        assert "<b onload" not in base64.b64decode(image["src"].partition(",")[2]).decode()


@pytest.mark.parametrize(
    ("kind", "badge", "advice"),
    [
        ("none", "No drift shown · still watching", "keep the monitor running"),
        ("system", "The system drifted · final", "Start with helpfulness in coding and verbosity in creative."),
        ("judge", "The judge drifted · final", "Do not roll back the system"),
        ("unattributed", "Alarm, cause unknown · final", "Do not blame the system yet"),
    ],
)
def test_every_verdict_is_told_in_words_and_says_what_to_do(kind: str, badge: str, advice: str) -> None:
    shown = sample(kind, anchors=kind != "unattributed")
    source = report(shown)
    assert f'<header class="verdict {kind}">' in source
    text = Page(source).text
    assert shown.evidence.verdict.explain() in text
    assert badge in text
    assert advice in text


def test_a_pending_system_alarm_says_wait() -> None:
    text = Page(report(sample("system", status="pending"))).text
    assert "System alarm · not final yet" in text
    assert "Wait before you roll anything back" in text
    assert "acknowledge" not in text


def test_without_anchors_the_report_says_that_nothing_is_known_about_the_judge() -> None:
    page = Page(report(sample("unattributed", anchors=False)))
    assert "no alarm can be attributed" in page.text
    assert len(page.all("figure")) == 3


def test_a_replica_is_called_one_and_real_data_is_not(source: str) -> None:
    text = Page(report(sample("none"), replica=True, table_name="helpsteer2")).text
    assert "helpsteer2 (replica)" in text
    assert "This table is a replica" in text
    assert "(replica)" not in Page(report(sample("none"), replica=True, table_name="HelpSteer2 replica")).text
    assert "replica" not in Page(source).text


def test_cells_shifts_costs_and_settings_are_there_in_figures(page: Page) -> None:
    for words in ("−0.20 to −0.08", "62%", "3 scores never came", "bonferroni", "alpha_system"):
        assert words in page.text, words
    rows = [tag for tag, attributes in page.tags if tag == "th" and attributes.get("scope") == "row"]
    assert len(rows) >= 30 + len(RUBRICS)


def test_cells_are_listed_by_evidence_with_those_not_watched_last() -> None:
    text = Page(report(sample("system", idle=("math",)))).text
    table = text[text.index("Strongest evidence first") : text.index("How the judge moved")]
    assert table.count("not watched") == len(RUBRICS)
    first = table.index("not watched")
    assert table.index("dropped") < first
    assert "dropped" not in table[first:]
    assert set(re.findall("coding|creative|summaries|advice|other", table[first:])) == set()


def test_the_report_can_be_made_again_from_what_it_says(page: Page) -> None:
    assert "driftjudge replay scores.parquet --seed 7" in page.text
    assert re.search(r"driftjudge .+\. The same table", page.text)


def test_a_report_made_from_python_needs_no_command() -> None:
    assert "Made from Python" in Page(report(sample("none"), command=None)).text


def test_very_many_cells_are_cut_to_the_strongest_and_the_report_says_so() -> None:
    shown = crowded()
    cells = tuple(replace(cell, stratum=f"{cell.stratum}{copy}") for copy in range(2) for cell in shown.evidence.cells)
    page = Page(report(replace(shown, evidence=replace(shown.evidence, cells=cells))))
    assert "The 500 strongest of 840 cells." in page.text
    assert len([tag for tag, attributes in page.tags if attributes.get("scope") == "row"]) < 560


def test_write_report_writes_the_page_and_returns_its_path(tmp_path: Path) -> None:
    shown = sample("none")
    path = write_report(
        tmp_path / "out.html",
        title="t",
        table_name="x",
        replica=False,
        evidence=shown.evidence,
        trace=shown.trace,
        change_at=None,
        command=None,
    )
    assert path == tmp_path / "out.html"
    assert path.read_text(encoding="utf-8") == report(shown, title="t", table_name="x", change_at=None, command=None)


def test_a_path_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    shown = sample("none")
    with pytest.raises(ReportError, match="choose a file in a folder you can write to"):
        write_report(tmp_path, title="t", table_name="x", replica=False, evidence=shown.evidence, trace=shown.trace)
