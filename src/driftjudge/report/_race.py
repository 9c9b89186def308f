"""The race: both families' evidence against their thresholds, as in figure 2 of the paper."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from driftjudge.monitor.evidence import Evidence, Trace
from driftjudge.report import _words
from driftjudge.report._grammar import Width, data, finish, haloed, load
from driftjudge.report._scene import HEIGHT, ROW, Scene
from driftjudge.report._series import pieces, spread, thin
from driftjudge.report._theme import palette
from driftjudge.report._timeline import Family
from driftjudge.report.errors import ReportError

if TYPE_CHECKING:
    import altair

ALARM_MARKS: Mapping[Family, Mapping[str, Any]] = {
    "system": {"shape": "circle", "size": 70},
    "judge": {"shape": "square", "size": 170},
}
"""A burst can make both families alarm at once: the judge's square is then seen around the system's circle."""


def race_chart(
    trace: Trace,
    evidence: Evidence,
    *,
    change_at: int | None = None,
    title: str | None = "Who alarms first: the system or its judge?",
    width: Width = 720,
    dark: bool = False,
) -> altair.LayerChart:
    """Natural-log evidence of both families over the stream, with thresholds, alarms, guard window and epochs.

    A family that runs far above its threshold leaves the picture, so that the race before the alarm stays readable.
    """
    if len(trace.position) == 0:
        raise ReportError("the trace is empty, so there is no race to draw; observe at least one item first")
    if change_at is not None and change_at > trace.position[-1]:
        change_at = None  # not there yet
    scene = Scene(trace, evidence, change_at, palette(dark))
    layers = [
        *_guard(scene),
        *_epochs(scene),
        *_change(scene),
        *_thresholds(scene),
        *(layer for family in scene.values for layer in _alarm_leaders(scene, family)),
        *(layer for family in scene.values for layer in _line(scene, family)),
        *_threshold_labels(scene),
        *(layer for family in scene.values for layer in _alarms(scene, family)),
        *_end_labels(scene),
        _hover(scene),
    ]
    return finish(
        layers,
        scene.palette,
        width=width,
        height=HEIGHT,
        title=title,
        subtitle=_words.race_subtitle(trace),
        description=_words.race_summary(trace, evidence, change_at),
    )


def _line(scene: Scene, family: Family) -> list[Any]:
    """The evidence, and a small triangle where it first leaves the picture for higher ground."""
    alt = load("altair")
    value = scene.values[family]
    drawn = thin(scene.trace.position, value, [*scene.time.alarms[family], *scene.time.epochs])
    drawn = drawn[~np.isnan(value[drawn])]
    low, high = scene.domain
    height = np.clip(value[drawn], low - 1e3, high + 1e3)  # an evidence of minus infinity still has a direction
    cut = pieces(scene.trace.position[drawn].tolist(), height.tolist(), scene.time.epochs, low, high)
    rows = [
        {"item": item, "evidence": evidence, "piece": number}
        for number, piece in enumerate(cut)
        for item, evidence in piece
    ]
    mark = alt.Chart(data(rows)).mark_line(color=scene.colour(family), strokeWidth=2.2, strokeJoin="round")
    exits = [{"item": piece[-1][0], "evidence": high} for piece in cut if len(piece) > 1 and piece[-1][1] == high]
    left = alt.Chart(data(exits[:1])).mark_point(
        shape="triangle-up", size=70, filled=True, opacity=1, color=scene.colour(family), yOffset=-3
    )
    return [mark.encode(scene.x(), scene.y(), detail="piece:N"), left.encode(scene.x(), scene.y())]


def _thresholds(scene: Scene) -> list[Any]:
    """Dashed, each in its family's colour; where both coincide the dashes alternate."""
    alt = load("altair")
    return [
        alt.Chart(data([{"evidence": threshold}]))
        .mark_rule(color=scene.colour(family), strokeDash=[6, 6], strokeDashOffset=6 * order, strokeWidth=1.3)
        .encode(scene.y())
        for order, (family, threshold) in enumerate(scene.thresholds.items())
    ]


def _threshold_labels(scene: Scene) -> list[Any]:
    """At the emptier end of each dashed line; one label serves both lines where they coincide."""
    alt = load("altair")
    apart = abs(scene.trace.system_threshold - scene.trace.judge_threshold) / scene.unit
    both = len(scene.thresholds) == 2
    same, near = both and apart < 1, both and apart < 2 * ROW
    layers: list[Any] = []
    for family, threshold in scene.thresholds.items():
        if same and layers:
            break
        below = near and not same and threshold == min(scene.thresholds.values())
        left = _is_left_emptier(scene, threshold - (ROW * scene.unit if below else 0.0))
        marks = haloed(
            alt.Chart(data([{"evidence": threshold}])),
            scene.palette.background,
            text=f"{'both alarm' if same else f'{family} alarms'} above {threshold:.1f}",
            color=scene.palette.ink if same else scene.colour(family),
            align="left" if left else "right",
            baseline="top" if below else "bottom",
            dx=6 if left else -6,
            dy=4 if below else -4,
        )
        layers += [mark.encode(scene.y(), x=alt.value(0 if left else "width")) for mark in marks]
    return layers


def _is_left_emptier(scene: Scene, bottom: float) -> bool:
    """Whether fewer points of the lines lie behind a label at the left than behind one at the right."""
    item, last = scene.trace.position, scene.time.last
    inside = [(value >= bottom) & (value <= bottom + ROW * scene.unit) for value in scene.values.values()]
    left, right = (
        sum(int((part & where).sum()) for part in inside) for where in (item < 0.4 * last, item > 0.6 * last)
    )
    return left <= right


def _alarm_leaders(scene: Scene, family: Family) -> list[Any]:
    """From the alarm's label in the strip down to where the line crosses its threshold."""
    alt = load("altair")
    if not scene.time.alarms[family]:
        return []
    rows = [{"item": at, "evidence": scene.thresholds[family]} for at in scene.time.alarms[family]]
    rule = alt.Chart(data(rows)).mark_rule(color=scene.colour(family), strokeWidth=1, opacity=0.7)
    return [rule.encode(scene.x(), scene.y(), y2=alt.value(scene.row_at(family) - 6))]


def _alarms(scene: Scene, family: Family) -> list[Any]:
    alt = load("altair")
    positions = scene.time.alarms[family]
    if not positions:
        return []
    rows = [{"item": at, "evidence": scene.thresholds[family]} for at in positions]
    point = alt.Chart(data(rows)).mark_point(
        **ALARM_MARKS[family],
        filled=True,
        opacity=1,
        color=scene.colour(family),
        stroke=scene.palette.background,
    )
    row = scene.row_at(family)
    told = f"{family} alarm, item " if len(positions) == 1 else ""
    layers = [point.encode(scene.x(), scene.y())]
    for at in _apart(positions, scene.time.last):
        left = at <= scene.time.last * 0.55
        layers += _row_label(scene, at, f"{told}{at:,}", row, scene.colour(family), left=left, bold=True)
    return layers


def _apart(positions: tuple[int, ...], last: int) -> list[int]:
    """The newest alarm and those before it that leave room for its number: with many epochs not all can be labelled."""
    chosen: list[int] = []
    for at in reversed(positions):
        if not chosen or chosen[-1] - at > last / 6:
            chosen.append(at)
    return chosen


def _row_label(scene: Scene, at: int, text: str, row: int, colour: str, *, left: bool, bold: bool) -> list[Any]:
    """Text beside a position, `row` pixels from the top; `left`: it starts there, else it ends there."""
    alt = load("altair")
    marks = haloed(
        alt.Chart(data([{"item": at}])),
        scene.palette.background,
        text=text,
        color=colour,
        align="left" if left else "right",
        baseline="middle",
        dx=5 if left else -5,
        fontWeight="bold" if bold else "normal",
    )
    return [mark.encode(scene.x(), y=alt.value(row)) for mark in marks]


def _change(scene: Scene) -> list[Any]:
    alt = load("altair")
    at = scene.change_at
    if at is None:
        return []
    row = scene.row_at("change")
    rule = alt.Chart(data([{"item": at}])).mark_rule(color=scene.palette.ink, strokeWidth=1.3)
    left = at <= scene.time.last * 0.55
    return [
        rule.encode(scene.x(), y=alt.value(row - 6), y2=alt.value(HEIGHT)),
        *_row_label(scene, at, f"change, item {at:,}", row, scene.palette.ink, left=left, bold=False),
    ]


def _guard(scene: Scene) -> list[Any]:
    """The window, shaded, with its name at its head."""
    alt = load("altair")
    if scene.time.guard is None:
        return []
    start, end = scene.time.guard
    row = scene.row_at("guard")
    shade = alt.Chart(data([{"item": start, "end": end}])).mark_rect(color=scene.palette.guard)
    label = alt.Chart(data([{"item": start}])).mark_text(text="guard", color=scene.palette.muted, align="left", dx=5)
    return [
        shade.encode(scene.x(), x2="end:Q", y=alt.value(row - ROW // 2), y2=alt.value(HEIGHT)),
        label.encode(scene.x(), y=alt.value(row)),
    ]


def _epochs(scene: Scene) -> list[Any]:
    alt = load("altair")
    if not scene.time.epochs:
        return []
    rule = alt.Chart(data([{"item": at} for at in scene.time.epochs])).mark_rule(
        color=scene.palette.muted, strokeDash=[2, 3]
    )
    layers = [rule.encode(scene.x(), y=alt.value(scene.strip), y2=alt.value(HEIGHT))]
    for at in _apart(scene.time.epochs, scene.time.last):
        left = at <= scene.time.last * 0.75
        layers += _row_label(scene, at, "new epoch", HEIGHT - 9, scene.palette.muted, left=left, bold=False)
    return layers


def _end_labels(scene: Scene) -> list[Any]:
    """The family's name where its line ends; with its height when that is above the picture."""
    alt = load("altair")
    low, high = scene.domain
    ends = [float(value[~np.isnan(value)][-1]) for value in scene.values.values()]
    heights = spread(ends, gap=15 * scene.unit, low=low, high=high)
    layers = []
    for (family, end), height in zip(zip(scene.values, ends, strict=True), heights, strict=True):
        above = end > high and math.isfinite(end)
        mark = alt.Chart(data([{"evidence": height}])).mark_text(
            text=f"{family} ↑{end:.0f}" if above else family,
            color=scene.colour(family),
            align="left",
            dx=6,
            fontWeight="bold",
        )
        layers.append(mark.encode(scene.y(), x=alt.value("width")))
    return layers


def _hover(scene: Scene) -> Any:
    """Figures under the pointer, where the chart is live; in a picture this layer is invisible."""
    alt = load("altair")
    known = np.flatnonzero(np.all([np.isfinite(value) for value in scene.values.values()], axis=0))
    shown = known[np.unique(np.linspace(0, len(known) - 1, 120).astype(int))] if len(known) else known
    rows = [
        {"item": int(scene.trace.position[at])} | {family: float(value[at]) for family, value in scene.values.items()}
        for at in shown
    ]
    near = alt.selection_point(
        name="hover", nearest=True, on="pointermove", clear="pointerout", fields=["item"], empty=False
    )
    # Quantitative throughout: with `nearest`, Vega-Lite 6 looks for nominal tooltip fields in the wrong place.
    tooltip = [alt.Tooltip("item:Q", title="item", format=",d")]
    tooltip += [alt.Tooltip(f"{family}:Q", title=f"{family} evidence", format=".2f") for family in scene.values]
    rule = alt.Chart(data(rows), name="hover_rules").mark_rule(color=scene.palette.muted, aria=False)
    opacity = alt.condition(near, alt.value(0.6), alt.value(0))
    return rule.encode(scene.x(), opacity=opacity, tooltip=tooltip).add_params(near)
