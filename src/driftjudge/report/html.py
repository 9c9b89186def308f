"""The report: one HTML file that opens anywhere, with the verdict first and everything that supports it after."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from importlib import metadata
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from driftjudge.monitor.evidence import Evidence, Trace
from driftjudge.report import _advice, _tables, _words
from driftjudge.report._cells import min_width, shown_strata
from driftjudge.report._embed import ChartHtml, Drawing, asset, chart_html, write
from driftjudge.report.charts import cells_chart, race_chart, shift_chart, spending_chart

if TYPE_CHECKING:
    import altair

REPLICA = (
    "This table is a replica: scores drawn to match published summary figures of a data set, not the data set itself."
)


def write_report(
    path: str | Path,
    *,
    title: str,
    table_name: str,
    replica: bool,
    evidence: Evidence,
    trace: Trace,
    change_at: int | None = None,
    command: str | None = None,
) -> Path:
    """Write the report and return where it is. Every text given here or held by the evidence is shown, never run."""
    page = report_html(
        title=title,
        table_name=table_name,
        replica=replica,
        evidence=evidence,
        trace=trace,
        change_at=change_at,
        command=command,
    )
    return write(Path(path), page.encode())


def report_html(
    *,
    title: str,
    table_name: str,
    replica: bool,
    evidence: Evidence,
    trace: Trace,
    change_at: int | None = None,
    command: str | None = None,
) -> str:
    """The report as text."""
    charts = chart_html(_drawings(evidence, trace, change_at))
    verdict = evidence.verdict
    source = f"{table_name} (replica)" if replica and "replica" not in table_name.lower() else table_name
    return Template(asset("report.html")).substitute(
        policy=escape(charts.policy),
        css=asset("report.css"),
        script=charts.script,
        title=escape(title),
        kind=escape(verdict.kind),
        about=f"{escape(title)} · {escape(source)} · {escape(_words.count(evidence.cost.items, 'item'))}",
        badge=escape(_advice.badge(verdict)),
        verdict=escape(verdict.explain()),
        details=_list("ul", evidence.details) if evidence.details else "",
        promise=f"Error rate in force: {escape(verdict.promise)}.",
        replica=f'<aside class="replica"><p>{escape(REPLICA)}</p></aside>' if replica else "",
        advice=_list("ul", _advice.advice(evidence)),
        race=charts.figures["race"],
        cells=_cells(charts, evidence),
        shifts=_shifts(charts, evidence),
        cost=_cost(charts, evidence),
        assumptions=_list("ul", evidence.assumptions),
        story=_story(evidence),
        reproduction=_reproduction(evidence, command),
    )


def _drawings(evidence: Evidence, trace: Trace, change_at: int | None) -> list[Drawing]:
    """Each chart without a title of its own: on the page the headings and captions say it."""

    def both(draw: Callable[..., altair.LayerChart]) -> tuple[altair.LayerChart, altair.LayerChart]:
        return draw(title=None, width="container", dark=False), draw(title=None, width="container", dark=True)

    drawings = [
        Drawing(
            "race",
            *both(partial(race_chart, trace, evidence, change_at=change_at)),
            summary=_words.race_summary(trace, evidence, change_at),
            caption=" ".join(_words.race_subtitle(trace)),
        ),
        Drawing(
            "cells",
            *both(partial(cells_chart, evidence)),
            summary=_words.cells_summary(evidence),
            caption=" ".join(_words.cells_subtitle(evidence, len(shown_strata(evidence)))),
            min_width=min_width(evidence),
        ),
        Drawing("spending", *both(partial(spending_chart, trace, evidence)), summary=_words.spending_summary(evidence)),
    ]
    if evidence.shifts:
        charts = both(partial(shift_chart, evidence))
        summary, caption = _words.shift_summary(evidence), " ".join(_words.shift_subtitle())
        drawings.append(Drawing("shift", *charts, summary=summary, caption=caption))
    return drawings


def _cells(charts: ChartHtml, evidence: Evidence) -> str:
    table = _tables.cells_table(evidence)
    return f"{charts.figures['cells']}<details><summary>All figures, cell by cell</summary>{table}</details>"


def _shifts(charts: ChartHtml, evidence: Evidence) -> str:
    if not evidence.shifts:
        return (
            "<p>There are no anchors, so nothing is known about the judge, and no alarm can be attributed. "
            "Human-labelled anchors that the strong judge scores again and again would tell.</p>"
        )
    return charts.figures["shift"] + _tables.shifts_table(evidence) + _more_about_the_judge(evidence)


def _more_about_the_judge(evidence: Evidence) -> str:
    """Whether it agrees with the humans as before, and where it moved; nothing while neither is known."""
    parts = []
    if any(part.rescores for part in evidence.agreement):
        parts.append(f"<h3>Does the new judge agree with the humans?</h3>{_tables.agreement_table(evidence)}")
    if evidence.judge_strata:
        parts.append(f"<h3>All strata or one?</h3>{_tables.judge_strata_table(evidence)}")
    return "".join(parts)


def _cost(charts: ChartHtml, evidence: Evidence) -> str:
    cost = evidence.cost
    figures = [
        ("stream items", f"{cost.items:,}"),
        ("strong calls on items", f"{cost.strong_calls:,}"),
        ("strong calls on anchors", f"{cost.anchor_calls:,}"),
        ("of the cost of always asking", f"{100 * cost.fraction:.0f}%"),
    ]
    unscored = cost.cheap_unscored + cost.strong_unscored + cost.anchor_unscored
    told = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in figures)
    missing = (
        f"<p>{_words.count(unscored, 'score')} never came: {cost.cheap_unscored:,} of the cheap judge, "
        f"{cost.strong_unscored:,} of the strong judge on items and {cost.anchor_unscored:,} on anchors.</p>"
        if unscored
        else ""
    )
    return f'<p>{_words.cost_sentence(cost)}</p><dl class="figures">{told}</dl>{missing}{charts.figures["spending"]}'


def _story(evidence: Evidence) -> str:
    if not evidence.story:
        return "<p>No alarm was raised.</p>"
    return _list("ol", [f"Item {event.position:,}: {event.text}" for event in evidence.story])


def _reproduction(evidence: Evidence, command: str | None) -> str:
    run = f"<pre>{escape(command)}</pre>" if command else "<p>Made from Python, not from a command.</p>"
    return (
        f"{run}<p>driftjudge {escape(_version())}. The same table, settings and seed give the same verdict.</p>"
        f"<details><summary>All settings</summary>{_tables.settings_table(evidence.config)}</details>"
    )


def _list(kind: str, texts: tuple[str, ...] | list[str]) -> str:
    return f"<{kind}>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</{kind}>"


def _version() -> str:
    try:
        return metadata.version("driftjudge")
    except metadata.PackageNotFoundError:
        return "(not installed: run from its source folder)"
