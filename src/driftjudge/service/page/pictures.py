"""The charts of the page as SVG, from the same module as the reports; drawn once per state and mode."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Literal, get_args

from driftjudge.monitor.evidence import Evidence, Trace

if TYPE_CHECKING:
    import altair

Chart = Literal["race", "cells", "shift", "spending"]
CHARTS: tuple[Chart, ...] = get_args(Chart)
WIDTHS = {"wide": 760, "narrow": 340}
"""Pixels for a desk and for a phone; nothing in between, so that few pictures are drawn."""
MOST_REMEMBERED = 256


def draw(chart: Chart, evidence: Evidence, trace: Trace, *, dark: bool, width: int) -> bytes:
    """One chart as SVG; its words are on the page around it."""
    from driftjudge.report import cells_chart, race_chart, shift_chart, spending_chart
    from driftjudge.report._embed import render

    def drawn() -> altair.LayerChart:
        if chart == "race":
            return race_chart(trace, evidence, title=None, width=width, dark=dark)
        if chart == "spending":
            return spending_chart(trace, evidence, title=None, width=width, dark=dark)
        return (cells_chart if chart == "cells" else shift_chart)(evidence, title=None, width=width, dark=dark)

    return render(drawn(), ".svg")


class Pictures:
    """Remembers what was drawn, least recently seen forgotten first."""

    def __init__(self, most: int = MOST_REMEMBERED) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._drawn: OrderedDict[Hashable, bytes] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """The picture under this key, drawn now if it is not remembered."""
        with self._lock:
            if key in self._drawn:
                self._drawn.move_to_end(key)
                return self._drawn[key]
        made = make()
        with self._lock:
            self._drawn[key] = made
            while len(self._drawn) > self._most:
                self._drawn.popitem(last=False)
        return made
