"""The anchor family under the contract: every statistic with every way to bet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from driftjudge.monitor import AnchorSet, MonitorConfig
from driftjudge.monitor.anchor_process import AnchorProcess, anchor_evalue, anchor_step, new_anchor_process
from driftjudge.monitor.baseline import Baseline, Component
from driftjudge.monitor.config import Preset, Statistic
from driftjudge.monitor.layout import CASH, COMPONENTS, EVALUE
from driftjudge.stats.anchors import ABOVE, ANY_DEPARTURE, BELOW, DEPARTURE, GAP, OF_NO_RUBRIC, PAIRED, SILENCE
from driftjudge.stats.families import AVERAGE
from tests.validity.checks import Draw, Law, Subject, Vector
from tests.validity.reference import statistic_of

RUBRICS = 2
KINDS: dict[Statistic, tuple[tuple[int, int, float], ...]] = {
    "gap": tuple((GAP, r, side) for r in range(RUBRICS) for side in (BELOW, ABOVE)),
    "paired": tuple((PAIRED, r, side) for r in range(RUBRICS) for side in (BELOW, ABOVE)),
    "fingerprint": (
        *((DEPARTURE, r, side) for r in range(RUBRICS) for side in (BELOW, ABOVE)),
        (ANY_DEPARTURE, 0, ABOVE),
        (SILENCE, 0, ABOVE),
    ),
}
KIND_NAMES = {GAP: "gap", PAIRED: "paired", DEPARTURE: "departure", ANY_DEPARTURE: "any departure", SILENCE: "silence"}

# Sixteenths: 1 - s is then exact, so that a mirror image is one to the bit.
score = st.integers(0, 16).map(lambda n: n / 16)
answer = st.one_of(score, score, score, st.just(math.nan))


class Rescore(NamedTuple):
    """What the judge answers on one anchor."""

    anchor: int
    scores: Vector


class Answers(NamedTuple):
    """A judge as an exact law: on each anchor a few score vectors with their probabilities."""

    human: Vector
    usual: Vector
    resolution: Vector
    laws: tuple[tuple[tuple[float, Vector], ...], ...]

    def outcomes(self) -> list[tuple[float, Rescore]]:
        """Every re-score of a uniformly drawn anchor."""
        anchors = len(self.laws)
        return [(p / anchors, Rescore(a, scores)) for a, law in enumerate(self.laws) for p, scores in law]

    def expectation(self, kind: int, rubric: int, direction: float) -> float:
        """Of one statistic under this judge."""
        return math.fsum(
            p
            * statistic_of(
                KIND_NAMES[kind],
                rubric,
                direction,
                outcome.scores.tolist(),
                self.human[outcome.anchor].tolist(),
                self.usual[outcome.anchor].tolist(),
                self.resolution.tolist(),
            )
            for p, outcome in self.outcomes()
        )


def process_of(config: MonitorConfig, judge: Answers, components: Sequence[Component]) -> AnchorProcess:
    """A fresh anchor process over exactly these components."""
    count = len(judge.human)
    anchors = AnchorSet(ids=[str(a) for a in range(count)], human=judge.human, passes=judge.usual[None])
    nothing = np.zeros(judge.human.shape[1])
    baseline = Baseline(
        np.arange(count), judge.usual, judge.resolution, nothing, nothing, nothing, tuple(components), ()
    )
    return new_anchor_process(config, anchors, baseline)


@dataclass
class Statistics:
    """The anchor family in some state, with a judge that keeps to its nulls."""

    config: MonitorConfig
    judge: Answers
    components: tuple[Component, ...]
    process: AnchorProcess

    def evalues(self) -> Vector:
        family = [anchor_evalue(self.process)] if self.process.alarm_rule == AVERAGE else []
        return np.concatenate([self.process.statistics[:, EVALUE], family])

    def fortunes(self) -> Vector:
        statistics, progress = self.process.statistics, self.process.progress
        return np.concatenate([statistics[:, EVALUE], statistics[:, COMPONENTS:].ravel(), progress[:, CASH]])

    def some(self, rng: np.random.Generator) -> Rescore:
        scores = rng.integers(0, 17, RUBRICS) / 16.0
        if rng.random() < 0.4:
            scores = scores.round()
        scores[rng.random(RUBRICS) < 0.05] = np.nan
        return Rescore(int(rng.integers(len(self.judge.human))), scores)

    def null_law(self, draw: Draw) -> Law:  # noqa: ARG002 - the judge was drawn with the process
        return self.judge.outcomes()

    def step(self, observation: Rescore) -> None:
        anchor_step(self.process, observation.anchor, observation.scores)

    def copy(self) -> Self:
        state = {name: getattr(self.process, name).copy() for name in ("statistics", "progress", "shifts")}
        return replace(self, process=self.process._replace(**state))

    def size(self) -> int:
        return sum(getattr(self.process, name).nbytes for name in ("statistics", "progress", "shifts"))

    def mirror(self) -> Self:
        judge = self.judge._replace(human=1.0 - self.judge.human, usual=1.0 - self.judge.usual)
        components = tuple(_turned(component) for component in self.components)
        return replace(self, judge=judge, components=components, process=process_of(self.config, judge, components))

    def reflect(self, observation: Rescore) -> Rescore:
        return Rescore(observation.anchor, 1.0 - observation.scores)


def _turned(component: Component) -> Component:
    """Means turn round with the scores; the rate of departures upwards becomes that of departures downwards."""
    if component.kind in (GAP, PAIRED):
        return replace(component, direction=-component.direction, centre=1.0 - component.centre)
    return component if component.kind in OF_NO_RUBRIC else replace(component, direction=-component.direction)


def drawn_judge(draw: Draw) -> Answers:
    """Two or three anchors, each answered in one to three ways, sometimes not at all."""
    anchors = draw(st.integers(2, 3))

    def table(entry: st.SearchStrategy[float], rows: int) -> Vector:
        return np.array([[draw(entry) for _ in range(RUBRICS)] for _ in range(rows)])

    laws = []
    for _ in range(anchors):
        counts = draw(st.lists(st.integers(1, 9), min_size=1, max_size=3))
        points = table(answer, len(counts))
        laws.append(tuple((count / sum(counts), row) for count, row in zip(counts, points, strict=True)))
    resolution = np.array([draw(st.sampled_from([1 / 32, 0.2])) for _ in range(RUBRICS)])
    return Answers(table(score, anchors), table(answer, anchors), resolution, tuple(laws))


def on_the_null(judge: Answers, kind: int, rubric: int, direction: float, share: float) -> Component:
    """A component whose null this judge meets: exactly (share 0) or with room to spare."""
    truth = judge.expectation(kind, rubric, direction)
    at = Component(kind, rubric, direction, truth)
    return replace(at, centre=truth * (1.0 - share) if at.side == BELOW else truth + (1.0 - truth) * share)


def _subject(name: str, preset: Preset, statistics: tuple[Statistic, ...], run_length: float | None = None) -> Subject:
    config = MonitorConfig(
        rubrics=("clear", "right"),
        strata=("all",),
        preset=preset,
        statistics=statistics,
        run_length=run_length,
    )

    def start(draw: Draw) -> Statistics:
        judge = drawn_judge(draw)
        share = st.one_of(st.just(0.0), st.floats(0.0, 0.9))
        found = [on_the_null(judge, *meaning, draw(share)) for s in statistics for meaning in KINDS[s]]
        components = tuple(component for component in found if 0.01 <= component.centre <= 0.99)
        assume(components)
        return Statistics(config, judge, components, process_of(config, judge, components))

    detector = run_length is not None
    return Subject(
        f"anchors-{name}-{'+'.join(statistics)}",
        start,
        start_value=0.0 if detector else 1.0,
        allowance=1.0 if detector else 0.0,
        mirrored=True,
    )


ANCHOR_SUBJECTS = (
    _subject("paper", "paper", ("gap",)),
    *(_subject("robust", "robust", (statistic,)) for statistic in KINDS),
    _subject("robust", "robust", ("gap", "fingerprint", "paired")),
    *(_subject("detector", "robust", (statistic,), 1e4) for statistic in KINDS),
)
