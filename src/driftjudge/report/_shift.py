"""How the judge moved on the anchors, rubric by rubric."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from driftjudge.monitor.evidence import Evidence, JudgeShift
from driftjudge.report import _words
from driftjudge.report._grammar import Width, data, finish, haloed, load
from driftjudge.report._theme import Palette, palette
from driftjudge.report.errors import ReportError

if TYPE_CHECKING:
    import altair

ROW = 44
TICK = "datum.value === 0 ? '0' : format(datum.value, '+~g')"


def shift_chart(
    evidence: Evidence,
    *,
    title: str | None = "How the judge moved on the anchors",
    width: Width = 720,
    dark: bool = False,
) -> altair.LayerChart:
    """Per rubric the judge's shift with its anytime-valid interval: harsher to the left, more lenient to the right."""
    if not evidence.shifts:
        raise ReportError("there are no anchors, so no judge shift can be drawn; give the monitor an AnchorSet")
    alt = load("altair")
    colours = palette(dark)
    reach = _reach(evidence)
    rubrics = [shift.rubric for shift in evidence.shifts]
    x_axis = alt.Axis(title="shift (scores run from 0 to 1)", labelExpr=TICK, tickCount=5, labelOverlap="parity")
    x_scale = alt.Scale(domain=[-reach, reach], nice=False)
    x = alt.X("shift:Q", scale=x_scale, axis=x_axis)
    y_axis = alt.Axis(
        title=None, domain=False, ticks=False, labelPadding=10, labelLimit=120 if width == "container" else 220
    )
    y = alt.Y("rubric:N", sort=rubrics, axis=y_axis)
    known = data([_row(shift, colours) for shift in evidence.shifts if _is_known(shift)])
    unknown = data([_missing(shift) for shift in evidence.shifts if not _is_known(shift)])
    colour = alt.Color("colour:N", scale=None)
    tooltip = [
        alt.Tooltip("rubric:N"),
        alt.Tooltip("told:N", title="shift"),
        alt.Tooltip("interval:N", title="interval"),
        alt.Tooltip("rescores:Q", title="re-scores", format=",d"),
    ]
    zero = alt.Chart(data([{"shift": 0.0}])).mark_rule(color=colours.ink, strokeWidth=1.3).encode(x)
    interval = alt.Chart(known).mark_rule(strokeWidth=4, strokeCap="round", opacity=0.55)
    point = alt.Chart(known).mark_point(size=90, strokeWidth=2.5, opacity=1)
    halo, label = haloed(alt.Chart(known), colours.background, dy=-14, fontWeight="bold")
    nothing = alt.Chart(unknown).mark_text(color=colours.muted, align="left", dx=8)
    layers: list[Any] = [
        zero,
        interval.encode(alt.X("low:Q", scale=x_scale, axis=x_axis), y, x2="high:Q", color=colour, tooltip=tooltip),
        point.encode(
            x, y, stroke=alt.Stroke("colour:N", scale=None), fill=alt.Fill("fill:N", scale=None), tooltip=tooltip
        ),
        halo.encode(x, y, text="told:N"),
        label.encode(x, y, text="told:N", color=colour),
        nothing.encode(x, y, text="told:N"),
    ]
    for text, align, at in (("← harsher", "left", 0), ("more lenient →", "right", "width")):
        side = alt.Chart(data([{}])).mark_text(text=text, align=align, color=colours.muted, baseline="bottom")
        layers.append(side.encode(x=alt.value(at), y=alt.value(-5)))
    return finish(
        layers,
        colours,
        width=width,
        height=ROW * len(rubrics),
        title=title,
        subtitle=_words.shift_subtitle(),
        description=_words.shift_summary(evidence),
    )


def _is_known(shift: JudgeShift) -> bool:
    return math.isfinite(shift.shift)


def _reach(evidence: Evidence) -> float:
    """Half the width of the axis: symmetric, so that zero stands in the middle."""
    ends = [abs(end) for shift in evidence.shifts for end in (shift.low, shift.high, shift.shift) if math.isfinite(end)]
    return min(1.0, max(0.05, 1.15 * max(ends, default=0.0)))


def _missing(shift: JudgeShift) -> dict[str, object]:
    told = f"no re-scores since item {shift.since:,}" if shift.since else "no re-scores yet"
    return {"rubric": shift.rubric, "shift": 0.0, "told": told}


def _row(shift: JudgeShift, colours: Palette) -> dict[str, object]:
    moved = _words.is_shifted(shift)
    colour = colours.judge if moved else colours.muted
    return {
        "rubric": shift.rubric,
        "shift": shift.shift,
        "low": shift.shift if _words.says_nothing(shift) else max(-1.0, shift.low),
        "high": shift.shift if _words.says_nothing(shift) else min(1.0, shift.high),
        "told": _words.signed(shift.shift),
        "interval": _words.interval(shift),
        "rescores": shift.rescores,
        "colour": colour,
        "fill": colour if moved else colours.background,
    }
