"""The interval for the judge's shift: right at every look, for every rubric, before and after the alarm."""

from __future__ import annotations

import numpy as np
import pytest

from driftjudge.monitor import AnchorSet, Block, Monitor, MonitorConfig
from driftjudge.stats._jit import COMPILED
from tests.validity.checks import Vector
from tests.validity.exact import assert_rate_above, assert_rate_at_most
from tests.validity.main_subjects import calibration_of
from tests.validity.streams import GRID

RUBRICS, ANCHORS, REPEATS, ITEMS, LOOKS, RUNS = 2, 40, 8, 3000, 15, 150
ALPHA = 0.2

pytestmark = pytest.mark.skipif(not COMPILED, reason="millions of re-scores take hours without numba")


def judge(shift: float, rng: np.random.Generator) -> Vector:
    """A noisy judge as the table of its equally likely answers: repeats x anchors x rubrics."""
    settled = np.random.default_rng(71).choice(GRID, size=(ANCHORS, RUBRICS))
    noise = rng.normal(scale=0.15, size=(REPEATS, ANCHORS, RUBRICS))
    return np.clip(settled + shift + noise, 0.0, 1.0)


def ever_wrong(shift: float, claimed: float, rng: np.random.Generator) -> bool:
    """Whether at any look any rubric's interval leaves out the true shift (plus `claimed`, to see a wrong one)."""
    config = MonitorConfig(
        rubrics=("clear", "right"),
        strata=("all",),
        alpha_judge=ALPHA,
        anchor_every=1,
        burst=0,
        screen=False,
        seed=int(rng.integers(2**31)),
    )
    old, new = judge(0.0, rng), judge(shift, rng)
    picks = rng.integers(REPEATS, size=(6, ANCHORS))
    passes = old[picks, np.arange(ANCHORS)]
    monitor = Monitor(
        config,
        calibration=calibration_of(np.full((1, RUBRICS), 0.5), np.full((1, RUBRICS), 0.55)),
        anchors=AnchorSet(ids=[str(a) for a in range(ANCHORS)], human=passes[0], passes=passes),
    )
    block = Block(
        np.zeros(ITEMS, dtype=np.int64),
        np.ones((ITEMS, RUBRICS)),
        np.ones((ITEMS, RUBRICS)),
        np.ones(ITEMS, dtype=np.int64),
        np.array([old, new]),
    )
    truth = new.mean(axis=(0, 1)) - old.mean(axis=(0, 1)) + claimed
    for start in range(0, ITEMS, ITEMS // LOOKS):
        monitor.observe_block(block.part(start, start + ITEMS // LOOKS))
        for r, seen in enumerate(monitor.evidence().shifts):
            if not seen.low <= truth[r] <= seen.high:
                return True
    return False


@pytest.mark.parametrize("shift", [0.0, -0.2, 0.1])
def test_the_true_shift_is_inside_at_every_look(shift: float) -> None:
    rng = np.random.default_rng([73, round(100 * shift) % 97])
    misses = sum(ever_wrong(shift, 0.0, rng) for _ in range(RUNS))
    assert_rate_at_most(misses, RUNS, ALPHA)


def test_a_shift_that_did_not_happen_is_outside() -> None:
    rng = np.random.default_rng(74)
    assert_rate_above(sum(ever_wrong(-0.2, 0.2, rng) for _ in range(40)), 40, ALPHA)
