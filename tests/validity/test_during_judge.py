"""The system tested while the judge moves: it is not charged with what the judge did, and its own drop is seen.

The whole procedure on streams that leave it no room: cells on the very edge of their nulls, no tolerance, and a judge
whose shift is the same on every anchor and every item, so that the assumption holds exactly.
"""

from __future__ import annotations

import numpy as np
import pytest

from driftjudge.monitor import AnchorSet, Block, Monitor, MonitorConfig
from driftjudge.stats._jit import COMPILED
from tests.validity.checks import Vector
from tests.validity.exact import assert_rate_above, assert_rate_at_most
from tests.validity.main_subjects import calibration_of

pytestmark = pytest.mark.skipif(not COMPILED, reason="hundreds of streams take too long without numba")

RUBRICS, STRATA, ANCHORS, REPEATS, ITEMS, CHANGE = 2, 2, 60, 6, 3000, 200
ALPHA, RUNS = 0.3, 150


def world(
    shifts: tuple[float, float], drop: float, rng: np.random.Generator, *, strata: bool, every: int = 3
) -> tuple[Monitor, Block]:
    """The judge moves by `shifts` (one per stratum) at item CHANGE, the system drops by `drop` at the same time."""
    config = MonitorConfig(
        rubrics=("clear", "right"),
        strata=("code", "prose"),
        alpha_system=ALPHA,
        baseline_share=0.1,
        shift_share=0.5,
        shift_tolerance=0.0,
        anchor_every=every,
        measure=60,
        burst=0,
        screen=False,
        budget=0.5,
        seed=int(rng.integers(2**31)),
    )
    moved = np.array(shifts)
    settled = rng.choice([0.4, 0.5, 0.6], size=(ANCHORS, RUBRICS))
    homes = np.arange(ANCHORS) % STRATA

    def judged(scores: Vector, by: Vector) -> Vector:
        noise = np.where(rng.random(scores.shape) < 0.05, rng.choice([-0.1, 0.1], size=scores.shape), 0.0)
        return scores + noise + by

    passes = np.array([judged(settled, np.zeros((ANCHORS, 1))) for _ in range(6)])
    names = [config.strata[t] for t in homes] if strata else None
    anchors = AnchorSet(ids=[str(a) for a in range(ANCHORS)], human=settled, passes=passes, strata=names)
    means = np.full((STRATA, RUBRICS), 0.6)
    monitor = Monitor(config, calibration=calibration_of(means, means + 0.05), anchors=anchors)
    rescored = [[judged(settled, by) for _ in range(REPEATS)] for by in (np.zeros((ANCHORS, 1)), moved[homes][:, None])]
    where = rng.integers(STRATA, size=ITEMS)
    after = np.arange(ITEMS) >= CHANGE
    strong = rng.choice([0.4, 0.6, 0.8], size=(ITEMS, RUBRICS))  # 0.6 on average: exactly at the nulls
    strong = strong + np.where(after, moved[where] - drop, 0.0)[:, None]
    cheap = rng.choice([0.4, 0.6, 0.8], size=(ITEMS, RUBRICS))
    return monitor, Block(where, cheap, np.clip(strong, 0.0, 1.0), after.astype(np.int64), np.array(rescored))


def claims(shifts: tuple[float, float], drop: float, runs: int, *, strata: bool = False) -> tuple[int, int, int]:
    """In how many runs the judge alarmed, the main family did, and the system was said to have dropped as well."""
    rng = np.random.default_rng([91, round(100 * shifts[0]) % 97, round(100 * drop), strata])
    judge = system = dropped = 0
    for _ in range(runs):
        monitor, block = world(shifts, drop, rng, strata=strata)
        monitor.observe_block(block)
        verdict = monitor.verdict
        judge += verdict.judge_alarm_at is not None
        system += verdict.system_alarm_at is not None
        dropped += verdict.system_during_judge == "dropped"
    return judge, system, dropped


@pytest.mark.parametrize("shift", [-0.2, 0.1])
def test_a_judge_that_moved_is_not_charged_to_a_system_that_did_not(shift: float) -> None:
    judge, system, dropped = claims((shift, shift), 0.0, RUNS)
    assert judge > 0.9 * RUNS
    assert_rate_at_most(dropped, RUNS, ALPHA)
    if shift < 0.0:  # against the bars as they were, nearly every stream would have been
        assert_rate_above(system, RUNS, ALPHA)


def test_a_judge_that_moved_in_one_stratum_is_not_charged_to_the_system_where_anchors_carry_strata() -> None:
    judge, _, dropped = claims((-0.2, 0.0), 0.0, RUNS, strata=True)
    assert judge > 0.9 * RUNS
    assert_rate_at_most(dropped, RUNS, ALPHA)


def test_without_strata_a_judge_that_moved_in_one_stratum_breaks_the_assumption() -> None:
    _, _, dropped = claims((-0.2, 0.0), 0.0, 60)
    assert_rate_above(dropped, 60, ALPHA)


def test_a_system_that_dropped_with_the_judge_is_found() -> None:
    _, _, dropped = claims((-0.1, -0.1), 0.3, 40)
    assert_rate_above(dropped, 40, ALPHA)
