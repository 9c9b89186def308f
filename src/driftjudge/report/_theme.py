"""Colours and type of every chart: the system is always orange, the judge always blue.

Orange and blue stay apart for every common kind of colour blindness, and both keep a contrast of at least 4.5 to their
background, so that they serve for text too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"


@dataclass(frozen=True)
class Palette:
    """The colours of one mode, light or dark."""

    background: str
    ink: str
    """Text and axes."""
    muted: str
    """Notes and rules that must not compete with the evidence."""
    grid: str
    system: str
    judge: str
    guard: str
    """Fill of the guard window."""
    pale: str
    """A cell without evidence."""
    strong: str
    """A cell with enough evidence to be named."""
    unwatched: str
    on_pale: str
    on_strong: str
    """Text on a cell."""

    def config(self) -> dict[str, Any]:
        """The Vega-Lite config block."""
        axis = {
            "labelColor": self.ink,
            "titleColor": self.ink,
            "domainColor": self.muted,
            "tickColor": self.muted,
            "gridColor": self.grid,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titlePadding": 8,
        }
        return {
            "background": self.background,
            "font": FONT,
            "padding": {"left": 5, "top": 5, "bottom": 5, "right": 14},
            "axis": axis,
            "view": {"stroke": None},
            "text": {"fontSize": 12, "color": self.ink},
            "title": {
                "anchor": "start",
                "frame": "group",
                "color": self.ink,
                "fontSize": 16,
                "offset": 12,
                "subtitleColor": self.muted,
                "subtitleFontSize": 12,
                "subtitlePadding": 5,
                "subtitleLineHeight": 16,
            },
        }


LIGHT = Palette(
    background="#ffffff",
    ink="#20242a",
    muted="#5f6670",
    grid="#e6e8eb",
    system="#c24e00",
    judge="#0067a6",
    guard="#f4e3d3",
    pale="#fdf5ec",
    strong="#ec8a35",
    unwatched="#dcdfe3",
    on_pale="#20242a",
    on_strong="#20242a",
)
DARK = Palette(
    background="#16181c",
    ink="#e8eaed",
    muted="#a2a9b3",
    grid="#30343b",
    system="#f5a25d",
    judge="#6cb8f0",
    guard="#3a2c20",
    pale="#26221f",
    strong="#f0913c",
    unwatched="#3a3f47",
    on_pale="#e8eaed",
    on_strong="#16181c",
)


def palette(dark: bool) -> Palette:
    """The palette of the mode."""
    return DARK if dark else LIGHT
