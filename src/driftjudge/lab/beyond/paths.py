"""What the main family saw, item by item, for those who want to bet on it with more knowledge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor import Block, Calibration, MonitorConfig
from driftjudge.monitor.main_process import MainProcess, main_probability, main_step, new_main_process
from driftjudge.stats._jit import kernel
from driftjudge.stats.coins import ACQUISITION, coins
from driftjudge.stats.prediction import highest_observation, observation_cap

Vector = NDArray[np.float64]


def recorded(config: MonitorConfig, calibration: Calibration, block: Block) -> tuple[int, Vector, NDArray[np.bool_]]:
    """Position of the alarm (0 for none), and per item the probability of asking and whether it was asked about."""
    probabilities, asked = np.empty(len(block)), np.empty(len(block), dtype=np.bool_)
    process = new_main_process(config, calibration)
    tossed = coins(config.seed, ACQUISITION, 0, len(block))
    at = int(_run(process, block.strata, block.cheap, block.strong, tossed, probabilities, asked))
    return at, probabilities, asked


@kernel
def _run(
    main: MainProcess,
    strata: NDArray[np.int64],
    cheap: Vector,
    strong: Vector,
    tossed: Vector,
    probabilities: Vector,
    asked: NDArray[np.bool_],
) -> int:
    alarm = 0
    for i in range(len(strata)):
        probabilities[i] = main_probability(main, strata[i], cheap[i])
        asked[i] = tossed[i] < probabilities[i]
        evalue = main_step(main, strata[i], cheap[i], asked[i], probabilities[i], strong[i])
        if alarm == 0 and evalue >= main.threshold:
            alarm = i + 1
    return alarm


def cell_bets(
    config: MonitorConfig,
    calibration: Calibration,
    block: Block,
    items: NDArray[np.int64],
    probabilities: Vector,
    asked: NDArray[np.bool_],
) -> Vector:
    """lambda_max d of these items of one stratum, a column per rubric and proxy; NaN where a cell is not watched.

    Wealth grows by 1 + f lambda_max d when the fraction f of the cap is bet.
    """
    columns = []
    pi, ratio = probabilities[items], np.where(asked[items], 1.0 / probabilities[items], 0.0)
    for r in range(len(config.rubrics)):
        null = float(calibration.nulls[block.strata[items[0]], r])
        for omega in config.proxies:
            predicted = null + omega * (block.cheap[items, r] - null)
            d = null - (predicted + ratio * (block.strong[items, r] - predicted))
            caps = [observation_cap(highest_observation(null, omega, p), null) if null == null else np.nan for p in pi]
            columns.append(np.array(caps) * d)
    return np.column_stack(columns)
