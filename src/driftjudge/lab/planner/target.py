"""What is asked of a plan: the changes to catch, the limits to keep, and what is taken for granted meanwhile."""

from __future__ import annotations

import math
from dataclasses import dataclass

from driftjudge.lab.planner.errors import PlanError
from driftjudge.monitor import MonitorConfig

LONGEST = 20_000
"""Most items before a change, and most items in which to catch it: streams are simulated one by one."""
FEWEST_LABELS, MOST_LABELS = 10, 2_000


@dataclass(frozen=True)
class Target:
    """Catch this much, this soon, this surely, and spend no more than that."""

    drop: float = 0.1
    """How far the mean score of one stratum falls when the system gets worse."""
    within: int = 1000
    """Items of the whole stream, from the drop on, in which the system alarm must rise."""
    judge_shift: float = 0.05
    """How far the strong judge's mean score moves, up or down, when the judge changes."""
    judge_within: int = 2000
    """Items from the judge's change on in which the judge alarm must rise."""
    spend: float = 0.4
    """Largest running cost, as a share of asking the strong judge about everything."""
    detect: float = 0.9
    """How surely each of the two must be caught, and blamed on the right one."""
    spill: float = 0.05
    """Largest share of judge changes that may be charged to the system."""
    labels: int = 200
    """Most human labels (anchors) that can be had."""
    exempt: tuple[str, ...] = ()
    """Strata in which no drop need be caught; they are watched all the same."""

    def __post_init__(self) -> None:
        """Refuse what no stream could meet or break."""
        for name in ("drop", "judge_shift", "detect", "spill"):
            _inside(name, getattr(self, name))
        for name in ("within", "judge_within"):
            _count(name, getattr(self, name), LONGEST)
        _count("labels", self.labels, MOST_LABELS, least=FEWEST_LABELS)
        _number("spend", self.spend)
        if not (math.isfinite(self.spend) and self.spend > 0.0):
            raise PlanError(
                f"--spend is {self.spend:g}; a monitor that costs nothing sees nothing: give for example 0.4"
            )

    def check_against(self, config: MonitorConfig) -> None:
        """Refuse two limits that contradict each other before anything is simulated; the message names both."""
        if self.drop <= config.slack:
            raise PlanError(
                f"--drop {self.drop:g} and slack {config.slack:g} contradict each other: a fall within the slack is "
                f"tolerated by design; ask for a larger drop or set a smaller slack"
            )
        share = config.cheap_price / config.strong_price
        if self.spend <= share:
            raise PlanError(
                f"--spend {self.spend:g} and --cheap-price {config.cheap_price:g} contradict each other: the cheap "
                f"judge sees every item, which alone costs {share:.3g} of asking the strong judge about all; raise "
                f"--spend above that or find a cheaper cheap judge"
            )


@dataclass(frozen=True)
class Assumptions:
    """What a simulation cannot know and the user may."""

    age: int = 1000
    """Healthy items before the change: a monitor that has run for long is slower to believe in one."""
    repeat_noise: float = 0.03
    """Probability that a score moves one step when the judge is asked again; unused where passes show it."""
    cheap_sees: float = 0.0
    """Share of a drop that the cheap judge sees too; 0 is the hard case, a cheap judge that is blind to it."""
    one_rubric: bool = False
    """Whether only one rubric moves, the one whose scores vary most, instead of all of them."""
    calibration: int | None = None
    """Healthy items the bars are estimated from; left out: the table's, less the anchors."""
    label_price: float = 1.0
    """Dollars per human label."""
    lifetime: int = 100_000
    """Items over which labels and passes pay off."""

    def __post_init__(self) -> None:
        """Refuse what cannot be simulated."""
        _count("age", self.age, LONGEST, least=0)
        _count("lifetime", self.lifetime, 10**12)
        if not isinstance(self.one_rubric, bool):
            raise PlanError(f"one_rubric is {self.one_rubric!r}; give true or false")
        if self.calibration is not None:
            _count("calibration", self.calibration, 1_000_000)
        for name in ("repeat_noise", "cheap_sees"):
            _inside(name, getattr(self, name), closed=True)
        _number("label_price", self.label_price)
        if not (math.isfinite(self.label_price) and self.label_price >= 0.0):
            raise PlanError(f"--label-price is {self.label_price:g}; a price is at or above 0")


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PlanError(f"{_flag(name)} is {value!r}; give a number")


def _inside(name: str, value: float, *, closed: bool = False) -> None:
    _number(name, value)
    if not (0.0 <= value <= 1.0 if closed else 0.0 < value < 1.0):
        where = "from 0 to 1" if closed else "strictly between 0 and 1"
        raise PlanError(f"{_flag(name)} is {value:g}; give a number {where}")


def _count(name: str, value: object, most: int, *, least: int = 1) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise PlanError(f"{_flag(name)} is {value!r}; give a whole number from {least:,} to {most:,}")
