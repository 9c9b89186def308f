"""Detectors side by side: how often each cries wolf, and what it finds, so that neither is read without the other."""

from __future__ import annotations

from typing import Any

from driftjudge.report._grammar import data, load
from driftjudge.report._theme import LIGHT
from driftjudge.report.figures import Records

TRUST_COLOURS = {
    "at both lengths": LIGHT.judge,
    "only at the paper's length": "#b08900",
    "at neither": LIGHT.system,
}
"""By whether a method keeps its false alarms."""

PANEL_WIDTH = 140


def false_alarms_and_detection(records: Records, *, alpha: float, longer: int, title: str, subtitle: str) -> Any:
    """One line per method: false-alarm panel first, then one panel of detection rates per change.

    Records hold `method`, `trust` (a key of TRUST_COLOURS), `panel`, `rate`; in the panel `false alarms` also `later`
    (the rate on streams `longer` times as long), in the others `latency` or null.
    """
    alt = load("altair")
    methods = list(dict.fromkeys(str(record["method"]) for record in records))
    panels = [name for name in dict.fromkeys(str(record["panel"]) for record in records) if name != "false alarms"]
    height = 26 * len(methods)
    quiet = [record for record in records if record["panel"] == "false alarms"]
    charts = [_false_alarms(quiet, methods, alpha, longer).properties(width=230, height=height)]
    for panel in panels:
        chosen = [record for record in records if record["panel"] == panel]
        charts.append(_detection(chosen, methods, panel).properties(width=PANEL_WIDTH, height=height))
    below = [
        subtitle,
        f"Left: share of drift-free streams with an alarm; filled at the paper's length, hollow at {longer} times it, "
        f"dashed line {alpha:g}.",
        "Right: share of streams whose first alarm came after the change, with its median latency in items.",
    ]
    chart = alt.hconcat(*charts, spacing=14).resolve_scale(color="shared", y="shared")
    return chart.properties(title=alt.TitleParams(title, subtitle=below)).configure(**LIGHT.config())


def _y(methods: list[str], *, labelled: bool) -> Any:
    alt = load("altair")
    axis = (
        alt.Axis(title=None, labelLimit=200, labelPadding=10, ticks=False, domain=False, grid=True)
        if labelled
        else None
    )
    return alt.Y("method:N", sort=methods, axis=axis)


def _colour() -> Any:
    alt = load("altair")
    kinds = list(TRUST_COLOURS)
    return alt.Color(
        "trust:N",
        sort=kinds,
        scale=alt.Scale(domain=kinds, range=list(TRUST_COLOURS.values())),
        legend=alt.Legend(
            title="keeps its false alarms to the level",
            orient="bottom",
            symbolType="square",
            symbolOpacity=1,
            labelLimit=300,
            titleLimit=300,
        ),
    )


def _rates(title: str, ticks: list[float]) -> dict[str, Any]:
    alt = load("altair")
    axis = alt.Axis(title=title, format=".1f", values=ticks, labelFlush=False)
    return {"scale": alt.Scale(domain=[0, 1], nice=False), "axis": axis}


def _false_alarms(records: Records, methods: list[str], alpha: float, longer: int) -> Any:
    alt = load("altair")
    base = alt.Chart(data(records)).encode(y=_y(methods, labelled=True), color=_colour())
    x = _rates("false alarms", [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    line = base.mark_rule(strokeWidth=2).encode(x=alt.X("rate:Q", **x), x2="later:Q")
    hollow = base.mark_point(size=70, filled=False, fill="white", strokeWidth=2, opacity=1).encode(
        x=alt.X("later:Q", **x), tooltip=[alt.Tooltip("later:Q", title=f"{longer} times as long")]
    )
    filled = base.mark_point(size=80, filled=True, opacity=1).encode(x=alt.X("rate:Q", **x))
    limit = (
        alt.Chart(data([{"alpha": alpha}]))
        .mark_rule(strokeDash=[4, 3], color=LIGHT.ink)
        .encode(x=alt.X("alpha:Q", **x))
    )
    return alt.layer(limit, line, hollow, filled)


def _detection(records: Records, methods: list[str], panel: str) -> Any:
    alt = load("altair")
    base = alt.Chart(data(records)).encode(y=_y(methods, labelled=False))
    bars = base.mark_bar(height=13).encode(
        x=alt.X("rate:Q", **_rates(f"detects {panel}", [0.0, 0.5, 1.0])), color=_colour()
    )
    # Text of its own: a format would print a missing latency as "null".
    texts = (
        base.mark_text(align="left", fontSize=10, dx=3, color=LIGHT.ink)
        .transform_calculate(shown="datum.latency === null ? '\u2013' : format(datum.latency, '.0f')")
        .encode(x=alt.value(PANEL_WIDTH + 2), text="shown:N")
    )
    return alt.layer(bars, texts)
