"""Where Altair and vl-convert come in, late: a monitor without the extra `report` never needs them."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from driftjudge.report._theme import Palette
from driftjudge.report.errors import ReportError

if TYPE_CHECKING:
    import altair

Width = int | Literal["container"]
"""Pixels, or as wide as the page lets it be."""

Row = Mapping[str, object]
"""One record of chart data; NaN and infinities must have become None or been left out."""


def load(name: Literal["altair", "vl_convert"]) -> ModuleType:
    """Import a drawing library, or say how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ReportError(
            f'{name} is not installed, and charts and reports need it; run: pip install "driftjudge[report]"'
        ) from error


def data(rows: Sequence[Row]) -> Any:
    """Rows inside the chart itself: no file, no global data transformer, no row limit of Altair's to trip over."""
    return load("altair").Data(values=[dict(row) for row in rows])


def haloed(chart: Any, background: str, **style: Any) -> tuple[Any, Any]:
    """Text marks, one behind the other: the first keeps lines out of the second."""
    halo = {"strokeWidth": 4, "strokeJoin": "round", "aria": False}
    return chart.mark_text(**style | {"color": background, "stroke": background} | halo), chart.mark_text(**style)


def item_axis(last: int, field: str = "item") -> Any:
    """The x of every chart over the stream: from nothing to the newest item."""
    alt = load("altair")
    axis = alt.Axis(
        title="stream item",
        grid=False,
        format=",d",
        tickCount=6,
        tickMinStep=1,
        labelFlush=True,
        labelOverlap="parity",
        labelSeparation=8,
    )
    return alt.X(f"{field}:Q", scale=alt.Scale(domain=[0, last], nice=False, zero=False), axis=axis)


def finish(
    layers: Sequence[Any],
    palette: Palette,
    *,
    width: Width,
    height: int | None,
    title: str | None,
    subtitle: Sequence[str],
    description: str,
) -> altair.LayerChart:
    """Layers to a chart: size, title and theme are set here, alike for all charts."""
    alt = load("altair")
    size = {"width": width} if height is None else {"width": width, "height": height}
    chart = alt.layer(*layers).properties(
        **size,
        description=description,
        autosize=alt.AutoSizeParams(type="fit-x" if width == "container" else "pad", contains="padding"),
    )
    if title is not None:
        below = {"subtitle": list(subtitle)} if subtitle else {}
        chart = chart.properties(title=alt.TitleParams(title, **below))
    themed: altair.LayerChart = chart.configure(**palette.config())
    return themed
