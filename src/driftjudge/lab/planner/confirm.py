"""The chosen design on fresh streams: what may be promised about it.

It was chosen among many by simulation, so the figures it was chosen by flatter it. These streams had no part in the
choice, and every bound is exact and pays for all the others and for every try.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from driftjudge.lab.planner.designs import Design
from driftjudge.lab.planner.menus import SPILL_SHIFTS, spill_cases
from driftjudge.lab.planner.plan import Promise
from driftjudge.lab.planner.streams import Case
from driftjudge.lab.planner.target import Target
from driftjudge.lab.planner.trials import Bench, Count

ERROR = 0.05
"""Probability that any of a plan's promises, of all its tries, is wrong about the simulated streams."""
TRIES = 3
FRESH, FRESH_IF_SURE = 400, 1000
SURE = 0.95
"""Wanting to be surer than this takes more streams."""


@dataclass(frozen=True)
class Jury:
    """How many fresh streams decide, and at which level each bound holds."""

    streams: int
    level: float

    @property
    def highest(self) -> float:
        """The most that can be promised: no miss at all."""
        return Count(self.streams, self.streams).at_least(self.level)

    @property
    def lowest(self) -> float:
        """The least that can be promised of a mistake that never occurs."""
        return Count(0, self.streams).at_most(self.level)

    def rate_for(self, wanted: float) -> float:
        """The share of streams that must be caught for `wanted` to be promised."""
        low, high = 0, self.streams
        while low < high:
            middle = (low + high) // 2
            low, high = (
                (low, middle) if Count(middle, self.streams).at_least(self.level) >= wanted else (middle + 1, high)
            )
        return low / self.streams

    def rate_under(self, wanted: float) -> float:
        """The largest share of mistakes at which no more than `wanted` of them may be promised."""
        hits = 0
        while Count(hits + 1, self.streams).at_most(self.level) <= wanted:
            hits += 1
        return hits / self.streams


def jury_for(target: Target, strata: int) -> Jury:
    """Bounds that hold together: one per stratum, two for the judge, one per spilling shift, two for calm."""
    streams = FRESH if target.detect <= SURE else FRESH_IF_SURE
    bounds = strata + 2 + len(SPILL_SHIFTS) + 2
    return Jury(streams, ERROR / (TRIES * bounds))


def promises_of(
    bench: Bench, target: Target, jury: Jury, design: Design, calibration: int, strata: Sequence[int], seeds: range
) -> list[Promise]:
    """What fresh streams show of a design, with bounds."""
    names = bench.world.strata
    drops = {t: Case("system", design, calibration, target.within, -target.drop, t) for t in strata}
    judge = {
        word: Case("judge", design, calibration, target.judge_within, sign * target.judge_shift)
        for word, sign in (("harsher", -1), ("milder", 1))
    }
    spills = spill_cases(design, target, calibration)
    calm = Case("none", design, calibration, max(target.within, target.judge_within))
    found = bench.run(
        [*drops.values(), *judge.values(), *spills, calm], seeds, "step 4 of 4: the choice on fresh streams"
    )

    def caught(about: Literal["drop", "judge"], what: str, case: Case) -> Promise:
        count = found[case].caught
        bound = count.at_least(jury.level)
        return Promise(about, what, count, bound, target.detect, kept=bound >= target.detect)

    promises = [
        caught(
            "drop",
            f"a drop of {target.drop:g} in {names[t]} is charged to the system within {target.within:,} items",
            case,
        )
        for t, case in drops.items()
    ]
    promises += [
        caught(
            "judge", f"a judge {target.judge_shift:g} {word} is found out within {target.judge_within:,} items", case
        )
        for word, case in judge.items()
    ]
    for case in spills:
        count = found[case].spilled
        bound, what = count.at_most(jury.level), f"a judge {-case.shift:g} harsher is charged to the system"
        promises.append(Promise("spill", what, count, bound, target.spill, kept=bound <= target.spill, rare=True))
    items = bench.assumptions.age + calm.within
    alphas = (bench.base.alpha_system, bench.base.alpha_judge)
    for who, count, alpha in zip(("system", "judge"), found[calm].false_alarms, alphas, strict=True):
        # The monitor's own promise, which holds for ever: kept unless these streams disprove it.
        what = f"a false {who} alarm rises in {items:,} healthy items"
        disproved = count.at_least(jury.level) > alpha
        promises.append(Promise("calm", what, count, count.at_most(jury.level), alpha, kept=not disproved, rare=True))
    return promises
