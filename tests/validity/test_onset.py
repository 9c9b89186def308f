"""Since when, and by how much: no theorem stands behind these intervals, so what they claim is counted."""

from __future__ import annotations

import numpy as np
import pytest

from driftjudge.monitor import Block, Monitor, MonitorConfig
from driftjudge.monitor.config import Acquisition
from driftjudge.stats._jit import COMPILED
from driftjudge.stats.onset import CLAIMED
from tests.validity.exact import assert_rate_at_most
from tests.validity.main_subjects import calibration_of
from tests.validity.streams import GRID

pytestmark = pytest.mark.skipif(not COMPILED, reason="hundreds of streams take too long without numba")

HEALTHY, RUNS, AFTER = np.array([0.0, 0.05, 0.25, 0.4, 0.3]), 120, 4000


def misses(drop: float, change: int, acquisition: Acquisition) -> tuple[int, int, int]:
    """Alarms, and at how many of them the interval of the start, or of the size, left out the truth."""
    rng = np.random.default_rng([101, round(100 * drop), change])
    alarms = when = size = 0
    for seed in range(RUNS):
        config = MonitorConfig(
            rubrics=("a", "b"),
            strata=("s", "t"),
            acquisition=acquisition,
            budget=0.3,
            seed=seed,
        )
        bars = np.full((2, 2), float(GRID @ HEALTHY))
        monitor = Monitor(config, calibration=calibration_of(bars - 0.05, bars))
        items = change + AFTER
        where = rng.integers(2, size=items)
        strong = rng.choice(GRID, p=HEALTHY, size=(items, 2))
        # A share of the scores falls to 0, which lowers the mean by `drop` and leaves the others where they are.
        hit = (np.arange(items) >= change) & (where == 0) & (rng.random(items) < drop / bars[0, 0])
        strong[hit, 0] = 0.0
        cheap = rng.choice(GRID, p=HEALTHY, size=(items, 2))
        nobody = np.empty((1, 1, 0, 2))
        monitor.observe_block(Block(where, cheap, strong, np.zeros(items, dtype=np.int64), nobody))
        if (monitor.verdict.system_alarm_at or 0) <= change:
            continue
        alarms += 1
        found = monitor.evidence().drops[0]
        when += not found.since_low <= change + 1 <= found.since_high
        size += not found.size_low <= drop <= found.size_high
    return alarms, when, size


@pytest.mark.parametrize(
    ("drop", "change", "acquisition"), [(0.15, 300, "uniform"), (0.3, 2000, "uniform"), (0.3, 2000, "recent")]
)
def test_the_intervals_hold_the_truth_as_often_as_they_claim(
    drop: float, change: int, acquisition: Acquisition
) -> None:
    alarms, when, size = misses(drop, change, acquisition)
    assert alarms > 0.7 * RUNS
    assert_rate_at_most(when, alarms, 1.0 - CLAIMED)
    assert_rate_at_most(size, alarms, 1.0 - CLAIMED)
