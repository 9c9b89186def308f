"""The cost menu of a plan: what more or less money would catch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from driftjudge.report._grammar import Width, data, finish, haloed, load
from driftjudge.report._theme import Palette, palette
from driftjudge.report.errors import ReportError

if TYPE_CHECKING:
    import altair

HEIGHT = 340


@dataclass(frozen=True)
class MenuPoint:
    """One choice of a menu: what it costs, what it catches, and how surely that is known."""

    cost: float
    """Running cost over asking the strong judge about everything."""
    rate: float
    low: float
    high: float
    label: str
    """The knob's value, short enough to stand beside the point."""
    chosen: bool = False


@dataclass(frozen=True)
class Menu:
    """Two lines through the recommended design: the budget moves along one, the anchor rate along the other."""

    system: Sequence[MenuPoint]
    judge: Sequence[MenuPoint]
    detect: float
    spend: float
    system_words: str
    """What the system line says, for its legend."""
    judge_words: str


def menu_chart(
    menu: Menu,
    *,
    title: str | None = "What more or less money would catch",
    subtitle: Sequence[str] = (),
    width: Width = 720,
    dark: bool = False,
) -> altair.LayerChart:
    """Detection against running cost, with exact 95 % intervals, the wanted rate and the spending limit."""
    if not menu.system or not menu.judge:
        raise ReportError("the menu holds no choices, so there is nothing to draw; pass those of a plan")
    colours = palette(dark)
    dearest = max(point.cost for point in (*menu.system, *menu.judge))
    drawn = _Axes(colours, max(dearest, menu.spend) * 1.04)
    layers = [
        *drawn.limits(menu),
        *drawn.series(menu.judge, colours.judge, below=True),
        *drawn.series(menu.system, colours.system, below=False),
        *drawn.legend(
            (f"● {menu.system_words}", colours.system), (f"■ {menu.judge_words}", colours.judge), top=HEIGHT - 40
        ),
    ]
    return finish(
        layers, colours, width=width, height=HEIGHT, title=title, subtitle=subtitle, description=_described(menu)
    )


class _Axes:
    """Layers on shared axes."""

    def __init__(self, colours: Palette, last: float) -> None:
        alt = load("altair")
        self.colours, self.last = colours, last
        axis = alt.Axis(
            title="running cost (asking the strong judge about everything = 1)", grid=False, format=".2~f", tickCount=8
        )
        self.x = alt.X("cost:Q", scale=alt.Scale(domain=[0, last], nice=False), axis=axis)
        self.y_scale = alt.Scale(domain=[0, 1.06], nice=False)
        self.y_axis = alt.Axis(title="changes caught in time", format="%", values=[0, 0.25, 0.5, 0.75, 1])

    def y(self, field: str = "rate") -> Any:
        return load("altair").Y(f"{field}:Q", scale=self.y_scale, axis=self.y_axis)

    def series(self, points: Sequence[MenuPoint], colour: str, *, below: bool) -> list[Any]:
        alt = load("altair")
        rows = [
            {
                "cost": point.cost,
                "rate": point.rate,
                "low": point.low,
                "high": point.high,
                "label": point.label,
            }
            for point in sorted(points, key=lambda point: point.cost)
        ]
        chart = alt.Chart(data(rows))
        tooltip = [
            alt.Tooltip("label:N", title="choice"),
            alt.Tooltip("cost:Q", format=".3f"),
            alt.Tooltip("rate:Q", title="caught", format=".0%"),
            alt.Tooltip("low:Q", title="at least", format=".0%"),
            alt.Tooltip("high:Q", title="at most", format=".0%"),
        ]
        shape = "square" if below else "circle"
        place = {"dx": 7, "dy": 11, "align": "left"} if below else {"dx": -6, "dy": -10, "align": "right"}
        style = {"fontSize": 11, "color": colour, **place}
        layers = [
            chart.mark_rule(color=colour, opacity=0.45, strokeWidth=4).encode(self.x, self.y("low"), y2="high:Q"),
            chart.mark_line(color=colour, strokeWidth=2).encode(self.x, self.y()),
            chart.mark_point(color=colour, shape=shape, filled=True, size=60, opacity=1).encode(
                self.x, self.y(), tooltip=tooltip
            ),
        ]
        marked = [{"cost": p.cost, "rate": p.rate} for p in points if p.chosen]
        ring = alt.Chart(data(marked)).mark_point(
            color=self.colours.ink, shape=shape, filled=False, size=220, strokeWidth=2.2
        )
        texts = haloed(chart, self.colours.background, **style)
        return [
            *layers,
            ring.encode(self.x, self.y()),
            *(text.encode(self.x, self.y(), text="label:N") for text in texts),
        ]

    def limits(self, menu: Menu) -> list[Any]:
        """What was wanted, as dashed lines."""
        alt = load("altair")
        dashed = {"color": self.colours.muted, "strokeDash": [6, 5], "strokeWidth": 1.5}
        wanted = alt.Chart(data([{"rate": menu.detect}])).mark_rule(**dashed).encode(self.y())
        limit = alt.Chart(data([{"cost": menu.spend}])).mark_rule(**dashed).encode(self.x)
        named = [
            ({"cost": self.last, "rate": menu.detect}, f"wanted: {menu.detect:.0%}", {"align": "right", "dy": 11}),
            ({"cost": menu.spend, "rate": 0.02}, f"spend at most {menu.spend:g}", {"align": "left", "dx": 5}),
        ]
        texts = [
            alt.Chart(data([row])).mark_text(text=text, color=self.colours.muted, fontSize=11, **place)
            for row, text, place in named
        ]
        return [wanted, limit, *(text.encode(self.x, self.y()) for text in texts)]

    def legend(self, *lines: tuple[str, str], top: int) -> list[Any]:
        alt = load("altair")
        layers = []
        for number, (text, colour) in enumerate(lines):
            key = alt.Chart(data([{}])).mark_text(
                text=text, color=colour, align="right", baseline="top", fontWeight="bold"
            )
            layers.append(key.encode(x=alt.value("width"), y=alt.value(top + 17 * number)))
        return layers


def _described(menu: Menu) -> str:
    """The chart for those who cannot see it."""
    said = []
    for words, points in ((menu.system_words, menu.system), (menu.judge_words, menu.judge)):
        told = ", ".join(f"{point.rate:.0%} at a cost of {point.cost:.2f} ({point.label})" for point in points)
        said.append(f"{words}: {told}.")
    return f"{' '.join(said)} Wanted: {menu.detect:.0%} at a cost of at most {menu.spend:g}."
