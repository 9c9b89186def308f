"""How far the judge moved and whether it agrees better with the humans, from the re-scores since its alarm."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from driftjudge.monitor import AnchorSet, Monitor, MonitorConfig
from driftjudge.monitor.correction import new_correction, take_measure
from driftjudge.monitor.measured import Measured
from driftjudge.stats._jit import COMPILED
from tests.monitor.builders import bars_at, make_config
from tests.validity.exact import assert_rate_at_most

ANCHORS = 40
Table = NDArray[np.float64]


def measured(
    config: MonitorConfig, human: Table, passes: Table, answers: Table, anchors: NDArray[np.int64]
) -> Measured:
    """Re-scores `answers` of the drawn `anchors` beside a baseline of these passes."""
    frozen = AnchorSet(ids=[str(a) for a in range(len(human))], human=human, passes=passes)
    monitor = Monitor(config, calibration=bars_at(0.75, config), anchors=frozen)
    assert monitor.baseline is not None
    correction, _ = new_correction(config, monitor.calibration, frozen, monitor.baseline, local=False)
    for anchor, scores in zip(anchors.tolist(), answers, strict=True):
        take_measure(correction, anchor, scores)
    return Measured(config, frozen, monitor.baseline, correction)


def steady(now: float, human: float, count: int = 120, passes: int = 6) -> Measured:
    """A judge that always said 0.5 and now always says `now`."""
    config = make_config()
    drawn = np.arange(count) % ANCHORS
    table = np.full((ANCHORS, 2), 0.5)
    return measured(config, np.full((ANCHORS, 2), human), np.array([table] * passes), np.full((count, 2), now), drawn)


def test_the_shift_is_inside_a_narrow_interval() -> None:
    change = steady(0.25, 0.5).shift(0)
    assert change.now - change.before == pytest.approx(-0.25)
    assert -0.4 < change.low < -0.25 < change.high < -0.1
    assert change.rescores == 120


@pytest.mark.parametrize(
    ("now", "human", "reading"), [(0.25, 0.5, "worse"), (0.25, 0.25, "better"), (0.25, 0.375, None)]
)
def test_whether_the_new_judge_agrees_better_or_worse(now: float, human: float, reading: str | None) -> None:
    overall, *rubrics = steady(now, human).agreements()
    assert [part.rubric for part in (overall, *rubrics)] == ["*", "helpfulness", "correctness"]
    assert overall.before == pytest.approx(abs(0.5 - human))
    assert overall.now == pytest.approx(abs(now - human))
    assert {part.reading for part in (overall, *rubrics)} == {reading or "no difference shown"}


def test_one_baseline_pass_leaves_the_old_judge_uncertain() -> None:
    alone, six = steady(0.25, 0.5, passes=1).shift(0), steady(0.25, 0.5).shift(0)
    assert alone.high - alone.low > six.high - six.low + 0.2


def test_before_the_first_re_score_nothing_is_known() -> None:
    change = steady(0.25, 0.5, count=0).shift(0)
    assert (change.low, change.high, change.rescores) == (-1.0, 1.0, 0)
    assert np.isnan(change.now)


@pytest.mark.skipif(not COMPILED, reason="many bisections take too long without numba")
def test_all_intervals_hold_together_except_with_alpha() -> None:
    config, rng, misses = make_config(alpha_judge=0.3, screen=False), np.random.default_rng(41), 0
    human = np.random.default_rng(42).uniform(0.2, 0.8, (ANCHORS, 2))
    settled = np.random.default_rng(43).uniform(0.3, 0.7, (ANCHORS, 2))
    spread = np.array([-0.2, 0.0, 0.0, 0.1])
    old_law, new_law = settled[:, :, None] + spread, settled[:, :, None] + 0.5 * spread - 0.1
    old_distance = np.abs(old_law - human[:, :, None]).mean(axis=(0, 2))
    new_distance = np.abs(new_law - human[:, :, None]).mean(axis=(0, 2))
    shift = new_law.mean(axis=(0, 2)) - old_law.mean(axis=(0, 2))
    for _ in range(120):
        passes = settled + rng.choice(spread, size=(6, ANCHORS, 2))
        drawn = rng.integers(ANCHORS, size=100)
        answers = settled[drawn] + 0.5 * rng.choice(spread, size=(100, 2)) - 0.1
        found = measured(config, human, passes, answers, drawn)
        changes = [(found.shift(r), shift[r]) for r in range(2)]
        wrong = [not change.low <= truth <= change.high for change, truth in changes]
        apart = new_distance - old_distance
        truths = [apart.mean(), *apart]
        wrong += [not part.low <= truth <= part.high for part, truth in zip(found.agreements(), truths, strict=True)]
        misses += any(wrong)
    assert_rate_at_most(misses, 120, 0.6)  # two families of intervals, each at alpha
