"""Many streams of many cases, on all cores, with exact binomial bounds on what was counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing import get_context
from types import TracebackType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from driftjudge.lab.planner.designs import Design
from driftjudge.lab.planner.streams import Case, Moves, Outcome, Seeded
from driftjudge.lab.planner.target import Assumptions
from driftjudge.lab.planner.world import World
from driftjudge.lab.simulate import NEVER
from driftjudge.monitor import MonitorConfig

CHUNK = 10
"""Streams of one case that a worker runs in a row."""

Progress = Callable[[str, int, int], None]
"""What is being done, how much of it is done, and how much there is."""


class Count(NamedTuple):
    """So many of so many streams."""

    hits: int
    streams: int

    @property
    def rate(self) -> float:
        """Their share."""
        return self.hits / self.streams

    @property
    def interval(self) -> tuple[float, float]:
        """Exact (Clopper-Pearson) 95 % interval.

        >>> [round(end, 3) for end in Count(57, 60).interval]
        [0.861, 0.99]
        """
        return self.at_least(0.025), self.at_most(0.025)

    def reaches(self, share: float) -> bool:
        """Whether no more than so many streams are missing, in whole streams.

        >>> Count(14, 15).reaches(0.95), Count(13, 15).reaches(0.95)
        (True, False)
        """
        return self.hits >= math.floor(share * self.streams + 1e-9)

    def at_least(self, level: float) -> float:
        """Exact lower bound: above the true rate with probability at most `level`."""
        return 0.0 if self.hits == 0 else float(beta.ppf(level, self.hits, self.streams - self.hits + 1))

    def at_most(self, level: float) -> float:
        """Exact upper bound: below the true rate with probability at most `level`."""
        return 1.0 if self.hits == self.streams else float(beta.isf(level, self.hits + 1, self.streams - self.hits))


@dataclass(frozen=True)
class Runs:
    """The outcomes of a case, one per seed."""

    case: Case
    age: int
    verdicts: tuple[str, ...]
    blamed: tuple[bool, ...]
    system_at: NDArray[np.int64]
    judge_at: NDArray[np.int64]
    sampled: NDArray[np.float64]
    """Share of items the strong judge saw."""

    @property
    def delays(self) -> NDArray[np.int64]:
        """Items from the change to the alarm of whoever changed; NEVER where somebody else got the blame.

        An alarm before the change is false, whatever happens later.
        """
        at = self.judge_at if self.case.truth == "judge" else self.system_at
        right = {"system": ("system", "unattributed"), "judge": ("judge",), "none": ()}[self.case.truth]
        found = np.array([verdict in right for verdict in self.verdicts])
        return np.where(found & (at > self.age) & (at < NEVER), at - self.age, NEVER)

    @property
    def caught(self) -> Count:
        """Changes caught within the case's window and blamed on the right one."""
        return Count(int((self.delays <= self.case.within).sum()), len(self.verdicts))

    @property
    def spilled(self) -> Count:
        """Streams in which the system is reported to have dropped."""
        return Count(sum(self.blamed), len(self.verdicts))

    @property
    def false_alarms(self) -> tuple[Count, Count]:
        """System and judge alarms; on streams in which nothing changes, all of them are false."""
        return tuple(  # type: ignore[return-value]
            Count(int((at < NEVER).sum()), len(self.verdicts)) for at in (self.system_at, self.judge_at)
        )

    def delay(self, share: float) -> int | None:
        """Items within which this share of the changes was caught; None where fewer were."""
        needed = max(1, math.floor(share * len(self.delays) + 1e-9))
        value = int(np.sort(self.delays)[needed - 1])
        return None if value >= NEVER else value


def joined(first: Runs, more: Runs) -> Runs:
    """The runs of one case on two sets of seeds."""
    return replace(
        first,
        verdicts=first.verdicts + more.verdicts,
        blamed=first.blamed + more.blamed,
        system_at=np.concatenate([first.system_at, more.system_at]),
        judge_at=np.concatenate([first.judge_at, more.judge_at]),
        sampled=np.concatenate([first.sampled, more.sampled]),
    )


class Bench:
    """Runs cases; with more than one worker in processes of their own, which must be closed again."""

    def __init__(
        self,
        world: World,
        base: MonitorConfig,
        assumptions: Assumptions,
        *,
        workers: int = 1,
        on_progress: Progress = lambda *_: None,
    ) -> None:
        self.world, self.base, self.assumptions = world, base, assumptions
        self._tell = on_progress
        self._pool: ProcessPoolExecutor | None = None
        if workers > 1:
            # One stream here first: whatever must be compiled is compiled once and kept for the workers.
            _Bench(world, base, assumptions).run([_SMALLEST], range(1))
            # Spawned, not forked: a progress bar and a table reader may already have started threads.
            self._pool = ProcessPoolExecutor(
                workers, get_context("spawn"), initializer=_Bench.setup, initargs=(world, base, assumptions)
            )

    def __enter__(self) -> Bench:
        """Close with the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the processes; after a mistake, without finishing what they were given."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def run(self, cases: Iterable[Case], seeds: range, doing: str) -> dict[Case, Runs]:
        """All cases on the streams of the same seeds."""
        wanted = list(dict.fromkeys(cases))
        chunks = [seeds[i : i + CHUNK] for i in range(0, len(seeds), CHUNK)]
        found: dict[Case, dict[int, Outcome]] = {case: {} for case in wanted}
        for done, (chunk, outcomes) in enumerate(self._outcomes(wanted, chunks), start=1):
            for case, row in zip(wanted, outcomes, strict=True):
                found[case].update(zip(chunk, row, strict=True))
            self._tell(doing, done, len(chunks))
        return {case: self._runs(case, [found[case][seed] for seed in seeds]) for case in wanted}

    def scan(
        self,
        cases: Iterable[Case],
        seeds: range,
        doing: str,
        worth_more: Callable[[Mapping[Case, Runs]], Iterable[Case]],
    ) -> dict[Case, Runs]:
        """All cases on the first third of the streams, and those that are then worth it on the rest."""
        third = seeds[: max(1, len(seeds) // 3)]
        found = self.run(cases, third, doing)
        further = list(worth_more(found))
        more = self.run(further, seeds[len(third) :], doing) if further else {}
        return {case: joined(runs, more[case]) if case in more else runs for case, runs in found.items()}

    def _outcomes(self, cases: list[Case], chunks: list[range]) -> Iterable[tuple[range, list[list[Outcome]]]]:
        if self._pool is None:
            local = _Bench(self.world, self.base, self.assumptions)
            for chunk in chunks:
                yield chunk, local.run(cases, chunk)
            return
        futures = {self._pool.submit(_Bench.run_here, cases, chunk): chunk for chunk in chunks}
        for future in as_completed(futures):
            yield futures[future], future.result()

    def _runs(self, case: Case, outcomes: Sequence[Outcome]) -> Runs:
        verdicts, blamed, system_at, judge_at, calls, items = zip(*outcomes, strict=True)
        sampled = np.array(calls) / np.maximum(np.array(items), 1)
        return Runs(case, self.assumptions.age, verdicts, blamed, np.array(system_at), np.array(judge_at), sampled)


_SMALLEST = Case("judge", Design(0.5, 100, 4, 5, 10, 10), calibration=500, within=500, shift=-0.2)


class _Bench:
    """What a worker keeps: the population, and how scores move in it."""

    here: _Bench

    def __init__(self, world: World, base: MonitorConfig, assumptions: Assumptions) -> None:
        self.world, self.base, self.assumptions = world, base, assumptions
        self.moves: dict[tuple[object, ...], Moves] = {}

    @classmethod
    def setup(cls, world: World, base: MonitorConfig, assumptions: Assumptions) -> None:
        cls.here = cls(world, base, assumptions)

    @classmethod
    def run_here(cls, cases: list[Case], seeds: range) -> list[list[Outcome]]:
        return cls.here.run(cases, seeds)

    def run(self, cases: list[Case], seeds: range) -> list[list[Outcome]]:
        drawn = [Seeded(self.world, self.base, self.assumptions, seed, self.moves) for seed in seeds]
        return [[one.run(case) for one in drawn] for case in cases]
