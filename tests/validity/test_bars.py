"""Bars from few calibration items (statistics page, section 2, item 7): `robust` covers their error, a slack cannot."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from driftjudge.monitor import Calibration, MonitorConfig
from driftjudge.monitor import clock as ck
from driftjudge.monitor.block import _no_anchors
from driftjudge.monitor.config import Preset
from driftjudge.monitor.main_process import new_main_process
from driftjudge.monitor.stream import run_stream
from driftjudge.stats._jit import COMPILED
from tests.validity.checks import Vector
from tests.validity.exact import assert_rate_above, assert_rate_at_most
from tests.validity.streams import GRID

RUBRICS, STRATA = 5, 6
ITEMS, ALPHA = 20_000, 0.1

compiled = pytest.mark.skipif(not COMPILED, reason="millions of items take hours without numba")


def config_of(preset: Preset, **settings: float) -> MonitorConfig:
    return MonitorConfig(
        rubrics=tuple("abcde"),
        strata=tuple("uvwxyz"),
        preset=preset,
        alpha_system=settings.pop("alpha", ALPHA),
        **settings,  # type: ignore[arg-type]
    )


def healthy(level: Vector, strata: NDArray[np.int64], rng: np.random.Generator) -> tuple[Vector, Vector]:
    """Cheap and strong scores of a system that is what it always was; rubrics of one item go together."""
    common = rng.normal(size=(len(strata), 1))
    own = rng.normal(size=(len(strata), RUBRICS))
    latent = level[strata] + 0.6 * common + 0.8 * own
    strong = GRID[np.clip(np.round(2.0 + 1.2 * latent), 0, 4).astype(int)]
    cheap = GRID[np.clip(np.round(2.4 + 1.2 * latent + rng.normal(size=latent.shape)), 0, 4).astype(int)]
    return cheap, strong


def calibrated(config: MonitorConfig, count: int, rng: np.random.Generator) -> tuple[Calibration, Vector]:
    level = rng.uniform(-0.3, 1.0, size=(STRATA, RUBRICS))
    strata = np.arange(count) % STRATA
    _, strong = healthy(level, strata, rng)
    names = [config.strata[t] for t in strata]
    return Calibration.from_scores(names, strong, config, low_bars="skip"), level


def alarms(config: MonitorConfig, count: int, rng: np.random.Generator) -> bool:
    """Whether a healthy system is called worse within ITEMS items after `count` calibration items."""
    calibration, level = calibrated(config, count, rng)
    main, clock = new_main_process(config, calibration), ck.new_clock()
    strata = rng.integers(STRATA, size=ITEMS)
    cheap, strong = healthy(level, strata, rng)
    nothing = np.empty((1, 1, 0, RUBRICS))
    run_stream(
        main, _no_anchors(RUBRICS), clock, 0, 0, strata, cheap, strong, rng.random(ITEMS),
        np.zeros(ITEMS, dtype=np.int64), nothing, np.empty(0), np.empty(0), 0,
    )  # fmt: skip
    return bool(clock[ck.SYSTEM_AT])


@compiled
@pytest.mark.parametrize("count", [150, 300])
def test_robust_bars_keep_false_system_alarms_at_or_below_alpha(count: int) -> None:
    rng = np.random.default_rng([31, count])
    found = sum(alarms(config_of("robust"), count, rng) for _ in range(150))
    assert_rate_at_most(found, 150, ALPHA)


@compiled
@pytest.mark.parametrize("count", [150, 300])
def test_a_slack_of_five_hundredths_does_not_cover_so_few_calibration_items(count: int) -> None:
    rng = np.random.default_rng([31, count])
    found = sum(alarms(config_of("paper"), count, rng) for _ in range(100))
    assert_rate_above(found, 100, ALPHA)


def true_means(level: Vector) -> Vector:
    """Of each cell, exactly: a sum of tail probabilities of the normal law behind the scores."""
    edges = (np.arange(4) + 0.5 - 2.0) / 1.2
    means: Vector = norm.sf(edges - level[..., None]).sum(axis=-1) / 4.0
    return means


def test_the_true_means_are_those_of_the_streams() -> None:
    rng = np.random.default_rng(41)
    level = rng.uniform(-0.3, 1.0, size=(STRATA, RUBRICS))
    strata = np.arange(600_000) % STRATA
    _, strong = healthy(level, strata, rng)
    found = [strong[strata == t].mean(axis=0) for t in range(STRATA)]
    np.testing.assert_allclose(found, true_means(level), atol=0.006)


@pytest.mark.parametrize("count", [60, 300])
def test_all_nulls_lie_below_the_true_means_except_with_the_share_of_alpha(count: int) -> None:
    alpha, share, runs = 0.8, 0.5, 100
    config = config_of("robust", alpha=alpha, baseline_share=share, slack=0.0)
    rng = np.random.default_rng([37, count])
    wrong = 0
    for _ in range(runs):
        calibration, level = calibrated(config, count, rng)
        wrong += bool(np.any(calibration.nulls > true_means(level)))
    assert_rate_at_most(wrong, runs, alpha * share)
