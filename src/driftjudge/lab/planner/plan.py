"""What a plan says: a design, its price and its promises, the menus it was chosen from, and what is out of reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from driftjudge.lab.planner.designs import Design
from driftjudge.lab.planner.menus import AnchorOption, GuardOption, MainOption
from driftjudge.lab.planner.target import Assumptions, Target
from driftjudge.lab.planner.trials import Count
from driftjudge.monitor import MonitorConfig


@dataclass(frozen=True)
class Price:
    """What a design costs, running and once."""

    cheap: float
    sampled: float
    rescored: float
    """Shares of asking the strong judge about everything: cheap scores, strong scores, anchor re-scores."""
    strong_price: float
    labels: int
    calls_once: int
    """Strong calls before the start: baseline passes and calibration items."""
    label_price: float

    @property
    def fraction(self) -> float:
        """Running cost over asking the strong judge about everything; bursts come on top, at alarms only."""
        return self.cheap + self.sampled + self.rescored

    @property
    def per_thousand(self) -> float:
        """Dollars per 1,000 items."""
        return 1000.0 * self.fraction * self.strong_price

    @property
    def once(self) -> float:
        """Dollars before the start."""
        return self.labels * self.label_price + self.calls_once * self.strong_price


@dataclass(frozen=True)
class Promise:
    """One thing that was counted on fresh streams, with the bound that is promised."""

    about: Literal["drop", "judge", "spill", "calm"]
    subject: str
    """The stratum that drops; otherwise who."""
    what: str
    count: Count
    bound: float
    """Lower bound of a detection rate, upper bound of a spill or false-alarm rate; all hold together at 95 %."""
    wanted: float
    kept: bool
    """Whether the bound meets what was wanted."""
    rare: bool = False
    """True where the count is of mistakes, so that the bound is an upper one."""

    def text(self) -> str:
        """In words.

        >>> Promise("drop", "coding", "a drop is caught", Count(396, 400), 0.97, 0.9, True).text()
        'a drop is caught: 396 of 400 fresh streams, at least 0.97'
        """
        side = "at most" if self.rare else "at least"
        return f"{self.what}: {self.count.hits} of {self.count.streams} fresh streams, {side} {self.bound:.2f}"


@dataclass(frozen=True)
class Plan:
    """The answer of the planner."""

    table: str
    replica: bool
    preset: str
    target: Target
    assumptions: Assumptions
    assumed: tuple[str, ...]
    """Every assumption in a sentence."""
    design: Design
    config: MonitorConfig
    price: Price
    calibration: int
    promises: tuple[Promise, ...]
    findings: tuple[str, ...]
    """What is out of reach and what could be had instead; empty when the whole target is promised."""
    main: tuple[MainOption, ...]
    anchors: tuple[AnchorOption, ...]
    guards: tuple[GuardOption, ...]

    @property
    def met(self) -> bool:
        """Whether everything the target asks for is promised."""
        return not self.findings and all(promise.kept for promise in self.promises)

    def price_of(self, budget: float, every: int) -> float:
        """Running cost, as a fraction, of this design with another budget or rate."""
        sampled = next(option.sampled for option in self.main if option.budget == budget)
        return self.price.cheap + sampled + 1.0 / every

    def budgets(self) -> list[tuple[MainOption, float, float | None]]:
        """Step one at this design's anchors: option, cost fraction, points of detection per extra dollar."""
        costs = [self.price_of(option.budget, self.design.anchor_every) for option in self.main]
        rates = [option.caught[option.worst].rate for option in self.main]
        return list(zip(self.main, costs, self._marginal(costs, rates), strict=True))

    def rates(self) -> list[tuple[AnchorOption, float, float | None]]:
        """Step two at this design's budget, anchors and passes, from sparse to dense: the same three."""
        knobs = (self.design.anchors, self.design.passes)
        options = [option for option in reversed(self.anchors) if (option.anchors, option.passes) == knobs]
        costs = [self.price_of(self.design.budget, option.every) for option in options]
        return list(zip(options, costs, self._marginal(costs, [o.worst.rate for o in options]), strict=True))

    def _marginal(self, costs: Sequence[float], rates: Sequence[float]) -> list[float | None]:
        """What one dollar more per 1,000 items buys from the option before, in points of detection (0 to 100)."""
        dollars = [1000.0 * cost * self.price.strong_price for cost in costs]
        found: list[float | None] = [None]
        for i in range(1, len(costs)):
            step = dollars[i] - dollars[i - 1]
            found.append(100.0 * (rates[i] - rates[i - 1]) / step if step > 0.0 else None)
        return found[: len(costs)]

    def to_json(self) -> dict[str, Any]:
        """Everything as one JSON-able mapping."""
        return {
            "table": self.table,
            "replica": self.replica,
            "preset": self.preset,
            "met": self.met,
            "findings": list(self.findings),
            "target": asdict(self.target),
            "recommended": {**asdict(self.design), "labels": self.design.anchors, "calibration": self.calibration},
            "cost": {
                "fraction": self.price.fraction,
                "dollars_per_1000_items": self.price.per_thousand,
                "dollars_once": self.price.once,
                "strong_calls_once": self.price.calls_once,
            },
            "promises": [
                {
                    "about": p.about,
                    "what": p.what,
                    **_count(p.count),
                    "bound": p.bound,
                    "wanted": p.wanted,
                    "kept": p.kept,
                    "rare": p.rare,
                }
                for p in self.promises
            ],
            "menu": {
                "budget": [
                    {
                        "budget": option.budget,
                        "cost_fraction": cost,
                        "stratum": option.worst,
                        **_count(option.caught[option.worst]),
                        "strata": {name: _count(count) for name, count in option.caught.items()},
                        "points_per_dollar": marginal,
                    }
                    for option, cost, marginal in self.budgets()
                ],
                "anchors": [
                    {
                        "anchors": option.anchors,
                        "passes": option.passes,
                        "anchor_every": option.every,
                        "harsher": _count(option.harsher),
                        "milder": _count(option.milder),
                    }
                    for option in self.anchors
                ],
                "anchor_rate": [
                    {
                        "anchor_every": option.every,
                        "cost_fraction": cost,
                        **_count(option.worst),
                        "points_per_dollar": marginal,
                    }
                    for option, cost, marginal in self.rates()
                ],
                "guard": [
                    {"burst": o.burst, "guard": o.guard, "shift": o.shift, **_count(o.spilled)} for o in self.guards
                ],
            },
            "assumptions": list(self.assumed),
        }


def _count(count: Count) -> dict[str, Any]:
    low, high = count.interval
    return {"hits": count.hits, "streams": count.streams, "low": low, "high": high}
