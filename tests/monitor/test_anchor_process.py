from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from driftjudge.monitor.anchor_process import AnchorProcess, anchor_evalue, anchor_step, new_anchor_process
from driftjudge.monitor.baseline import make_baseline
from driftjudge.monitor.layout import CAP, CASH, CENTRE, COMPONENTS, EVALUE, RUNG_HEAD, WORTH
from driftjudge.stats.anchors import ABOVE, ANY_DEPARTURE, BELOW, DEPARTURE, GAP
from driftjudge.stats.errors import SupermartingaleError
from driftjudge.stats.intervals import COUNT
from driftjudge.stats.ladder import STEPS
from tests.monitor.builders import make_anchors, make_config


def process(**settings: Any) -> AnchorProcess:
    config, anchors = make_config(**settings), make_anchors()
    return new_anchor_process(config, anchors, make_baseline(anchors, config))


def rescored(moved: AnchorProcess, times: int, shift: float) -> AnchorProcess:
    for n in range(times):
        anchor_step(moved, n % 40, np.clip(moved.usual[n % 40] + shift, 0.0, 1.0))
    return moved


def evalues(moved: AnchorProcess, kind: int, direction: float) -> list[float]:
    wanted = (moved.meanings[:, 0] == kind) & (moved.meanings[:, 2] == int(direction))
    found: list[float] = moved.statistics[wanted, EVALUE].tolist()
    assert found
    return found


def test_a_new_family_has_an_e_value_of_1_one_on_a_ladder_what_its_lowest_rung_is_worth_and_an_e_detector_none() -> (
    None
):
    assert anchor_evalue(process(ladder=False)) == pytest.approx(1.0)
    assert anchor_evalue(process()) == pytest.approx(1.0 / len(STEPS))
    assert anchor_evalue(process(run_length=1e6)) == 0.0


@pytest.mark.parametrize("preset", ["paper", "robust"])
@pytest.mark.parametrize(("shift", "grows", "shrinks"), [(-0.25, BELOW, ABOVE), (0.25, ABOVE, BELOW)])
def test_below_grows_when_the_judge_turns_harsher_and_above_when_it_turns_more_lenient(
    preset: str, shift: float, grows: float, shrinks: float
) -> None:
    moved = rescored(process(preset=preset), 30, shift)
    start, kinds = (1.0, [GAP]) if preset == "paper" else (1.0 / len(STEPS), [GAP, DEPARTURE])
    for kind in kinds:
        assert min(evalues(moved, kind, grows)) > max(start, *evalues(moved, kind, shrinks))


def test_an_e_value_is_the_least_that_any_rung_is_worth() -> None:
    moved = rescored(process(), 12, 0.25)
    width = RUNG_HEAD + len(moved.fractions)
    cash = moved.progress[0, CASH]
    for row in moved.statistics:
        rungs = row[COMPONENTS:].reshape(-1, width)
        wealth = rungs[:, RUNG_HEAD:].mean(axis=1) + cash
        assert row[EVALUE] == pytest.approx(float(np.min(rungs[:, WORTH - CENTRE] * wealth)))


def test_a_ladder_sees_a_change_before_a_single_bound_does() -> None:
    def rescores(ladder: bool) -> int:
        moved = process(ladder=ladder)
        for n in range(1, 500):
            if anchor_step(moved, 0, moved.usual[0] + (0.25 if n % 6 == 0 else 0.0)) >= moved.threshold:
                return n
        return 500

    assert rescores(ladder=True) < rescores(ladder=False)


def test_the_familys_e_value_is_what_the_step_returned() -> None:
    moved = process()
    for n in range(5):
        assert anchor_step(moved, n, moved.usual[n]) == anchor_evalue(moved)


def test_a_judge_that_repeats_itself_loses_the_familys_money_slowly() -> None:
    assert 0.0 < anchor_evalue(rescored(process(), 200, 0.0)) < 1.0


def test_a_refusal_counts_as_a_departure_of_no_direction() -> None:
    refusing = process()
    for n in range(10):
        anchor_step(refusing, n, np.array([math.nan, math.nan]))
    assert evalues(refusing, ANY_DEPARTURE, ABOVE)[0] > 10.0
    assert max(evalues(refusing, DEPARTURE, BELOW) + evalues(refusing, DEPARTURE, ABOVE)) < 1.0


def test_a_refusal_supports_no_bet_on_a_mean() -> None:
    refusing = process(preset="paper")
    for n in range(40):
        anchor_step(refusing, n, np.array([math.nan, math.nan]))
    assert max(evalues(refusing, GAP, BELOW) + evalues(refusing, GAP, ABOVE)) <= 1.0


def test_a_refusal_says_nothing_about_the_size_of_a_shift() -> None:
    refusing = process()
    anchor_step(refusing, 0, np.array([math.nan, 0.5]))
    assert refusing.shifts[:, COUNT].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("preset", ["paper", "robust"])
def test_a_bet_above_its_cap_is_an_error_and_never_an_e_value_below_0(preset: str) -> None:
    broken = process(preset=preset)
    broken.statistics[:, CAP] = 1e6
    with pytest.raises(SupermartingaleError, match="below 0"):
        rescored(rescored(broken, 1, -0.25), 40, 0.25)
