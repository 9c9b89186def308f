"""The literal monitor: the literal families, item by item, with the alarms, the burst and the verdict of equation 7."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.validity.reference import Anchors, Cells, Table
from tests.validity.reference_correction import Correction


@dataclass
class Course:
    """What a monitor went through: evidence after every item, alarms, calls, and the verdict of equation 7."""

    system: list[float] = field(default_factory=list)
    judge: list[float] = field(default_factory=list)
    system_at: int | None = None
    judge_at: int | None = None
    dropped_at: int | None = None
    """Where the system fell below even the lowered bars."""
    corrected: Cells | None = None
    strong_calls: int = 0
    anchor_calls: int = 0

    def cost_fraction(self, cheap: float, strong: float) -> float:
        items = len(self.system)
        calls = self.strong_calls + self.anchor_calls
        return (items * cheap + calls * strong) / (items * strong)

    def verdict(self, guard: int, burst: int) -> tuple[str, str]:
        if self.system_at is None:
            return ("none", "watching") if self.judge_at is None else ("judge", "final")
        if self.judge_at is not None:
            # A burst is over at the position that raised it, and stands in for the guard.
            claimed = self.judge_at <= self.system_at + (0 if burst else guard)
            return ("judge" if claimed else "system"), "final"
        closed = burst > 0 or len(self.system) >= self.system_at + guard
        return "system", "final" if closed else "pending"


def coins_of(seed: int, purpose: int, count: int) -> list[float]:
    """Uniform numbers keyed by (seed, purpose), from numpy's own generator on Philox."""
    coins: list[float] = np.random.Generator(np.random.Philox(key=[seed, purpose])).random(count).tolist()
    return coins


def run(
    cells: Cells,
    anchors: Anchors,
    correction: Correction,
    strata: Sequence[int],
    cheap: Table,
    strong: Table,
    versions: Sequence[int],
    rescored: Sequence[Sequence[Table]],
) -> Course:
    """The monitor, item by item: decide, apply the item, then re-score what is due and the burst, if one was raised."""
    config, course = cells.config, Course()
    coins = coins_of(config.seed, 1, len(strata))
    most_draws = 2 * len(strata) + config.burst + config.measure
    draw_coins, repeat_coins = (coins_of(config.seed, purpose, most_draws) for purpose in (2, 3))
    issued = done = 0
    for i, t in enumerate(strata):
        position = i + 1
        lowered = config.acquisition == "recent" and course.judge_at is not None
        pi = (correction.cells if lowered else cells).pi(t, cheap[i])
        asked = coins[i] < pi
        course.strong_calls += asked
        cells.take(t, cheap[i], asked, pi, strong[i])
        course.system.append(cells.evalue())
        issued += 1 if config.anchor_every and position % config.anchor_every == 0 else 0
        if course.system_at is None and course.system[-1] >= config.system_threshold:
            course.system_at = position
            issued += config.burst if course.judge_at is None else 0
        if course.judge_at is not None and course.dropped_at is None:
            course.corrected = correction.cells
            course.dropped_at = position if correction.take(t, cheap[i], asked, pi, strong[i]) else None
            if course.dropped_at is not None:  # what is shown needs no more labels
                correction.cells.growth = {cell: [] for cell in correction.cells.watched}
        while done < issued:
            repeats = rescored[versions[i]]
            anchor = int(draw_coins[done] * len(anchors.human))
            scores = repeats[int(repeat_coins[done] * len(repeats))][anchor]
            anchors.take(anchor, scores)
            done += 1
            course.anchor_calls += 1
            if course.judge_at is not None:
                correction.measured.append((anchor, scores))
                if len(correction.measured) == config.measure >= 10 and config.shift_share:
                    correction.lower()
            elif anchors.evalue() >= config.judge_threshold:
                course.judge_at = position
                if (
                    config.measure
                ):  # what is left of a burst helps to measure the judge, with more where it is too little
                    issued = max(issued, done + config.measure)
                else:  # or is withdrawn
                    done = issued
        course.judge.append(anchors.evalue())
    return course
