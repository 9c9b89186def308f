"""Charts to files and into pages: PNG, SVG, and HTML that asks nothing of the network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from driftjudge.report._grammar import load
from driftjudge.report.errors import ReportError

if TYPE_CHECKING:
    import altair

PICTURE_KINDS = (".png", ".svg", ".html")
PICTURE_WIDTH = 720
PNG_SCALE = 2.0
"""Sharp on paper and on dense screens."""


@dataclass(frozen=True)
class Drawing:
    """One chart of a page, in both modes."""

    name: str
    """Letters, digits and hyphens; unique on its page."""
    light: altair.LayerChart
    dark: altair.LayerChart | None
    """None: the light one serves for both."""
    summary: str
    """What the chart shows, in words, for those who cannot see it."""
    caption: str = ""
    min_width: int = 0
    """Pixels below which the chart scrolls sideways rather than shrinks."""


@dataclass(frozen=True)
class ChartHtml:
    """Markup for a page: the figures wherever they belong, the script once, after them."""

    figures: Mapping[str, str]
    """By name of the drawing."""
    script: str
    """Vega with everything it needs, and the few lines that start the charts."""
    policy: str
    """A Content-Security-Policy under which the page works: these scripts, and no request at all."""


def chart_html(drawings: Sequence[Drawing]) -> ChartHtml:
    """Several charts for one page that opens offline.

    Each figure holds a still picture, for paper and for readers without scripts, and the data from which the script
    draws a live chart as wide as the page, in the reader's light or dark mode.
    """
    scripts = (_bundle(), asset("report.js"))
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return ChartHtml(
        figures={drawing.name: _figure(drawing) for drawing in drawings},
        script="\n".join(f"<script>{script}</script>" for script in scripts),
        policy=f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {hashes}; "
        "base-uri 'none'; form-action 'none'",
    )


def save_picture(chart: altair.LayerChart, path: str | Path) -> Path:
    """Write a chart as .png, .svg or .html, by the ending of `path`; the HTML is live and opens offline."""
    target = check_picture(path)
    kind = target.suffix.lower()
    if kind == ".html":
        return write(target, _picture_page(chart).encode())
    return write(target, render(chart, kind))


def check_picture(path: str | Path) -> Path:
    """Refuse a name that `save_picture` would refuse: before long work, not after it."""
    target = Path(path)
    if target.suffix.lower() not in PICTURE_KINDS:
        raise ReportError(f"cannot draw {target.name!r}: a picture's name ends in {', '.join(PICTURE_KINDS)}")
    return target


def render(chart: altair.LayerChart, kind: str) -> bytes:
    """A chart as the bytes of a .png or .svg."""
    return _render(chart.to_dict(), kind)


def _render(spec: Mapping[str, Any], kind: str) -> bytes:
    convert = load("vl_convert")
    still = dict(spec)
    if still.get("width") == "container":  # a picture has no page around it to fill
        still |= {"width": PICTURE_WIDTH, "autosize": {"type": "pad", "contains": "padding"}}
    settings = {"vl_version": vegalite_version(), "allowed_base_urls": []}
    if kind == ".png":
        png: bytes = convert.vegalite_to_png(still, scale=PNG_SCALE, **settings)
        return png
    svg: str = convert.vegalite_to_svg(still, **settings)
    return svg.encode()


def write(target: Path, content: bytes) -> Path:
    """Write a file, or say in one sentence why it could not be written."""
    try:
        target.write_bytes(content)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ReportError(
            f"cannot write {str(target)!r} ({reason}); choose a file in a folder you can write to"
        ) from error
    return target


def asset(name: str) -> str:
    """The text of a file that ships with this package."""
    return resources.files("driftjudge.report").joinpath("assets", name).read_text(encoding="utf-8")


def script_json(value: object) -> str:
    """JSON that cannot end the script element it stands in, whatever strings are inside.

    >>> script_json("</script><!--")
    '"\\\\u003c/script\\\\u003e\\\\u003c!--"'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _figure(drawing: Drawing) -> str:
    """A still for paper, a place for the live chart, and its specifications."""
    light = drawing.light.to_dict()
    dark = light if drawing.dark is None else drawing.dark.to_dict()
    still = base64.b64encode(_render(light, ".svg")).decode()
    modes = script_json({"light": _live(light), "dark": _live(dark)})
    name, summary = html.escape(drawing.name), html.escape(drawing.summary)
    caption = f"<figcaption>{html.escape(drawing.caption)}</figcaption>" if drawing.caption else ""
    return (
        f'<figure id="chart-{name}">'
        f'<img class="still" alt="{summary}" src="data:image/svg+xml;base64,{still}"><div class="scroller">'
        f'<div class="live" role="img" aria-label="{summary}" style="min-width:{drawing.min_width}px"></div></div>'
        f'<script type="application/json" class="chart">{modes}</script>'
        f"{caption}</figure>"
    )


def _live(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The chart as a page shows it: as wide as there is room, on the page's own background."""
    return dict(spec) | {
        "width": "container",
        "autosize": {"type": "fit-x", "contains": "padding"},
        "config": spec["config"] | {"background": "transparent"},
    }


def _picture_page(chart: altair.LayerChart) -> str:
    """One live chart on a page of its own; its title becomes the page's, which unlike the chart's can wrap."""
    spec = chart.to_dict()
    title = spec.get("title", {"text": ""})
    bare = chart.copy(deep=False)
    bare.title = load("altair").Undefined
    caption = " ".join(title.get("subtitle", []))
    drawn = chart_html([Drawing("picture", bare, None, summary=spec["description"], caption=caption)])
    return Template(asset("picture.html")).substitute(
        title=html.escape(title["text"] or "driftjudge"),
        heading=f"<h1>{html.escape(title['text'])}</h1>" if title["text"] else "",
        policy=html.escape(drawn.policy),
        css=asset("report.css"),
        background=spec["config"]["background"],
        ink=spec["config"]["title"]["color"],
        muted=spec["config"]["title"]["subtitleColor"],
        figure=drawn.figures["picture"],
        script=drawn.script,
    )


@cache
def _bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script: vl-convert carries them, so nothing is downloaded."""
    bundle: str = load("vl_convert").javascript_bundle(vl_version=vegalite_version())
    return bundle.replace("</script", "<\\/script")


def vegalite_version() -> str:
    """The Vega-Lite that Altair writes for: v6.4.1 -> 6.4."""
    version: str = load("altair").SCHEMA_VERSION
    return ".".join(version.removeprefix("v").split(".")[:2])


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
