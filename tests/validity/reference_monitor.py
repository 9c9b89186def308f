"""The literal monitor: the literal families, item by item, with the alarms, the burst and the verdict of equation 7."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.validity.reference import Anchors, Cells, Table


@dataclass
class Course:
    """What a monitor went through: evidence after every item, alarms, calls, and the verdict of equation 7."""

    system: list[float] = field(default_factory=list)
    judge: list[float] = field(default_factory=list)
    system_at: int | None = None
    judge_at: int | None = None
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
    strata: Sequence[int],
    cheap: Table,
    strong: Table,
    versions: Sequence[int],
    rescored: Sequence[Sequence[Table]],
) -> Course:
    """The monitor, item by item: decide, apply the item, then re-score what is due and the burst, if one was raised."""
    config, course = cells.config, Course()
    coins = coins_of(config.seed, 1, len(strata))
    draw_coins, repeat_coins = (coins_of(config.seed, purpose, 2 * len(strata) + config.burst) for purpose in (2, 3))
    issued = 0
    for i, t in enumerate(strata):
        position = i + 1
        pi = cells.pi(t, cheap[i])
        asked = coins[i] < pi
        course.strong_calls += asked
        cells.take(t, cheap[i], asked, pi, strong[i])
        course.system.append(cells.evalue())
        due = 1 if config.anchor_every and position % config.anchor_every == 0 else 0
        if course.system_at is None and course.system[-1] >= config.system_threshold:
            course.system_at = position
            due += config.burst if course.judge_at is None else 0
        for draw in range(issued, issued + due):
            repeats = rescored[versions[i]]
            anchor = int(draw_coins[draw] * len(anchors.human))
            anchors.take(anchor, repeats[int(repeat_coins[draw] * len(repeats))][anchor])
            course.anchor_calls += 1
            if course.judge_at is None and anchors.evalue() >= config.judge_threshold:
                course.judge_at = position
                break  # what is left of the burst is withdrawn
        issued += due
        course.judge.append(anchors.evalue())
    return course
