"""The chosen design on fresh streams: what may be promised about it.

It was chosen among many by simulation, so the figures it was chosen by flatter it. These streams had no part in the
choice, and every bound is exact and pays for all the others and for every try.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from driftjudge.lab.planner.designs import Design
from driftjudge.lab.planner.menus import SPILL_SHIFTS, spill_cases
from driftjudge.lab.planner.plan import Promise
from driftjudge.lab.planner.streams import Case
from driftjudge.lab.planner.target import Target
from driftjudge.lab.planner.trials import Bench, Count, Runs

ERROR = 0.05
"""Probability that any of a plan's promises, of all its tries, is wrong about the simulated streams."""
TRIES = 3
SCAN_SHARE = 0.15
"""A menu needs fewer streams than a promise."""


@dataclass(frozen=True)
class Effort:
    """How many streams are simulated: more of them promise more, and take longer."""

    scan: int = 45
    """Per point of a menu."""
    fresh: int = 300
    """Per promise."""

    @classmethod
    def of(cls, fresh: int) -> Effort:
        """So many fresh streams, and menus to match.

        >>> Effort.of(300) == Effort()
        True
        """
        return cls(max(9, round(SCAN_SHARE * fresh)), fresh)


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

    def falls_short(self, count: Count, wanted: float) -> bool:
        """Whether so few are caught so far that `wanted` will hardly be promised in the end.

        >>> jury = Jury(300, 0.002)
        >>> jury.falls_short(Count(90, 100), 0.9), jury.falls_short(Count(95, 100), 0.9)
        (True, False)
        """
        needed = self.rate_for(wanted)
        return count.rate < needed - math.sqrt(needed * (1.0 - needed) / count.streams)

    def rate_under(self, wanted: float) -> float:
        """The largest share of mistakes at which no more than `wanted` of them may be promised."""
        hits = 0
        while Count(hits + 1, self.streams).at_most(self.level) <= wanted:
            hits += 1
        return hits / self.streams


def jury_for(streams: int, strata: int) -> Jury:
    """Bounds that hold together: one per stratum, two for the judge, one per spilling shift, two for calm."""
    bounds = strata + 2 + len(SPILL_SHIFTS) + 2
    return Jury(streams, ERROR / (TRIES * bounds))


def promises_of(
    bench: Bench,
    target: Target,
    jury: Jury,
    design: Design,
    calibration: int,
    strata: Sequence[int],
    seeds: range,
    *,
    give_up: bool = False,
    excused: Collection[str] = (),
) -> list[Promise]:
    """What fresh streams show of a design, with bounds.

    With `give_up` a design that falls short on the first third of the streams, other than for the `excused`, is not run
    on the rest: what is then returned must not be promised, only be tried again with a better design.
    """
    names = bench.world.strata
    drops = {t: Case("system", design, calibration, target.within, -target.drop, t) for t in strata}
    judge = {
        word: Case("judge", design, calibration, target.judge_within, sign * target.judge_shift)
        for word, sign in (("harsher", -1), ("milder", 1))
    }
    spills = spill_cases(design, target, calibration)
    calm = Case("none", design, calibration, max(target.within, target.judge_within))
    cases = list(dict.fromkeys([*drops.values(), *judge.values(), *spills, calm]))
    decisive = [case for t, case in drops.items() if names[t] not in excused]
    decisive += judge.values() if "the judge" not in excused else []

    def worth_more(found: Mapping[Case, Runs]) -> list[Case]:
        short = [case for case in decisive if jury.falls_short(found[case].caught, target.detect)]
        return [] if give_up and short else cases

    found = bench.scan(cases, seeds, "step 4 of 4: the choice on fresh streams", worth_more)

    given_up = len(found[calm].verdicts) < len(seeds)

    def caught(about: Literal["drop", "judge"], subject: str, what: str, case: Case) -> Promise:
        count = found[case].caught
        bound = count.at_least(jury.level)
        kept = not jury.falls_short(count, target.detect) if given_up else bound >= target.detect
        return Promise(about, subject, what, count, bound, target.detect, kept=kept)

    drop = f"is charged to the system within {target.within:,} items"
    promises = [
        caught("drop", names[t], f"a drop of {target.drop:g} in {names[t]} {drop}", case) for t, case in drops.items()
    ]
    shift = f"is found out within {target.judge_within:,} items"
    promises += [
        caught("judge", "the judge", f"a judge {target.judge_shift:g} {word} {shift}", case)
        for word, case in judge.items()
    ]
    for case in spills:
        count = found[case].spilled
        bound, what = count.at_most(jury.level), f"a judge {-case.shift:g} harsher is charged to the system"
        promises.append(
            Promise(
                "spill",
                "the system",
                what,
                count,
                bound,
                target.spill,
                kept=given_up or bound <= target.spill,
                rare=True,
            )
        )
    items = bench.assumptions.age + calm.within
    alphas = (bench.base.alpha_system, bench.base.alpha_judge)
    for who, count, alpha in zip(("system", "judge"), found[calm].false_alarms, alphas, strict=True):
        # The monitor's own promise, which holds for ever: kept unless these streams disprove it.
        what = f"a false {who} alarm rises in {items:,} healthy items"
        disproved = count.at_least(jury.level) > alpha
        promises.append(
            Promise("calm", who, what, count, count.at_most(jury.level), alpha, kept=not disproved, rare=True)
        )
    return promises
