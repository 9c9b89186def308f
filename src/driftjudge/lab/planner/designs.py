"""What a plan decides, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from driftjudge.monitor import MonitorConfig

BUDGETS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
ANCHORS = (50, 100, 200, 400)
PASSES = (2, 6, 10)
EVERY = (5, 10, 20, 50, 100, 200)
BURSTS = (15, 30, 60, 120)
GUARDS = (100, 300, 600, 1200)
"""Where there is no burst, the paper's guard in items."""


@dataclass(frozen=True)
class Design:
    """The knobs of the recipe: the main family's power, the anchors, and how long to wait for their word."""

    budget: float
    anchors: int
    passes: int
    anchor_every: int
    burst: int
    guard: int

    def config(self, base: MonitorConfig, seed: int) -> MonitorConfig:
        """A monitor of this design."""
        return replace(
            base,
            budget=self.budget,
            anchor_every=self.anchor_every,
            burst=self.burst,
            guard=self.guard,
            seed=seed,
        )


def pass_choices(config: MonitorConfig) -> tuple[int, ...]:
    """Baselines that are taken as exact need one pass, honest ones at least two."""
    return PASSES if config.baseline_share > 0.0 else (1,)


def anchor_choices(labels: int) -> tuple[int, ...]:
    """Sizes of the anchor set up to as many labels as can be had.

    >>> anchor_choices(150), anchor_choices(50)
    ((50, 100, 150), (50,))
    """
    return (*(k for k in ANCHORS if k < labels), labels)
