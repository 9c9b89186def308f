"""The e-detector's promise: on drift-free streams alarms come at least A observations apart on average.

M - n is a supermartingale, so that for every horizon H the expectation of min(tau, H) is at least A P(tau <= H). That
is tested instead of the mean of tau itself, which a finite run cannot see: it is the same promise cut off at H.
"""

from __future__ import annotations

import numpy as np
import pytest

from driftjudge.monitor import MonitorConfig
from driftjudge.monitor import clock as ck
from driftjudge.monitor.block import _no_anchors
from driftjudge.monitor.config import Acquisition, Statistic
from driftjudge.monitor.main_process import MainProcess, new_main_process
from driftjudge.monitor.stream import run_stream
from driftjudge.stats._jit import COMPILED
from tests.validity.anchor_subjects import KINDS
from tests.validity.exact import hoeffding_margin
from tests.validity.main_subjects import ACQUISITIONS, calibration_of, config_of
from tests.validity.streams import (
    RUBRICS,
    NullStreams,
    edge_anchors,
    edge_streams,
    first_crossing,
    steady_judge,
)

pytestmark = pytest.mark.skipif(not COMPILED, reason="thousands of streams take hours without numba")

APART, HORIZON, RUNS = 200.0, 800, 3000


def promise_kept(lengths: list[int]) -> bool:
    """Whether run lengths (0: none within the horizon) are long enough, up to what chance can explain."""
    alarmed = np.array(lengths) > 0
    cut = np.where(alarmed, lengths, HORIZON)
    surplus = float(np.mean(cut - APART * alarmed))
    return surplus + hoeffding_margin(len(lengths), HORIZON + APART) >= 0.0


def main_lengths(main: MainProcess, streams: NullStreams, seed: int) -> list[int]:
    rng = np.random.default_rng([seed, 61])
    cells, strata = main.cells.copy(), main.strata.copy()
    lengths = []
    for _ in range(RUNS):
        main.cells[...], main.strata[...] = cells, strata
        clock = ck.new_clock()
        where, cheap, strong = streams.draw(rng, HORIZON)
        run_stream(
            main, _no_anchors(RUBRICS), clock, 0, 0, where, cheap, strong, rng.random(HORIZON),
            np.zeros(HORIZON, dtype=np.int64), np.empty((1, 1, 0, RUBRICS)), np.empty(0), np.empty(0), 0,
        )  # fmt: skip
        lengths.append(int(clock[ck.SYSTEM_AT]))
    return lengths


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
def test_false_system_alarms_are_far_enough_apart(acquisition: Acquisition) -> None:
    streams = edge_streams(5)
    config = config_of("robust", acquisition, run_length=APART)
    main = new_main_process(config, calibration_of(streams.means, np.minimum(streams.means + 0.05, 1.0)))
    assert promise_kept(main_lengths(main, streams, 5))


@pytest.mark.parametrize("statistic", KINDS)
def test_false_judge_alarms_are_far_enough_apart(statistic: Statistic) -> None:
    config = MonitorConfig(
        rubrics=("clear", "right"),
        strata=("all",),
        statistics=(statistic,),
        run_length=APART,
    )
    judge, table = steady_judge(6)
    rng = np.random.default_rng([6, 62])
    lengths = []
    for _ in range(RUNS):
        anchors = rng.integers(table.shape[1], size=HORIZON)
        scores = table[rng.integers(table.shape[0], size=HORIZON), anchors]
        lengths.append(int(first_crossing(edge_anchors(config, judge), anchors, scores)))
    assert promise_kept(lengths)


def test_the_count_notices_a_detector_on_a_stream_that_did_drop() -> None:
    streams = edge_streams(5)
    config = config_of("robust", "full", run_length=APART)
    nulls = np.minimum(streams.means + 0.1, 0.95)
    main = new_main_process(config, calibration_of(nulls, nulls))
    assert not promise_kept(main_lengths(main, streams, 7))
