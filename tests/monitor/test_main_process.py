from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from driftjudge import Calibration, MonitorConfig
from driftjudge.monitor.layout import NULL, SEEN, SUM_D, WEALTH
from driftjudge.monitor.main_process import MainProcess, main_evalue, main_step, new_main_process
from driftjudge.stats.errors import SupermartingaleError
from tests.monitor.builders import bars_at, make_config

NOTHING = np.array([math.nan, math.nan])


def process(**settings: Any) -> MainProcess:
    config = make_config(**settings)
    return new_main_process(config, bars_at(0.7, config))


def row(*scores: float) -> NDArray[np.float64]:
    return np.array(scores)


@pytest.mark.parametrize("preset", ["paper", "robust"])
def test_a_new_family_has_wealth_1_everywhere(preset: str) -> None:
    fresh = process(preset=preset)
    assert (fresh.cells[:, WEALTH] == 1.0).all()
    assert main_evalue(fresh) == pytest.approx(1.0 if preset == "robust" else 0.25)


def test_an_e_detector_starts_from_nothing() -> None:
    assert main_evalue(process(run_length=1e6)) == 0.0


@pytest.mark.parametrize("preset", ["paper", "robust"])
def test_an_item_moves_the_cells_of_its_own_stratum_only(preset: str) -> None:
    moved = process(preset=preset)
    for _ in range(3):
        main_step(moved, 1, row(0.2, 0.2), True, 0.3, row(0.0, 0.0))
    assert (moved.cells[:2, WEALTH] == 1.0).all()
    assert (moved.cells[2:, WEALTH] > 1.0).all()
    assert moved.strata[:, SEEN].tolist() == [0.0, 3.0]


@pytest.mark.parametrize("preset", ["paper", "robust"])
def test_the_familys_e_value_is_what_the_step_returned(preset: str) -> None:
    moved = process(preset=preset)
    for _ in range(3):
        evalue = main_step(moved, 0, row(0.2, 0.9), True, 0.3, row(0.0, 1.0))
        assert main_evalue(moved) == evalue


@pytest.mark.parametrize("preset", ["paper", "robust"])
@pytest.mark.parametrize("acquisition", ["uniform", "boundary", "escalation"])
def test_a_strong_call_that_failed_counts_as_the_best_score(preset: str, acquisition: str) -> None:
    failed, best = (process(preset=preset, acquisition=acquisition) for _ in range(2))
    for scores in (row(0.5, 0.9), row(0.2, 0.2), row(1.0, 1.0)):
        main_step(failed, 0, scores, True, 1.0, NOTHING)
        main_step(best, 0, scores, True, 1.0, row(1.0, 1.0))
    assert failed.cells.tobytes() == best.cells.tobytes()


@pytest.mark.parametrize("preset", ["paper", "robust"])
def test_a_cheap_call_that_failed_counts_as_a_prediction_of_the_null(preset: str) -> None:
    failed, neutral = (process(preset=preset) for _ in range(2))
    for asked in (True, False, True):
        main_step(failed, 0, NOTHING, asked, 0.3, row(0.1, 0.6))
        main_step(neutral, 0, failed.cells[:2, NULL].copy(), asked, 0.3, row(0.1, 0.6))
    assert failed.cells.tobytes() == neutral.cells.tobytes()


def test_the_label_of_an_item_that_was_not_asked_about_is_never_read() -> None:
    one, other = process(), process()
    main_step(one, 0, row(0.5, 0.5), False, 0.3, row(0.0, 0.0))
    main_step(other, 0, row(0.5, 0.5), False, 0.3, NOTHING)
    assert one.cells.tobytes() == other.cells.tobytes()


def unwatched(config: MonitorConfig) -> Calibration:
    calibration = bars_at(0.7, config)
    calibration.nulls[0, 1] = math.nan
    return calibration


@pytest.mark.parametrize("preset", ["paper", "robust"])
def test_a_cell_that_is_not_watched_never_moves_and_costs_the_others_nothing(preset: str) -> None:
    config = make_config(preset=preset)
    partial = new_main_process(config, unwatched(config))
    for _ in range(3):
        main_step(partial, 0, row(0.0, 0.0), True, 0.3, row(0.0, 0.0))
    assert partial.cells[1, WEALTH] == partial.cells[1, SUM_D] == 0.0
    pooled = partial.cells[:, WEALTH].sum() if preset == "robust" else partial.cells[:, WEALTH].max()
    assert main_evalue(partial) == pytest.approx(pooled / 3)


@pytest.mark.parametrize("preset", ["paper", "robust"])
@pytest.mark.parametrize("acquisition", ["uniform", "boundary"])
def test_a_bet_above_its_cap_is_an_error_and_never_wealth_below_0(preset: str, acquisition: str) -> None:
    broken = process(preset=preset, acquisition=acquisition)
    broken.caps[:] = 1e6
    if preset == "paper":  # its first bet is 0
        main_step(broken, 0, row(0.0, 0.0), True, 0.3, row(0.0, 0.0))
    with pytest.raises(SupermartingaleError, match="below 0"):
        main_step(broken, 0, row(0.0, 0.0), True, 0.3, row(1.0, 1.0))


@pytest.mark.parametrize("preset", ["paper", "robust"])
@pytest.mark.parametrize("acquisition", ["full", "boundary"])
def test_a_null_at_the_best_score_leaves_every_e_value_a_number(preset: str, acquisition: str) -> None:
    """Without slack a bar of 1 is its own null; with pi = 1 no observation exceeds it, so nothing caps the bet."""
    config = make_config(preset=preset, acquisition=acquisition, slack=0.0)
    top = new_main_process(config, bars_at(1.0, config))
    for strong in (row(1.0, 1.0), row(0.5, 1.0), row(1.0, 1.0)):
        assert math.isfinite(main_step(top, 0, row(1.0, 1.0), True, 1.0, strong))
