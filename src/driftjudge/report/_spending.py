"""What was asked of the strong judge so far, beside asking it about everything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from driftjudge.monitor.evidence import Evidence, Trace
from driftjudge.report import _words
from driftjudge.report._grammar import Width, data, finish, item_axis, load
from driftjudge.report._series import thin
from driftjudge.report._theme import palette
from driftjudge.report.errors import ReportError

if TYPE_CHECKING:
    import altair

HEIGHT = 240


def spending_chart(
    trace: Trace,
    evidence: Evidence,
    *,
    title: str | None = "What the strong judge was asked",
    width: Width = 720,
    dark: bool = False,
) -> altair.LayerChart:
    """Cumulative strong calls on items and on anchors, stacked, under the line of asking about every item."""
    if len(trace.position) == 0:
        raise ReportError("the trace is empty, so there is no spending to draw; observe at least one item first")
    alt = load("altair")
    colours = palette(dark)
    last, strong, anchors = int(trace.position[-1]), int(trace.strong_calls[-1]), int(trace.anchor_calls[-1])
    total = trace.strong_calls + trace.anchor_calls
    drawn = thin(trace.position, total.astype(np.float64), keep=())
    rows = [{"item": 0, "strong": 0, "total": 0}] + [
        {"item": int(trace.position[at]), "strong": int(trace.strong_calls[at]), "total": int(total[at])}
        for at in drawn
    ]
    top = max(last, strong + anchors)
    y_scale = alt.Scale(domain=[0, top], nice=False)
    y_axis = alt.Axis(title="calls to the strong judge", format=",d", tickCount=5, tickMinStep=1, grid=False)
    x = item_axis(last)

    def y(field: str) -> Any:
        return alt.Y(f"{field}:Q", scale=y_scale, axis=y_axis)

    area = alt.Chart(data(rows))
    always = alt.Chart(data([{"item": 0, "calls": 0}, {"item": last, "calls": last}]))
    layers = [
        area.mark_area(color=colours.system, opacity=0.8).encode(x, y("strong")),
        area.mark_area(color=colours.judge, opacity=0.8).encode(x, y("strong"), y2="total:Q"),
        always.mark_line(color=colours.muted, strokeDash=[6, 5], strokeWidth=1.5).encode(x, y("calls")),
    ]
    legend = (
        (f"- - every item would be: {last:,}", colours.muted),
        (f"■ on anchors: {anchors:,}", colours.judge),
        (f"■ on stream items: {strong:,}", colours.system),
    )
    for number, (text, colour) in enumerate(legend):  # above the diagonal there is always room
        key = alt.Chart(data([{}])).mark_text(text=text, color=colour, align="left", baseline="top", fontWeight="bold")
        layers.append(key.encode(x=alt.value(8), y=alt.value(2 + 17 * number)))
    return finish(
        layers,
        colours,
        width=width,
        height=HEIGHT,
        title=title,
        subtitle=[],
        description=_words.spending_summary(evidence),
    )
