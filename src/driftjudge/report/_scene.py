"""What the race chart shows and on which scales; the layers in `_race.py` are drawn from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor.evidence import Evidence, Trace
from driftjudge.report._grammar import item_axis, load
from driftjudge.report._theme import Palette
from driftjudge.report._timeline import FAMILIES, Family, Timeline, has_anchors, timeline

HEIGHT = 340
ROW = 17
"""Pixels of a line of text in the strip above the evidence."""


@dataclass(frozen=True)
class Scene:
    """What is drawn and on which scales."""

    trace: Trace
    evidence: Evidence
    change_at: int | None
    palette: Palette

    @cached_property
    def time(self) -> Timeline:
        return timeline(self.trace, self.evidence)

    @cached_property
    def values(self) -> Mapping[Family, NDArray[np.float64]]:
        families = FAMILIES if has_anchors(self.trace) else ("system",)
        return {family: getattr(self.trace, family) for family in families}

    @cached_property
    def thresholds(self) -> Mapping[Family, float]:
        return {f: self.trace.system_threshold if f == "system" else self.trace.judge_threshold for f in self.values}

    @cached_property
    def domain(self) -> tuple[float, float]:
        """Lowest and highest evidence shown: some headroom above the thresholds, some room below where the lines start.

        Under Bonferroni's rule a family starts far below zero: at minus the log of its number of members.
        """
        finite = [value[np.isfinite(value)] for value in self.values.values()]
        seen = np.concatenate(finite)
        reach = max(self.thresholds.values())
        start = min(0.0, *(float(value[0]) for value in finite if len(value)))
        high = min(max(float(seen.max(initial=0.0)), 1.1 * reach), 1.3 * reach)
        low = max(float(seen.min(initial=0.0)), start - 0.5 * reach, -6.0 * reach)
        return low - 0.06 * reach, high

    @cached_property
    def rows(self) -> list[str]:
        """The lines of text above the evidence, from the top: each kind of event has its own, so none can collide."""
        alarmed = [family for family in self.values if self.time.alarms[family]]
        change = ["change"] if self.change_at is not None else []
        return [*change, *alarmed, *(["guard"] if self.time.guard else [])]

    @property
    def strip(self) -> int:
        """Pixels above the evidence; the last few are for lines that leave through the roof."""
        return ROW * len(self.rows) + 10

    @property
    def unit(self) -> float:
        """Evidence per pixel."""
        return (self.domain[1] - self.domain[0]) / (HEIGHT - self.strip)

    def colour(self, family: Family) -> str:
        return self.palette.system if family == "system" else self.palette.judge

    def row_at(self, kind: str) -> int:
        """Pixels from the top to the middle of a row."""
        return ROW * self.rows.index(kind) + ROW // 2

    def x(self) -> Any:
        return item_axis(self.time.last)

    def y(self) -> Any:
        alt = load("altair")
        scale = alt.Scale(domain=list(self.domain), range=[HEIGHT, self.strip], nice=False, zero=False)
        axis = alt.Axis(title="evidence (natural log of the e-value)", tickCount=6, format="~r", labelFlush=False)
        return alt.Y("evidence:Q", scale=scale, axis=axis)
