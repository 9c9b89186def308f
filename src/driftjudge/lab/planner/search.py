"""From a target to a design: the recipe's three steps on cheap simulations, then the choice on fresh ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from driftjudge.lab.planner.confirm import TRIES, Effort, Jury, jury_for, promises_of
from driftjudge.lab.planner.designs import Design
from driftjudge.lab.planner.errors import PlanError
from driftjudge.lab.planner.menus import AnchorOption, GuardOption, MainOption, anchor_menu, guard_menu, main_menu
from driftjudge.lab.planner.plan import Plan, Price, Promise
from driftjudge.lab.planner.reach import EPSILON, Reach
from driftjudge.lab.planner.streams import Seeded
from driftjudge.lab.planner.target import Assumptions, Target
from driftjudge.lab.planner.trials import Bench, Progress
from driftjudge.lab.planner.words import assumed
from driftjudge.lab.planner.world import World
from driftjudge.monitor import MonitorConfig

MOST_STRATA = 12
"""Of more strata, those in which a drop is hardest to see are simulated on fresh streams."""
MOST_SCANNED = 6
"""And fewer of them for the menu, in which easy ones say nothing."""
TRIES_OUT_OF_REACH = 2
"""A target that cannot be met in full is not worth the time of more."""
SEEDS_PER_PLAN = 10_000_000
SCANNING, REACHING, CONFIRMING = 0, 1_000_000, 2_000_000


def make_plan(
    world: World,
    base: MonitorConfig,
    target: Target,
    assumptions: Assumptions | None = None,
    *,
    seed: int = 0,
    effort: Effort | None = None,
    workers: int = 1,
    on_progress: Progress = lambda *_: None,
) -> Plan:
    """Recommend a design for the target, with promises counted on streams that had no part in the choice.

    `base` holds what is not planned: preset, error rates, slack, prices.
    """
    assumptions = assumptions or Assumptions()
    target.check_against(base)
    _check_strata(world, target)
    _check_scale(world, target)
    with Bench(world, base, assumptions, workers=workers, on_progress=on_progress) as bench:
        return _Search(bench, target, seed, effort or Effort()).plan()


def _check_strata(world: World, target: Target) -> None:
    unknown = [name for name in target.exempt if name not in world.strata]
    if unknown:
        raise PlanError(f"--except names the stratum {unknown[0]!r}; {world.name} has {', '.join(world.strata)}")
    if set(target.exempt) == set(world.strata):
        raise PlanError("--except names every stratum, so no drop is left to catch; leave at least one in")


def _check_scale(world: World, target: Target) -> None:
    """A mean cannot move beyond the ends of its scale."""
    for t, name in enumerate(world.strata):
        if name in target.exempt:
            continue
        highest = float(world.strong[world.codes == t].mean(axis=0).max())
        if target.drop >= highest:
            raise PlanError(
                f"--drop is {target.drop:g}, but the highest mean score in {name} is {highest:.2f}: it cannot "
                f"fall that far; ask for a smaller drop"
            )
    room = world.strong.mean(axis=0)
    for way, most in (("lower", float(room.max())), ("higher", float((1.0 - room).max()))):
        if target.judge_shift >= most:
            raise PlanError(
                f"--judge-shift is {target.judge_shift:g}, but scores can only move {most:.2f} {way}; ask for a "
                f"smaller one"
            )


@dataclass
class _Search:
    bench: Bench
    target: Target
    seed: int
    effort: Effort

    def __post_init__(self) -> None:
        world, assumptions = self.bench.world, self.bench.assumptions
        self.calibration = world.calibration_items(assumptions.calibration)
        self.strata = self._hardest()
        self.jury: Jury = jury_for(self.effort.fresh, len(self.strata))
        if self.target.detect > self.jury.highest:
            raise PlanError(
                f"--detect is {self.target.detect:g}; {self.jury.streams} simulated streams can promise at most "
                f"{self.jury.highest:.3f}; ask for less or simulate more with --streams"
            )
        if self.target.spill < self.jury.lowest:
            raise PlanError(
                f"--spill is {self.target.spill:g}; {self.jury.streams} simulated streams can promise no less than "
                f"{self.jury.lowest:.3f}; allow more or simulate more with --streams"
            )
        needed = self.jury.rate_for(self.target.detect)
        # The best of many choices looks better than it is: half a standard error more saves most failed confirmations.
        self.enough = min(1.0, needed + 0.5 * math.sqrt(needed * (1.0 - needed) / self.effort.scan))
        self.cheap = self.bench.base.cheap_price / self.bench.base.strong_price
        first = self.seed * SEEDS_PER_PLAN
        self.scanning = range(first + SCANNING, first + SCANNING + self.effort.scan)
        self.reaching = range(first + REACHING, first + REACHING + self.effort.scan)

    def plan(self) -> Plan:
        bench, target, calibration = self.bench, self.target, self.calibration
        main = main_menu(bench, target, calibration, self.strata[:MOST_SCANNED], self.enough, self.scanning)
        anchors = anchor_menu(bench, target, calibration, self.enough, self._price_of, self.scanning)
        reach = Reach(bench, target, calibration, self.enough, self.cheap, main, anchors, self.reaching)
        budgets = self._budgets(main, reach)
        rates = self._anchors(anchors, budgets[0])
        findings = reach.findings(budgets[0], rates[0])
        excused = reach.out_of_reach(budgets[0], rates[0])
        tries = TRIES_OUT_OF_REACH if findings else TRIES
        wider = 1
        for attempt in range(tries):
            design = _design(bench.base, budgets[0], rates[0])
            guards = guard_menu(bench, target, calibration, design, self.scanning)
            design = self._guarded(design, guards, wider)
            last = attempt + 1 == tries or self._dearer({"drop", "judge"}, budgets, rates) is None
            fresh = self._fresh(attempt)
            promises = promises_of(
                bench, target, self.jury, design, calibration, self.strata, fresh, give_up=not last, excused=excused
            )
            broken = [promise for promise in promises if not promise.kept and promise.subject not in excused]
            dearer = self._dearer({promise.about for promise in broken}, budgets, rates)
            if not broken or dearer is None or attempt + 1 == tries:
                break
            wider += any(promise.about == "spill" for promise in broken)
            budgets, rates = dearer
        findings += [
            f"Not promised: {promise.text()}, where {promise.wanted:g} was wanted{_less(promise)}."
            for promise in broken
        ]
        return self._told(design, budgets[0], promises, findings, main, anchors, guards)

    def _guarded(self, design: Design, guards: Sequence[GuardOption], wider: int) -> Design:
        """A few steps wider than the narrowest that let too little through to matter: waiting costs no dollars."""
        allowed = self.jury.rate_under(self.target.spill)
        tight = next((i for i, option in enumerate(guards) if option.spilled.rate <= allowed), len(guards) - 1)
        option = guards[min(tight + wider, len(guards) - 1)]
        return replace(design, burst=option.burst, guard=option.guard)

    def _hardest(self) -> list[int]:
        """Strata by how little a window shows of a drop: its items times the squared signal-to-noise ratio."""
        bench, world = self.bench, self.bench.world
        bars = Seeded(world, bench.base, bench.assumptions, self.seed).bars(self.calibration)
        margin = np.maximum(self.target.drop - (bars.bars - np.nan_to_num(bars.nulls, nan=-1.0)), 0.0)
        spread = np.array([world.strong[world.codes == t].std(axis=0) for t in range(len(world.strata))])
        power = world.shares * np.max((margin / np.maximum(spread, 0.01)) ** 2, axis=1)
        hardest = [t for t in np.argsort(power, kind="stable").tolist() if world.strata[t] not in self.target.exempt]
        return hardest[:MOST_STRATA]

    def _fresh(self, attempt: int) -> range:
        first = self.seed * SEEDS_PER_PLAN + CONFIRMING * (1 + attempt)
        return range(first, first + self.jury.streams)

    def _budgets(self, main: Sequence[MainOption], reach: Reach) -> list[MainOption]:
        """Budgets to try, cheapest first: enough in every stratum that any budget reaches, and affordable.

        Where none is enough, the most that the anchors leave money for.
        """
        affordable = [
            o for o in main if self.cheap + o.sampled + reach.least_for_anchors <= self.target.spend + EPSILON
        ]
        if not affordable:
            return [main[0]]
        enough = [o for o in affordable if reach.shows(o)]
        return enough or [affordable[-1]]

    def _anchors(self, anchors: Sequence[AnchorOption], budget: MainOption) -> list[AnchorOption]:
        """Anchor designs to try: those that are enough and fit beside the budget, by dollars over a lifetime.

        Where none is enough, the surest that fits.
        """
        fitting = self._fitting(anchors, budget)
        enough = sorted((o for o in fitting if o.worst.reaches(self.enough)), key=self._dollars)
        return enough or sorted(fitting or [anchors[-1]], key=lambda o: (-o.worst.rate, o.every, -o.passes))[:1]

    def _fitting(self, anchors: Sequence[AnchorOption], budget: MainOption) -> list[AnchorOption]:
        left = self.target.spend - self.cheap - budget.sampled
        return [o for o in anchors if 1.0 / o.every <= left + EPSILON]

    def _dearer(
        self, broken: set[str], budgets: list[MainOption], rates: list[AnchorOption]
    ) -> tuple[list[MainOption], list[AnchorOption]] | None:
        """The next dearer choice for whatever was not confirmed; None where nothing dearer fits."""
        budgets = budgets[1:] if "drop" in broken else budgets
        if not budgets:
            return None
        surer = [o for o in rates if o.worst.rate > rates[0].worst.rate or self._denser(o, rates[0])]
        fitting = self._fitting(surer if "judge" in broken else rates, budgets[0])
        return (budgets, fitting) if fitting else None

    @staticmethod
    def _denser(option: AnchorOption, than: AnchorOption) -> bool:
        return option.anchors >= than.anchors and option.passes >= than.passes and option.every < than.every

    def _dollars(self, option: AnchorOption) -> float:
        return self._price_of(option.anchors, option.passes, option.every)

    def _price_of(self, anchors: int, passes: int, every: int) -> float:
        """Dollars for anchors over a lifetime: labels, baseline passes, re-scores."""
        base, assumptions = self.bench.base, self.bench.assumptions
        calls = assumptions.lifetime / every + anchors * passes
        return calls * base.strong_price + anchors * assumptions.label_price

    def _told(
        self,
        design: Design,
        budget: MainOption,
        promises: list[Promise],
        findings: list[str],
        main: list[MainOption],
        anchors: list[AnchorOption],
        guards: list[GuardOption],
    ) -> Plan:
        bench, world = self.bench, self.bench.world
        price = Price(
            cheap=self.cheap,
            sampled=budget.sampled,
            rescored=1.0 / design.anchor_every,
            strong_price=bench.base.strong_price,
            labels=design.anchors,
            calls_once=design.anchors * design.passes + self.calibration,
            label_price=bench.assumptions.label_price,
        )
        return Plan(
            table=world.name,
            replica=world.replica,
            preset=bench.base.preset,
            target=self.target,
            assumptions=bench.assumptions,
            assumed=assumed(
                world, bench.assumptions, self.target, self.calibration, [world.strata[t] for t in self.strata]
            ),
            design=design,
            config=design.config(bench.base, bench.base.seed),
            price=price,
            calibration=self.calibration,
            promises=tuple(promises),
            findings=tuple(findings),
            main=tuple(main),
            anchors=tuple(anchors),
            guards=tuple(guards),
        )


def _less(promise: Promise) -> str:
    """What one could ask for instead."""
    if promise.about == "calm":
        return ""
    flag, bound = (
        ("--spill", math.ceil(promise.bound * 100)) if promise.rare else ("--detect", int(promise.bound * 100))
    )
    return f"; this design would do for {flag} {bound / 100:g}"


def _design(base: MonitorConfig, budget: MainOption, rate: AnchorOption) -> Design:
    return Design(budget.budget, rate.anchors, rate.passes, rate.every, base.burst, base.guard)
