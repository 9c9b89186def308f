"""Trials of one family alone: quiet where nothing changed, and found where something did, though no oracle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from driftjudge.lab.beyond.anchor_trials import Trials, config_for, rescores_to_alarm
from driftjudge.lab.beyond.judges import Noisy
from driftjudge.lab.beyond.options import BeyondOptions
from driftjudge.lab.beyond.parts import oracle
from driftjudge.lab.beyond.paths import cell_bets, recorded
from driftjudge.lab.beyond.split import replica
from driftjudge.lab.beyond.system_trials import Drop, false_system_alarm, few_bars, late_drop, quiet_stream
from driftjudge.lab.detection import until_alarm
from driftjudge.lab.scenarios import cast, stage
from driftjudge.lab.simulate import NEVER
from driftjudge.monitor.layout import WEALTH
from driftjudge.monitor.main_process import new_main_process

SEEDS = range(4)


@pytest.mark.parametrize("preset", ["paper", "robust"])
def test_a_change_of_judge_is_found_after_it_came(preset: str) -> None:
    table = replica("tldr").table
    strong, harsh = (Noisy(table.judge(name), 0.03, 0.25) for name in ("strong", "harsh"))
    trials = rescores_to_alarm(table, config_for(table, preset), strong, harsh, SEEDS)
    assert (trials.found, trials.false_alarms) == (4, 0)
    assert trials.rescores is not None
    assert trials.rescores > 0


def test_robust_says_nothing_about_a_judge_that_never_changed() -> None:
    table = replica("tldr").table
    judge = Noisy(table.judge("strong"), 0.1, 0.25)
    trials = rescores_to_alarm(table, config_for(table, "robust"), judge, judge, SEEDS, change_at=25_000, watched=0)
    assert trials.false_alarms == 0
    assert (trials.alarm_at == NEVER).all()


def test_a_miss_counts_as_infinite_and_an_early_alarm_not_at_all() -> None:
    assert Trials(60, np.array([61, 70, NEVER])).rescores == 10
    assert Trials(60, np.array([10, NEVER, NEVER, 65])).rescores is None
    assert Trials(60, np.array([10, NEVER, 65])).false_alarms == 1
    assert Drop(np.array([0, 5, 9]), np.zeros(3)).median == 7
    assert Drop(np.array([NEVER, 5, NEVER]), np.zeros(3)).median is None


def test_few_bars_hold_an_item_of_every_stratum_and_lie_lower_in_robust() -> None:
    setting = replica("helpsteer2")
    few, many = (few_bars(setting.table, setting.config("robust"), size, 1) for size in (150, 1_200))
    assert few.counts.min() >= 1
    assert np.nanmean(few.bars - few.nulls) > np.nanmean(many.bars - many.nulls)


def test_bars_from_few_items_are_no_reason_for_robust_to_alarm() -> None:
    setting = replica("helpsteer2")
    block = quiet_stream(setting.table, 20_000, 3)
    config = setting.config("robust")
    assert not false_system_alarm(config, few_bars(setting.table, config, 150, 3), block, 3)


def test_a_late_drop_is_found_sooner_by_robust_on_the_same_streams() -> None:
    setting = replica("tldr")
    configs = {name: setting.config(name) for name in ("paper", "robust")}
    drops = late_drop(setting, {str(name): config for name, config in configs.items()}, 5_000, 5_000, 4)
    paper, robust = drops["paper"].median, drops["robust"].median
    assert paper is not None
    assert robust is not None
    assert robust < paper / 3


def test_what_was_recorded_is_what_the_monitor_did() -> None:
    setting = replica("helpsteer2")
    config, scenario = setting.config("robust", seed=2), replace(setting.scenario, condition="system")
    calibration = cast(setting.table, scenario.anchors, 2).calibration(config)
    block = stage(setting.table, config, scenario).block
    at, probabilities, asked = recorded(config, calibration, block)
    alarm, items, calls = until_alarm(config, calibration, 2, block)
    assert at == alarm == items
    assert asked[:at].sum() == calls
    assert probabilities.min() > 0.0
    first = np.flatnonzero(block.strata == block.strata[0])[:1]
    steps = cell_bets(config, calibration, block, first, probabilities, asked)
    process = new_main_process(config, calibration)
    assert steps.shape == (1, len(config.rubrics) * len(config.proxies))
    assert np.nanmin(1.0 + steps) >= -1e-9
    assert (process.cells[:, WEALTH] >= 0.0).all()


def test_nobody_is_faster_than_the_oracle() -> None:
    found = oracle.run("tldr", BeyondOptions(seeds=6))
    assert len(found.rows) == 3
    for row in found.rows:
        times = row.entries["times"].measured
        assert isinstance(times, float)
        assert times >= 1.0
