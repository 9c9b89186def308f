"""When a target cannot be met: which limits stand against each other, and the nearest thing that can be had."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from driftjudge.lab.planner.menus import UNUSED, AnchorOption, MainOption
from driftjudge.lab.planner.streams import Case
from driftjudge.lab.planner.target import LONGEST, MOST_LABELS, Target
from driftjudge.lab.planner.trials import Bench

TIMES = (1.5, 2.0, 3.0, 4.0)
"""Larger changes that are tried when the wanted one is out of reach."""
LONGER = 10
"""How many times the window is tried."""
MORE_ITEMS = 4
"""How many times the calibration items are tried."""
MORE_LABELS = (4, 16)
"""How many times the labels are tried."""
EPSILON = 1e-9
"""Sums of prices are not exact."""
MOST_OFFERS = 4
"""Of more pairs of size and window only the ends are told."""


@dataclass
class Reach:
    """What the menus leave possible."""

    bench: Bench
    target: Target
    calibration: int
    enough: float
    """The share of streams that must be caught."""
    cheap: float
    main: Sequence[MainOption]
    anchors: Sequence[AnchorOption]
    seeds: range

    def __post_init__(self) -> None:
        self.beyond = [name for name in self.main[0].caught if not any(self._seen(o, name) for o in self.main)]
        """Strata in which no budget is enough."""
        enough = [o for o in self.anchors if o.worst.reaches(self.enough)]
        self.anchors_can = bool(enough)
        self.least_for_anchors = 1.0 / max((o.every for o in enough), default=max(o.every for o in self.anchors))
        """The smallest share that buys enough anchors; where none are enough, the smallest there is."""

    def _seen(self, option: MainOption, stratum: str) -> bool:
        return option.caught[stratum].reaches(self.enough)

    def shows(self, option: MainOption) -> bool:
        """Whether a budget is enough in every stratum in which some budget is, if there is one."""
        return len(self.beyond) < len(option.caught) and all(
            self._seen(option, name) for name in option.caught if name not in self.beyond
        )

    def out_of_reach(self, budget: MainOption, rate: AnchorOption) -> set[str]:
        """Strata in which, and whether for the judge, a finding already says that the target is out of reach."""
        strata = set(self.beyond) if self.shows(budget) else set(budget.caught)
        return strata if rate.worst.reaches(self.enough) else strata | {"the judge"}

    def findings(self, budget: MainOption, rate: AnchorOption) -> list[str]:
        """One sentence or two per thing that cannot be had; none when the choice is enough."""
        said = []
        everywhere = len(self.beyond) == len(budget.caught)
        dear = not everywhere and not self.shows(budget)
        judge = not rate.worst.reaches(self.enough)
        if self.beyond:
            said.append(self._too_rare())
        over = self.cheap + budget.sampled + 1.0 / rate.every > self.target.spend + EPSILON
        if dear or over or (judge and self.anchors_can):
            given_up = "gives up the former" if dear else "gives up the latter" if judge else "overspends"
            said.append(self._contradiction(given_up))
        if self.beyond or dear:
            said.append(self._nearest_drop(budget))
        if judge:
            said.append(self._nearest_judge(rate))
        return said

    # What stands against what.

    def _wish(self) -> str:
        return f"--drop {self.target.drop:g} --within {self.target.within:,}"

    def _judge_wish(self) -> str:
        return f"--judge-shift {self.target.judge_shift:g} --judge-within {self.target.judge_within:,}"

    def _too_rare(self) -> str:
        world, target = self.bench.world, self.target
        surest = self.main[-1].caught
        worst = min(self.beyond, key=lambda name: surest[name].rate)
        share, count = float(world.shares[world.strata.index(worst)]), surest[worst]
        others = [name for name in self.beyond if name != worst]
        more = f", nor for {', '.join(others)}" if others else ""
        rest = (
            ""
            if len(self.beyond) == len(surest)
            else f" The design is for the other strata; --except {','.join((*target.exempt, *self.beyond))} makes that "
            f"the target."
        )
        return (
            f"To catch a drop of {target.drop:g} within {target.within:,} items {target.detect:.0%} of the time cannot "
            f"be promised for {worst} at any budget{more}: about {share * target.within:,.0f} of those items are "
            f"{worst}'s, and asking the strong judge about all of them catches {count.hits} of {count.streams} "
            f"such drops.{rest}"
        )

    def _contradiction(self, given_up: str) -> str:
        """Two limits, or three where each pair would do."""
        spend = self.target.spend
        enough = next((o for o in self.main if self.shows(o)), None)
        drop = self.cheap + (enough or self.main[0]).sampled
        judge = self.cheap + self.least_for_anchors
        if enough is not None and drop > spend:
            return (
                f"{self._wish()} and --spend {spend:g} contradict each other: the cheapest budget that catches it "
                f"costs {drop:.2f} before any anchor, {drop + self.least_for_anchors:.2f} with them."
            )
        if judge > spend:
            return (
                f"{self._judge_wish()} and --spend {spend:g} contradict each other: the sparsest anchors that catch it "
                f"cost {judge:.2f} before any strong score of an item."
            )
        if enough is None:
            return (
                f"--spend {spend:g} does not hold {self._judge_wish()} and any strong scores of items: the sparsest "
                f"anchors and the smallest budget cost {drop + self.least_for_anchors:.2f}."
            )
        return (
            f"--spend {spend:g} holds {self._wish()} ({drop:.2f}) or {self._judge_wish()} ({judge:.2f}) but not both: "
            f"together they cost {drop + self.least_for_anchors:.2f}. The design below {given_up}."
        )

    # The nearest thing.

    def _nearest_drop(self, budget: MainOption) -> str:
        """Other windows, drops, calibrations and prices for the stratum that is hardest at this budget."""
        target, world = self.target, self.bench.world
        stratum = world.strata.index(budget.worst)
        design = replace(UNUSED, budget=budget.budget)
        highest = float(world.strong[world.codes == stratum].mean(axis=0).max())
        longest = min(LONGER * target.within, LONGEST)
        wished = Case("system", design, self.calibration, longest, -target.drop, stratum, "main")
        drops = {target.drop * times: replace(wished, shift=-target.drop * times) for times in (1.0, *TIMES)}
        drops = {drop: case for drop, case in drops.items() if drop < highest}
        recalibrated = replace(wished, calibration=MORE_ITEMS * self.calibration)
        found = self.bench.run([*drops.values(), recalibrated], self.seeds, "looking for what can be had")
        delays = {drop: found[case].delay(self.enough) for drop, case in drops.items()}
        options = [f"a drop of {drop:.2g} within {_rounded(d):,} items" for drop, d in _useful(delays, target.within)]
        delay = found[recalibrated].delay(self.enough)
        if delay is not None and delay < (delays[target.drop] or delay + 1):
            options.append(
                f"with bars from {MORE_ITEMS * self.calibration:,} calibration items, a drop of {target.drop:g} within "
                f"{_rounded(delay):,}"
            )
        dearer = next((o for o in self.main if self._seen(o, budget.worst)), None)
        if dearer is not None and dearer.budget > budget.budget:
            options.append(f"what was asked, at --spend {self.cheap + dearer.sampled + self.least_for_anchors:.2f}")
        if not options:
            return f"At budget {budget.budget:g} nothing near it can be had in {budget.worst}: merge it with another."
        return f"At budget {budget.budget:g} one could have, in {budget.worst}: {'; or '.join(options)}."

    def _nearest_judge(self, rate: AnchorOption) -> str:
        target = self.target
        design = replace(UNUSED, anchors=rate.anchors, passes=rate.passes, anchor_every=rate.every)
        sign = -1 if rate.harsher.rate <= rate.milder.rate else 1
        longest = min(LONGER * target.judge_within, LONGEST)
        wished = Case("judge", design, self.calibration, longest, sign * target.judge_shift, watch="anchors")
        shifts = {
            target.judge_shift * times: replace(wished, shift=sign * target.judge_shift * times)
            for times in (1.0, *TIMES)
            if target.judge_shift * times < 1.0
        }
        labels = dict.fromkeys(min(times * target.labels, MOST_LABELS) for times in MORE_LABELS)
        labelled = {k: replace(wished, design=replace(design, anchors=k)) for k in labels}
        found = self.bench.run([*shifts.values(), *labelled.values()], self.seeds, "looking for what can be had")
        delays = {shift: found[case].delay(self.enough) for shift, case in shifts.items()}
        options = [f"a shift of {s:.2g} within {_rounded(d):,} items" for s, d in _useful(delays, target.judge_within)]
        caught = {k: found[case].delay(self.enough) or LONGEST + 1 for k, case in labelled.items()}
        needed, more = next((k for k, delay in caught.items() if delay <= target.judge_within), None), ""
        if needed is not None:
            options.append(f"what was asked, with {needed:,} labels")
            if not self.anchors_can:
                more = f"{self._judge_wish()} and --labels {target.labels:,} contradict each other. "
        what = f"With {rate.anchors:,} anchors, {rate.passes} passes and one re-score every {rate.every} items"
        if not options:
            return f"{what} nothing near {self._judge_wish()} can be had."
        return f"{more}{what} one could have: {'; or '.join(options)}."


def _useful(delays: Mapping[float, int | None], within: int) -> list[tuple[float, int]]:
    """Sizes with their windows, up to the first size that is caught within the wanted one."""
    found: list[tuple[float, int]] = []
    for size, delay in delays.items():
        if delay is not None:
            if not found or _rounded(delay) < _rounded(found[-1][1]):
                found.append((size, delay))
            if delay <= within:
                break
    return [found[0], found[-1]] if len(found) > MOST_OFFERS else found


def _rounded(items: int) -> int:
    """Up to two significant digits.

    >>> _rounded(1234), _rounded(87)
    (1300, 87)
    """
    unit = int(10 ** max(0, int(math.log10(max(items, 1))) - 1))
    return math.ceil(items / unit) * unit
