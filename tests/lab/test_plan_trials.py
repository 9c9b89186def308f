"""Counting streams, with exact bounds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from driftjudge.lab.planner import Assumptions, world_of
from driftjudge.lab.planner.confirm import Jury
from driftjudge.lab.planner.designs import Design
from driftjudge.lab.planner.streams import Case
from driftjudge.lab.planner.trials import Bench, Count, Runs
from driftjudge.lab.simulate import NEVER
from driftjudge.monitor import MonitorConfig
from driftjudge.tables import load_replica
from driftjudge.tables.replay import Roles

DESIGN = Design(budget=0.5, anchors=50, passes=2, anchor_every=20, burst=20, guard=0)


@pytest.mark.parametrize("hits", [0, 1, 30, 59, 60])
def test_the_interval_is_the_exact_one(hits: int) -> None:
    exact = binomtest(hits, 60).proportion_ci(0.95)
    assert Count(hits, 60).interval == pytest.approx((exact.low, exact.high))


def test_a_lower_bound_lies_above_the_truth_no_more_often_than_its_level_says() -> None:
    truth, streams, level = 0.93, 300, 0.05
    wrong = [hits for hits in range(streams + 1) if Count(hits, streams).at_least(level) > truth]
    assert sum(binom.pmf(wrong, streams, truth)) <= level


def test_the_rate_a_jury_needs_is_the_smallest_that_promises_what_is_wanted() -> None:
    jury = Jury(streams=300, level=0.002)
    needed = round(jury.rate_for(0.9) * 300)
    assert Count(needed, 300).at_least(0.002) >= 0.9 > Count(needed - 1, 300).at_least(0.002)
    allowed = round(jury.rate_under(0.05) * 300)
    assert Count(allowed, 300).at_most(0.002) <= 0.05 < Count(allowed + 1, 300).at_most(0.002)


def _runs(truth: str, verdicts: tuple[str, ...], system_at: list[int], judge_at: list[int]) -> Runs:
    case = Case(truth, DESIGN, 500, within=100, shift=-0.1, stratum=0)  # type: ignore[arg-type]
    blamed = tuple(verdict == "system" for verdict in verdicts)
    nothing = np.zeros(len(verdicts))
    return Runs(case, 1_000, verdicts, blamed, np.array(system_at), np.array(judge_at), nothing)


def test_a_drop_is_caught_when_the_system_is_blamed_in_time_and_not_before_it_happened() -> None:
    in_time, late, early, wrong, never = 1_050, 1_101, 900, 1_050, NEVER
    runs = _runs(
        "system",
        ("system", "system", "system", "judge", "none"),
        [in_time, late, early, wrong, never],
        [NEVER, NEVER, NEVER, 1_050, NEVER],
    )
    assert runs.caught == Count(1, 5)
    assert runs.delay(0.2) == 50
    assert runs.delay(0.9) is None


def test_a_judge_change_that_is_charged_to_the_system_spills() -> None:
    runs = _runs("judge", ("judge", "system", "none"), [NEVER, 1_040, NEVER], [1_100, 1_200, NEVER])
    assert runs.caught == Count(1, 3)
    assert runs.spilled == Count(1, 3)


def test_two_processes_count_what_one_counts() -> None:
    world = world_of(load_replica("tldr"), Roles())
    base = MonitorConfig(rubrics=world.rubrics, strata=world.strata)
    cases = [Case("system", DESIGN, 500, 400, -0.4, stratum=0), Case("judge", DESIGN, 500, 400, -0.2)]
    counts, told = [], list[tuple[str, int, int]]()
    for workers in (1, 2):
        with Bench(
            world, base, Assumptions(age=200), workers=workers, on_progress=lambda *what: told.append(what)
        ) as bench:
            found = bench.run(cases, range(12), "counting")
        counts.append([(found[case].caught, found[case].system_at.tolist()) for case in cases])
    assert told == [("counting", 1, 2), ("counting", 2, 2)] * 2
    assert counts[0] == counts[1]
    assert counts[0][0][0].hits > 0
