"""The live view of a monitored stream in the terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from driftjudge.monitor import Monitor, Verdict
    from driftjudge.monitor.evidence import Trace

COLOURS = {"none": "green", "system": "dark_orange", "judge": "dodger_blue1", "unattributed": "yellow"}
_LEVELS = " ▁▂▃▄▅▆▇█"


def verdict_text(verdict: Verdict) -> Text:
    """The verdict's sentence in its colour, after its name."""
    name = verdict.kind.upper() + (" (guard open)" if verdict.status == "pending" else "")
    return Text.assemble((f" {name} ", f"bold reverse {COLOURS[verdict.kind]}"), "  ", verdict.explain())


def live_view(monitor: Monitor, trace: Trace, items: int, title: str) -> RenderableType:
    """Both families against their thresholds, what was spent, and the verdict so far."""
    grid = Table.grid(padding=(0, 2))
    for name, values, threshold in (
        ("system", trace.system, trace.system_threshold),
        ("judge", trace.judge, trace.judge_threshold),
    ):
        now = float(values[-1])
        shown = "no anchors" if math.isnan(now) else f"{now:6.2f} of {threshold:.2f}"
        grid.add_row(
            Text(name, style=f"bold {COLOURS[name]}"), Text(sparkline(values.tolist(), threshold), COLOURS[name]), shown
        )
    cost = monitor.cost
    spent = (
        f"item {cost.items:,} of {items:,}   strong calls {cost.strong_calls:,}   anchors {cost.anchor_calls:,}   "
        f"cost {cost.fraction:.2f} of judging everything"
    )
    return Panel(
        Group(grid, Text(spent, style="dim"), verdict_text(monitor.verdict)), title=title, subtitle="log evidence"
    )


def sparkline(values: list[float], threshold: float, width: int = 48) -> str:
    """Log evidence from 0 to its threshold as blocks; a full block is an alarm.

    >>> sparkline([0.0, 1.0, 2.0], 2.0, width=3)
    ' ▄█'
    """
    step = max(1, math.ceil(len(values) / width))
    heights = [max(values[i : i + step]) for i in range(0, len(values), step)]
    shares = [0.0 if math.isnan(height) else min(max(height / threshold, 0.0), 1.0) for height in heights]
    return "".join(_LEVELS[int(share * (len(_LEVELS) - 1))] for share in shares)
