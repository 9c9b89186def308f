"""Which cells are named at an alarm: healthy ones, on the edge of their nulls, with at most the stated chance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from driftjudge.monitor import Block, Monitor
from driftjudge.monitor.config import Preset
from driftjudge.monitor.layout import WEALTH
from driftjudge.monitor.main_process import new_main_process
from driftjudge.monitor.summary import named_cells
from driftjudge.stats._jit import COMPILED
from tests.validity.exact import assert_rate_at_most
from tests.validity.main_subjects import RUBRICS, calibration_of, config_of
from tests.validity.streams import edge_streams

ALPHA, RUNS, ITEMS = 0.3, 300, 600
DROPPED = "code"


@pytest.mark.skipif(not COMPILED, reason="hundreds of streams take too long without numba")
@pytest.mark.parametrize("preset", ["paper", "robust"])
def test_healthy_cells_are_rarely_named_beside_dropped_ones(preset: Preset) -> None:
    config = config_of(preset, "uniform", alpha_system=ALPHA, budget=0.5)
    streams = edge_streams(4)
    nulls = np.minimum(streams.means + np.array([[0.15], [0.0]]), 0.95)  # the first stratum lies below its nulls
    calibration = calibration_of(nulls, np.minimum(nulls + 0.05, 1.0))
    rng = np.random.default_rng(81)
    alarms = wrong = 0
    for run in range(RUNS):
        monitor = Monitor(replace(config, seed=run), calibration=calibration)
        nobody = np.empty((1, 1, 0, RUBRICS))
        monitor.observe_block(Block(*streams.draw(rng, ITEMS), np.zeros(ITEMS, dtype=np.int64), nobody))
        alarms += monitor.verdict.system_alarm_at is not None
        wrong += any(stratum != DROPPED for _, stratum in monitor.verdict.cells)
    assert alarms > RUNS / 2
    assert_rate_at_most(wrong, RUNS, ALPHA)


def test_cells_are_named_with_what_the_bars_have_left_of_alpha() -> None:
    config = config_of("robust", "uniform", alpha_system=0.1, baseline_share=0.2)
    main = new_main_process(config, calibration_of(np.full((2, 2), 0.6), np.full((2, 2), 0.65)))
    main.cells[:, WEALTH] = [100.0, 11.0, 11.0, 11.0]  # 11 would do for 0.1, but not for the 0.08 that are left
    assert named_cells(main, config) == ((config.rubrics[0], config.strata[0]),)
