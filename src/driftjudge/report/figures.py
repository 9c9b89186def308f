"""Plain figures for experiments: shares, lines, points and grids in the house's colours, fit to print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from driftjudge.report._grammar import data, load
from driftjudge.report._theme import LIGHT

VERDICT_COLOURS = {"none": "#b9c0c8", "system": LIGHT.system, "judge": LIGHT.judge}
SERIES_COLOURS = ("#0067a6", "#c24e00", "#5b8c3e", "#8a4f9e", "#7a6a53", "#20242a", "#b08900", "#3aa6a0", "#d16ba5")
"""Told apart by every common kind of colour vision; shapes and dashes double the colour where lines are many."""

HOUSE_COLOURS = {"system": LIGHT.system, "judge": LIGHT.judge, "alarm": LIGHT.muted}
"""Series that mean the same in every picture."""
SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-left",
    "triangle-right",
    "stroke",
)
"""Double the colours where series are points."""

Records = Sequence[Mapping[str, Any]]


def stacked_verdicts(records: Records, *, facet: str, title: str, subtitle: str) -> Any:
    """Verdict shares per truth: records with `truth`, `verdict`, `streams` and the facet's field."""
    alt = load("altair")
    kinds = list(VERDICT_COLOURS)
    chart = (
        alt.Chart(data(records))
        .mark_bar()
        .encode(
            y=alt.Y("truth:N", sort=["none", "system", "judge", "both"], title="what really happened"),
            x=alt.X("sum(streams):Q", stack="normalize", title="share of streams", axis=alt.Axis(format="%")),
            color=alt.Color(
                "verdict:N",
                scale=alt.Scale(domain=kinds, range=list(VERDICT_COLOURS.values())),
                legend=alt.Legend(title="verdict", orient="bottom"),
            ),
            order=alt.Order("order:Q"),
        )
        .transform_calculate(order="indexof(['none','system','judge'], datum.verdict)")
        .properties(width=280, height=130)
        .facet(column=alt.Column(f"{facet}:N", title=None, sort=None))
    )
    return _titled(chart, title, subtitle)


def lines(
    records: Records,
    *,
    x: str,
    y: str,
    colour: str,
    title: str,
    subtitle: str,
    facet: str | None = None,
    log_x: bool = False,
    log_y: bool = False,
    marks: bool = True,
    x_title: str | None = None,
    y_title: str | None = None,
) -> Any:
    """One line with points per series; the legend keeps the order in which series first appear."""
    alt = load("altair")
    series = list(dict.fromkeys(str(record[colour]) for record in records))
    chart = (
        alt.Chart(data(records))
        .mark_line(point=alt.OverlayMarkDef(size=45) if marks else False, strokeWidth=2)
        .encode(
            x=alt.X(f"{x}:Q", title=x_title or x, scale=_scale(log_x)),
            y=alt.Y(f"{y}:Q", title=y_title or y, scale=_scale(log_y)),
            color=_series(colour, series),
            strokeDash=alt.StrokeDash(f"{colour}:N", sort=series, legend=None),
        )
        .properties(width=360, height=240)
    )
    return _titled(_faceted(chart, facet), title, subtitle)


def points(
    records: Records,
    *,
    x: str,
    y: str,
    colour: str,
    label: str,
    title: str,
    subtitle: str,
    facet: str | None = None,
    log_x: bool = False,
    x_title: str | None = None,
    y_title: str | None = None,
) -> Any:
    """Named points, coloured and shaped by series."""
    alt = load("altair")
    series = list(dict.fromkeys(str(record[colour]) for record in records))
    base = alt.Chart(data(records)).encode(
        x=alt.X(f"{x}:Q", title=x_title or x, scale=_scale(log_x)),
        y=alt.Y(f"{y}:Q", title=y_title or y),
    )
    marks = base.mark_point(filled=True, size=80).encode(
        color=_series(colour, series), shape=alt.Shape(f"{colour}:N", sort=series, legend=None)
    )
    names = base.mark_text(align="left", dx=7, dy=-6, fontSize=10, color=LIGHT.muted).encode(text=f"{label}:N")
    chart = alt.layer(marks, names).properties(width=420, height=280)
    return _titled(_faceted(chart, facet), title, subtitle)


def cost_and_power(records: Records, *, colour: str, facet: str, title: str, subtitle: str) -> Any:
    """Detection power against cost, on a log axis: records with `cost`, `power`, the series and the panel.

    Points of a series are joined in the order of their costs, unless they all cost the same. Panels keep the order in
    which they first appear, two in a row.
    """
    alt = load("altair")
    series = list(dict.fromkeys(str(record[colour]) for record in records))
    panels = list(dict.fromkeys(str(record[facet]) for record in records))
    costs = [float(record["cost"]) for record in records]
    ticks = [0.05, 0.1, 0.2, 0.3, 0.5, 1.0]
    base = alt.Chart(data(records)).encode(
        x=alt.X(
            "cost:Q",
            title="cost fraction (full evaluation = 1)",
            scale=alt.Scale(type="log", nice=False, domain=[0.9 * min(costs), 1.15 * max(costs)]),
            axis=alt.Axis(values=ticks, format="~g"),
        ),
        y=alt.Y("power:Q", title="detection power", scale=alt.Scale(domain=[0, 1])),
        color=_series(colour, series),
    )
    spread = {name: {record["cost"] for record in records if record[colour] == name} for name in series}
    joined = [name for name in series if len(spread[name]) > 1]
    tracks = base.transform_filter(alt.FieldOneOfPredicate(field=colour, oneOf=joined)).mark_line(strokeWidth=2)
    shape = alt.Shape(f"{colour}:N", sort=series, scale=alt.Scale(domain=series, range=SHAPES[: len(series)]))
    marks = base.mark_point(filled=True, size=70, opacity=1).encode(shape=shape)
    chart = alt.layer(tracks, marks).properties(width=330, height=230)
    placed = chart.facet(facet=alt.Facet(f"{facet}:N", title=None, sort=panels), columns=2)
    return _titled(placed, title, subtitle)


def grid(
    records: Records,
    *,
    x: str,
    y: str,
    value: str,
    title: str,
    subtitle: str,
    facet: str | None = None,
    number: str = ".2f",
) -> Any:
    """A heat map with the figure in every cell; a null is left white.

    Signed figures (a `number` format with a plus) are coloured to either side of 0, others from 0 to 1.
    """
    alt = load("altair")
    base = alt.Chart(data(records)).encode(
        x=alt.X(f"{x}:N", sort=None, title=x, axis=alt.Axis(labelAngle=0)), y=alt.Y(f"{y}:N", sort=None, title=y)
    )
    if number.startswith("+"):
        scale = alt.Scale(domainMid=0, range=["#5fa8d8", "#ffffff", LIGHT.strong])
    else:
        scale = alt.Scale(domain=[0, 1], range=[LIGHT.pale, LIGHT.strong])
    tiles = base.mark_rect().encode(color=alt.Color(f"{value}:Q", scale=scale, legend=None))
    texts = (
        base.transform_filter(f"isValid(datum['{value}'])")
        .mark_text(fontSize=11)
        .encode(text=alt.Text(f"{value}:Q", format=number))
    )
    wide = 78 * max(1, len({record[x] for record in records}))
    tall = 28 * max(1, len({record[y] for record in records}))
    return _titled(_faceted(alt.layer(tiles, texts).properties(width=wide, height=tall), facet), title, subtitle)


def _scale(log: bool) -> Any:
    alt = load("altair")
    return alt.Scale(type="log") if log else alt.Scale(zero=False)


def _series(field: str, series: list[str]) -> Any:
    alt = load("altair")
    colours = [HOUSE_COLOURS.get(name, SERIES_COLOURS[i % len(SERIES_COLOURS)]) for i, name in enumerate(series)]
    legend = alt.Legend(title=None, orient="right", labelLimit=260)
    return alt.Color(f"{field}:N", sort=series, scale=alt.Scale(domain=series, range=colours), legend=legend)


def _faceted(chart: Any, facet: str | None) -> Any:
    if facet is None:
        return chart
    alt = load("altair")
    return chart.facet(column=alt.Column(f"{facet}:N", title=None, sort=None))


def _titled(chart: Any, title: str, subtitle: str) -> Any:
    alt = load("altair")
    config = LIGHT.config()
    return chart.properties(title=alt.TitleParams(title, subtitle=[subtitle])).configure(**config)
