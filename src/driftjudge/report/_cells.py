"""The main family, cell by cell: where the evidence against the system lies."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from driftjudge.monitor.evidence import CellEvidence, Evidence
from driftjudge.report import _words
from driftjudge.report._grammar import Width, data, finish, load
from driftjudge.report._theme import Palette, palette
from driftjudge.report.errors import ReportError

if TYPE_CHECKING:
    import altair

MOST_STRATA = 40
"""Rows of the heat map; of more strata those with the strongest evidence are shown."""
ROW = 30
NARROW = 18
"""Letters of a stratum's name that a phone has room for."""


def cells_chart(
    evidence: Evidence,
    *,
    title: str | None = "Where the system may have dropped",
    width: Width = 720,
    dark: bool = False,
) -> altair.LayerChart:
    """Rubric x stratum heat map of cell evidence, from 0 to what names a cell on its own."""
    if not evidence.cells:
        raise ReportError("the evidence holds no cells, so there is no heat map to draw; pass a monitor's evidence()")
    colours = palette(dark)
    strata = shown_strata(evidence)
    cells = [cell for cell in evidence.cells if cell.stratum in set(strata)]
    rubrics = list(dict.fromkeys(cell.rubric for cell in cells))
    shown = _Grid(rubrics, strata, naming_threshold(evidence), colours, width)
    layers = [
        shown.boxes([cell for cell in cells if _words.is_watched(cell)]),
        shown.idle([cell for cell in cells if not _words.is_watched(cell)]),
        shown.outlines([cell for cell in cells if cell.named]),
        shown.numbers(cells),
    ]
    return finish(
        [layer for layer in layers if layer is not None],
        colours,
        width=width,
        height=ROW * len(strata),
        title=title,
        subtitle=_words.cells_subtitle(evidence, len(strata)),
        description=_words.cells_summary(evidence),
    )


def naming_threshold(evidence: Evidence) -> float:
    """Natural log of the e-value at which closed testing names a cell whatever the others show."""
    watched = sum(_words.is_watched(cell) for cell in evidence.cells)
    return math.log(max(1, watched) / evidence.config.alpha_system)


def shown_strata(evidence: Evidence) -> list[str]:
    """All strata in their order, or the `MOST_STRATA` with the strongest cell."""
    best: dict[str, float] = {}
    for cell in evidence.cells:
        best[cell.stratum] = max(best.get(cell.stratum, -math.inf), _words.strength(cell))
    kept = set(sorted(best, key=lambda stratum: -best[stratum])[:MOST_STRATA])
    return [stratum for stratum in best if stratum in kept]


def min_width(evidence: Evidence) -> int:
    """Pixels below which the numbers of neighbouring cells would touch."""
    names = max(len(name) for name in row_names(shown_strata(evidence), NARROW).values())
    return min(7 * names, 7 * NARROW) + 30 + 38 * len(evidence.config.rubrics)


def row_names(strata: Sequence[str], limit: int) -> dict[str, str]:
    """Names short enough to stand beside a row: of long ones, first what all have in common goes.

    >>> row_names(["coding", "math"], 20)
    {'coding': 'coding', 'math': 'math'}
    >>> row_names(["tenant-eu-west-production-a1", "tenant-eu-west-production-b7"], 20)
    {'tenant-eu-west-production-a1': '…a1', 'tenant-eu-west-production-b7': '…b7'}
    """
    if max(map(len, strata)) <= limit:
        return {name: name for name in strata}
    head = _common_start(strata)
    tail = _common_start([name[len(head) :][::-1] for name in strata])
    short = {}
    for name in strata:
        core = name[len(head) : len(name) - len(tail)]
        whole = f"{'…' if head else ''}{core}{'…' if tail else ''}"
        short[name] = whole if len(whole) <= limit else f"{whole[: limit - 1]}…"
    return short if len(set(short.values())) == len(strata) else {name: name for name in strata}


def _common_start(names: Sequence[str]) -> str:
    letters = itertools.takewhile(lambda column: len(set(column)) == 1, zip(*names, strict=False))
    return "".join(column[0] for column in letters)


class _Grid:
    """The layers of the heat map on shared axes."""

    def __init__(
        self, rubrics: Sequence[str], strata: Sequence[str], threshold: float, colours: Palette, width: Width
    ) -> None:
        alt = load("altair")
        self.threshold = threshold
        self.colours = colours
        self.names = row_names(strata, NARROW if width == "container" else 34)
        room = (400 if width == "container" else width) / len(rubrics) - 10  # a page may be as narrow as a phone
        flat = 7 * max(map(len, rubrics)) <= room
        turned = {"labelAngle": 0} if flat else {"labelAngle": -35, "labelAlign": "left"}
        plain = {"title": None, "domain": False, "ticks": False, "grid": False, "labelPadding": 6}
        rubric_axis = alt.Axis(orient="top", labelLimit=100, **turned, **plain)
        stratum_axis = alt.Axis(labelLimit=120 if width == "container" else 220, **plain)
        band = alt.Scale(paddingInner=0.06, paddingOuter=0.03)
        self.axes = (
            alt.X("rubric:N", sort=list(rubrics), axis=rubric_axis, scale=band),
            alt.Y("row:N", sort=list(self.names.values()), axis=stratum_axis, scale=band),
        )
        self.tooltip = [
            alt.Tooltip("rubric:N"),
            alt.Tooltip("stratum:N"),
            alt.Tooltip("told:N", title="evidence"),
            alt.Tooltip("mean:N", title="mean now"),
            alt.Tooltip("bar:N", title="healthy mean"),
            alt.Tooltip("null:N", title="alarms below"),
            alt.Tooltip("observations:Q", title="observations", format=",d"),
        ]

    def boxes(self, cells: Sequence[CellEvidence]) -> Any:
        alt = load("altair")
        if not cells:
            return None
        ramp = alt.Scale(domain=[0, self.threshold], range=[self.colours.pale, self.colours.strong], clamp=True)
        mark = alt.Chart(data([self._row(cell) for cell in cells])).mark_rect(cornerRadius=3)
        return mark.encode(*self.axes, color=alt.Color("shade:Q", scale=ramp, legend=None), tooltip=self.tooltip)

    def idle(self, cells: Sequence[CellEvidence]) -> Any:
        """Cells whose bar is too low to be watched: grey."""
        alt = load("altair")
        if not cells:
            return None
        mark = alt.Chart(data([self._row(cell) for cell in cells])).mark_rect(
            color=self.colours.unwatched, cornerRadius=3
        )
        return mark.encode(*self.axes, tooltip=self.tooltip)

    def outlines(self, cells: Sequence[CellEvidence]) -> Any:
        alt = load("altair")
        if not cells:
            return None
        mark = alt.Chart(data([self._row(cell) for cell in cells])).mark_rect(
            filled=False, stroke=self.colours.ink, strokeWidth=2.2, cornerRadius=3
        )
        return mark.encode(*self.axes)

    def numbers(self, cells: Sequence[CellEvidence]) -> Any:
        alt = load("altair")
        mark = alt.Chart(data([self._row(cell) for cell in cells])).mark_text(fontSize=12)
        ink = alt.condition("datum.bright", alt.value(self.colours.on_strong), alt.value(self.colours.on_pale))
        return mark.encode(*self.axes, text="label:N", color=ink, tooltip=self.tooltip)

    def _row(self, cell: CellEvidence) -> dict[str, object]:
        strength, watched = _words.strength(cell), _words.is_watched(cell)
        share = max(0.0, strength) / self.threshold
        told = _words.figure(cell.log_e, 1 if abs(cell.log_e) < 100.0 else 0) if watched else "×"
        return {
            "rubric": cell.rubric,
            "stratum": cell.stratum,
            "row": self.names[cell.stratum],
            "shade": min(share, 1.0) * self.threshold,
            "label": f"▼{told}" if cell.named else told,
            "told": told if watched else "not watched",
            "bright": share > 0.7,
            "mean": _words.figure(cell.mean, 3),
            "bar": _words.figure(cell.bar, 3),
            "null": _words.figure(cell.null, 3),
            "observations": cell.observations,
        }
