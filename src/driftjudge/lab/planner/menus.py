"""The three steps of the recipe as menus: what each choice costs and what it catches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from driftjudge.lab.planner.designs import BUDGETS, BURSTS, EVERY, GUARDS, Design, anchor_choices, pass_choices
from driftjudge.lab.planner.streams import Case, Watch
from driftjudge.lab.planner.target import Target
from driftjudge.lab.planner.trials import Bench, Count, Runs

SPILL_SHIFTS = (1.0, 2.0, 4.0)
"""A larger judge change contaminates the main family sooner: multiples of the target's shift that are tried."""
LARGEST_SHIFT = 0.5
UNUSED = Design(budget=0.1, anchors=50, passes=2, anchor_every=50, burst=0, guard=0)
"""Stands in for the knobs that a step does not look at."""


@dataclass(frozen=True)
class MainOption:
    """Step one: a budget, and how surely it shows the target's drop in each stratum."""

    budget: float
    sampled: float
    """Share of healthy items the strong judge sees."""
    caught: dict[str, Count]
    """By stratum."""

    @property
    def worst(self) -> str:
        """The stratum in which a drop is hardest to see."""
        return min(self.caught, key=lambda name: self.caught[name].rate)


@dataclass(frozen=True)
class AnchorOption:
    """Step two: so many anchors and passes, one re-scored at every so many items."""

    anchors: int
    passes: int
    every: int
    harsher: Count
    milder: Count

    @property
    def worst(self) -> Count:
        """The direction in which a change of the judge is harder to see."""
        return min(self.harsher, self.milder, key=lambda count: count.rate)


@dataclass(frozen=True)
class GuardOption:
    """Step three: how long to wait for the anchors' word, and what is then charged to the wrong one."""

    burst: int
    guard: int
    shift: float
    """The judge change that is charged to the system most often."""
    spilled: Count


PROMISING = 0.2
"""A choice that misses the wanted rate by more than this on a few streams is not looked at on more of them."""


MOST_REFINED = 12
"""Anchor designs that are looked at on more than a few streams."""


def _promising(count: Count, enough: float) -> bool:
    return count.rate >= enough - PROMISING


def main_menu(
    bench: Bench, target: Target, calibration: int, strata: Sequence[int], enough: float, seeds: range
) -> list[MainOption]:
    """Budgets against strata; the anchors do not matter to the main family, so none are re-scored."""
    world = bench.world

    def case(budget: float, stratum: int) -> Case:
        design = replace(UNUSED, budget=budget)
        return Case("system", design, calibration, target.within, -target.drop, stratum, "main")

    def healthy(budget: float) -> Case:
        return Case("none", replace(UNUSED, budget=budget), calibration, 0, watch="main")

    plain = bench.base.acquisition == "uniform"
    cases = [case(budget, stratum) for budget in BUDGETS for stratum in strata]
    cases += [] if plain else [healthy(budget) for budget in BUDGETS]

    def worth_more(found: Mapping[Case, Runs]) -> list[Case]:
        return [case for case, runs in found.items() if case.truth == "none" or _promising(runs.caught, enough)]

    found = bench.scan(cases, seeds, "step 1 of 4: the strong judge's budget", worth_more)
    return [
        MainOption(
            budget,
            budget if plain else float(np.mean(found[healthy(budget)].sampled)),
            {world.strata[t]: found[case(budget, t)].caught for t in strata},
        )
        for budget in BUDGETS
    ]


def anchor_menu(
    bench: Bench,
    target: Target,
    calibration: int,
    enough: float,
    dollars: Callable[[int, int, int], float],
    seeds: range,
) -> list[AnchorOption]:
    """Anchors, passes and rates against the judge's shift in either direction."""

    def case(k: int, passes: int, every: int, sign: int) -> Case:
        design = replace(UNUSED, anchors=k, passes=passes, anchor_every=every)
        return Case("judge", design, calibration, target.judge_within, sign * target.judge_shift, watch="anchors")

    rates = [every for every in EVERY if every <= target.judge_within] or [EVERY[0]]
    choices = [(k, m, e) for k in anchor_choices(target.labels) for m in pass_choices(bench.base) for e in rates]
    cases = [case(*choice, sign) for choice in choices for sign in (-1, 1)]

    def worth_more(found: Mapping[Case, Runs]) -> list[Case]:
        """The cheapest few of those that may do: nobody will choose the others."""
        may_do = [c for c in choices if all(_promising(found[case(*c, sign)].caught, enough) for sign in (-1, 1))]
        cheapest = sorted(may_do, key=lambda choice: dollars(*choice))[:MOST_REFINED]
        return [case(*choice, sign) for choice in cheapest for sign in (-1, 1)]

    found = bench.scan(cases, seeds, "step 2 of 4: the anchors", worth_more)
    return [
        AnchorOption(*choice, harsher=found[case(*choice, -1)].caught, milder=found[case(*choice, 1)].caught)
        for choice in choices
    ]


def spill_cases(design: Design, target: Target, calibration: int, watch: Watch = "all") -> list[Case]:
    """A judge that turns harsher, by more and more: what the system may be blamed for."""
    shifts = dict.fromkeys(min(times * target.judge_shift, LARGEST_SHIFT) for times in SPILL_SHIFTS)
    return [Case("judge", design, calibration, target.judge_within, -shift, watch=watch) for shift in shifts]


def guard_menu(bench: Bench, target: Target, calibration: int, design: Design, seeds: range) -> list[GuardOption]:
    """Bursts, or guards in items where there is no burst, against what is charged to the system."""
    if bench.base.burst > 0:
        designs = [replace(design, burst=burst) for burst in BURSTS]
    else:
        designs = [replace(design, guard=guard) for guard in GUARDS]
    cases = {each: spill_cases(each, target, calibration, "race") for each in designs}
    found = bench.run([case for part in cases.values() for case in part], seeds, "step 3 of 4: the race")
    menu = []
    for each, part in cases.items():
        worst = max(part, key=lambda case: found[case].spilled.hits)
        menu.append(GuardOption(each.burst, each.guard, -worst.shift, found[worst].spilled))
    return menu
