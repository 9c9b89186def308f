"""One simulated stream: drawn from the population, changed as its case says, watched by a Monitor of its own."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftjudge.lab.planner.designs import Design
from driftjudge.lab.planner.shifts import Move, asked_again, move_of
from driftjudge.lab.planner.target import Assumptions
from driftjudge.lab.planner.world import World
from driftjudge.lab.simulate import NEVER
from driftjudge.monitor import AnchorSet, Block, Calibration, Monitor, MonitorConfig
from driftjudge.monitor.errors import AnchorError

REPEATS = 16
"""Answers prepared per anchor and version of the judge; a re-score picks one by coin."""
STRIDE = 250
"""Items between looks at whether everything has been decided."""

ROWS, CALIBRATION, ANCHORS, PASSES, RESCORES, LOTS = range(6)
"""What a generator of a seed is for."""

Truth = Literal["none", "system", "judge"]
Watch = Literal["main", "anchors", "race", "all"]
Moves = dict[int, Move]
"""By rubric."""


@dataclass(frozen=True)
class Case:
    """What happens in a stream and who watches it."""

    truth: Truth
    design: Design
    calibration: int
    """Healthy items the bars are estimated from."""
    within: int = 0
    """Items after the change that are simulated."""
    shift: float = 0.0
    """Signed, of the mean score: of one stratum (system) or of the judge."""
    stratum: int = -1
    watch: Watch = "all"
    """`main`: no anchors are re-scored. `anchors`: one item per re-score, none of which says anything. `race`: both,
    until there is a verdict. `all`: a monitor as it would really run, to the end of the stream."""


class Outcome(NamedTuple):
    """What a Monitor made of its stream; alarms at NEVER did not come."""

    verdict: str
    blamed: bool
    """Whether a drop of the system is reported, with or without a change of the judge."""
    system_at: int
    judge_at: int
    strong_calls: int
    items: int


@dataclass
class Seeded:
    """Everything that is drawn from one seed; cases share it, so that they differ in nothing else."""

    world: World
    base: MonitorConfig
    assumptions: Assumptions
    seed: int
    moves: dict[tuple[object, ...], Moves] = field(default_factory=dict)
    """Kept over seeds: they depend on the population alone."""
    _bars: dict[int, Calibration] = field(default_factory=dict)
    _sets: dict[tuple[int, int], AnchorSet] = field(default_factory=dict)
    _made: dict[tuple[object, ...], Monitor] = field(default_factory=dict)
    _answers: dict[tuple[int, float], NDArray[np.float64]] = field(default_factory=dict)

    def run(self, case: Case) -> Outcome:
        """Let a monitor watch the stream of a case."""
        config = case.design.config(self.base, self.seed)
        if case.watch != "all":  # what is measured after a judge alarm does not decide who is blamed for it
            config = replace(config, measure=0, shift_share=0.0)
        if case.watch == "anchors":
            return self._anchors_alone(case, config)
        age = self.assumptions.age
        length = age + case.within + (0 if config.burst else config.guard)
        monitor = self._monitor(case, config, aged=True)
        block = self._block(case, monitor, length).part(age, length)
        to_the_end = case.watch == "all" and case.truth != "system"  # nothing follows a verdict on the system
        return _watched(monitor, block, to_the_end=to_the_end)

    def _monitor(self, case: Case, config: MonitorConfig, *, aged: bool = False) -> Monitor:
        """A copy of a monitor that is made once, sharing what no stream changes.

        It has seen nothing yet, or (`aged`) all healthy items before the change, which are the same in every case.
        """
        anchored = case.watch != "main"
        key = (config, case.calibration, (case.design.anchors, case.design.passes) if anchored else None, aged)
        if key not in self._made:
            bars = self.bars(case.calibration)
            try:
                made = Monitor(config, calibration=bars, anchors=self.anchors(case.design) if anchored else None)
            except AnchorError:  # so few anchors and passes bound nothing: such a design never sees a judge change
                made = Monitor(config, calibration=bars)
            if aged and self.assumptions.age:
                made.observe_block(self._block(replace(case, truth="none"), made, self.assumptions.age))
            self._made[key] = made
        made = self._made[key]
        shared = (made.config, made.calibration, made.anchors, made.baseline)
        return copy.deepcopy(made, {id(part): part for part in shared})

    def bars(self, items: int) -> Calibration:
        """Bars from a fresh sample of healthy items, every stratum with its share."""
        if items not in self._bars:
            rng, world = self._generator(CALIBRATION), self.world
            counts = np.maximum(1, np.round(world.shares * items)).astype(int)
            rows = [rng.choice(np.flatnonzero(world.codes == t), size=n) for t, n in enumerate(counts.tolist())]
            chosen = np.concatenate(rows)
            labels = [world.strata[code] for code in world.codes[chosen]]
            self._bars[items] = Calibration.from_scores(labels, world.strong[chosen], self.base, low_bars="skip")
        return self._bars[items]

    def anchors(self, design: Design) -> AnchorSet:
        """A fresh draw of labelled items with their baseline passes."""
        key = (design.anchors, design.passes)
        if key not in self._sets:
            rows, rng = self._anchor_rows(design.anchors), self._generator(PASSES)
            passes = np.array([self._asked(rows, rng) for _ in range(design.passes)])
            ids = [f"anchor-{i}" for i in range(design.anchors)]
            named = self.world.labelled
            strata = None if named is None else [named[row] for row in rows]
            self._sets[key] = AnchorSet(ids=ids, human=self.world.human[rows], passes=passes, strata=strata)
        return self._sets[key]

    def _generator(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, purpose])

    def _anchor_rows(self, count: int) -> NDArray[np.int64]:
        """Labelled items, each once while there are enough; beyond that as if more of the same kind were labelled."""
        labelled, rng = len(self.world.human), self._generator(ANCHORS)
        once = rng.permutation(labelled)[:count]
        return np.concatenate([once, rng.integers(labelled, size=count - len(once))])

    def _asked(self, rows: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
        """The judge as it is, asked about labelled items."""
        repeats = self.world.repeats
        if len(repeats) > 1:
            scores: NDArray[np.float64] = repeats[rng.integers(len(repeats), size=len(rows)), rows]
            return scores
        return asked_again(repeats[0, rows], self.world.levels, self.assumptions.repeat_noise, rng)

    def _block(self, case: Case, monitor: Monitor, length: int) -> Block:
        world, age = self.world, self.assumptions.age
        rows = self._generator(ROWS).integers(len(world), size=length)
        lots = self._generator(LOTS).random(length)
        cheap, strong = world.cheap[rows], world.strong[rows]
        hit = np.arange(length) >= age
        if case.truth == "system":
            hit &= world.codes[rows] == case.stratum
            strong[hit] = _moved(strong[hit], lots[hit], self._moves(case, world.strong, case.shift))
            seen = case.shift * self.assumptions.cheap_sees
            cheap[hit] = _moved(cheap[hit], lots[hit], self._moves(case, world.cheap, seen))
        elif case.truth == "judge":
            strong[hit] = _moved(strong[hit], lots[hit], self._moves(case, self.world.strong, case.shift))
        versions = hit.astype(np.int64) if case.truth == "judge" else np.zeros(length, dtype=np.int64)
        return Block(world.codes[rows], cheap, strong, versions, self._rescored(case, monitor))

    def _rescored(self, case: Case, monitor: Monitor) -> NDArray[np.float64]:
        """What the old and the new judge answer on the kept anchors."""
        if monitor.baseline is None:
            return np.empty((2, 1, 0, len(self.world.rubrics)))
        shift = case.shift if case.truth == "judge" else 0.0
        answers = [self._answered(case, 0.0), self._answered(case, shift)]
        return np.array(answers)[:, :, monitor.baseline.kept]

    def _answered(self, case: Case, shift: float) -> NDArray[np.float64]:
        """What a judge that moved by `shift` answers on all anchors, so many times over."""
        count = case.design.anchors
        if (count, shift) not in self._answers:
            rng = self._generator(RESCORES)
            lots = rng.random(count)  # the new judge has one opinion of each anchor, whenever it is asked
            if shift:
                moves = self._moves(case, self.world.strong, shift)
                moved = [_moved(scores, lots, moves) for scores in self._answered(case, 0.0)]
            else:
                rows = self._anchor_rows(count)
                moved = [self._asked(rows, rng) for _ in range(REPEATS)]
            self._answers[count, shift] = np.array(moved)
        return self._answers[count, shift]

    def _anchors_alone(self, case: Case, config: MonitorConfig) -> Outcome:
        """The anchor family by itself: it sees the same re-scores whatever stands between them."""
        every, age = config.anchor_every, self.assumptions.age
        monitor = self._monitor(case, replace(config, anchor_every=1, burst=0, guard=0))
        draws = (age + case.within) // every
        if draws == 0 or monitor.baseline is None:
            return Outcome("none", False, NEVER, NEVER, 0, age + case.within)
        perfect = np.ones((draws, len(self.world.rubrics)))
        versions = (np.arange(1, draws + 1) * every > age).astype(np.int64)
        nowhere = np.zeros(draws, dtype=np.int64)
        seen = _watched(monitor, Block(nowhere, perfect, perfect, versions, self._rescored(case, monitor)))
        alarm = NEVER if seen.judge_at == NEVER else seen.judge_at * every
        return Outcome(seen.verdict, False, NEVER, alarm, 0, age + case.within)

    def moved_rubrics(self, case: Case) -> list[int]:
        """All rubrics, or the one whose scores vary most: where a drop is hardest to see."""
        world = self.world
        if not self.assumptions.one_rubric:
            return list(range(len(world.rubrics)))
        if case.truth == "judge":
            spread = np.std(world.repeats[0] - world.human, axis=0)
        else:
            spread = np.std(world.strong[world.codes == case.stratum], axis=0)
        return [int(np.argmax(spread))]

    def _moves(self, case: Case, scores: NDArray[np.float64], shift: float) -> Moves:
        """How the scores of a judge move in a case, from what they are like when all is well."""
        key = (case.truth, case.stratum, shift, scores is self.world.cheap)
        if key not in self.moves:
            members = self.world.codes == case.stratum if case.truth == "system" else slice(None)
            moved = self.moved_rubrics(case) if shift else []
            self.moves[key] = {r: move_of(scores[members, r], shift) for r in moved}
        return self.moves[key]


def _moved(scores: NDArray[np.float64], lots: NDArray[np.float64], moves: Moves) -> NDArray[np.float64]:
    """The same items move on every rubric: the hard case, in which rubrics do not make up for each other."""
    moved = scores.copy()
    for r, move in moves.items():
        moved[:, r] = move.apply(scores[:, r], lots)
    return moved


def _watched(monitor: Monitor, block: Block, *, to_the_end: bool = False) -> Outcome:
    """Run to the end of the stream, or until a verdict is final."""
    stride = max(1, len(block)) if to_the_end else STRIDE
    for start in range(0, len(block), stride):
        if monitor.verdict.status == "final" and not to_the_end:
            break
        monitor.observe_block(block.part(start, min(start + stride, len(block))))
    verdict, cost = monitor.verdict, monitor.cost
    return Outcome(
        verdict.kind,
        verdict.kind == "system" or verdict.system_during_judge == "dropped",
        verdict.system_alarm_at or NEVER,
        verdict.judge_alarm_at or NEVER,
        cost.strong_calls,
        cost.items,
    )
