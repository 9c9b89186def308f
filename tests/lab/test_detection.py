"""Streams that end at the first system alarm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from driftjudge.lab.detection import Detections, censors_more, cheap_in_charge, detect, same_censoring, streams
from driftjudge.lab.scenarios import stage
from driftjudge.lab.setting import Setting, Source, open_setting
from driftjudge.lab.simulate import NEVER, simulate
from driftjudge.tables import TableError

SEEDS = range(6)


@pytest.fixture(scope="module")
def setting() -> Setting:
    return open_setting(Source("tldr"))


@pytest.mark.parametrize("acquisition", ["uniform", "bandit", "boundary", "growth", "escalation", "full"])
def test_the_alarm_is_the_monitors_own_and_calls_are_counted_up_to_it(setting: Setting, acquisition: str) -> None:
    config = setting.config("paper", acquisition=acquisition, budget=0.1)
    scenario = replace(setting.scenario, condition="system")
    found = detect(setting.table, config, scenario, streams(setting.table, config, scenario, SEEDS))
    assert np.array_equal(found.alarm_at, simulate(setting.table, config, scenario, len(SEEDS)).system_at)
    for seed, stop, calls in zip(SEEDS, found.items, found.strong_calls, strict=True):
        staged = stage(setting.table, replace(config, seed=seed), scenario)
        staged.monitor.observe_block(staged.block.part(0, int(stop)))
        assert staged.monitor.cost.strong_calls == calls


def test_a_single_stratum_watches_the_pooled_stream(setting: Setting) -> None:
    config = setting.config("paper", strata=("all",))
    scenario = replace(setting.scenario, condition="system")
    blocks = streams(setting.table, setting.config("paper"), scenario, SEEDS)
    found = detect(setting.table, config, scenario, blocks)
    assert np.array_equal(found.alarm_at, simulate(setting.table, config, scenario, len(SEEDS)).system_at)


def test_the_cheap_judge_in_charge_never_reads_a_strong_score(setting: Setting) -> None:
    table = setting.table
    config, scenario = setting.config("paper", acquisition="full"), replace(setting.scenario, condition="system")
    blocks = streams(table, config, scenario, SEEDS)
    spoiled = {seed: replace(block, strong=np.zeros_like(block.strong)) for seed, block in blocks.items()}
    one, other = (detect(table, config, scenario, each, judge="cheap") for each in (blocks, spoiled))
    assert np.array_equal(one.alarm_at, other.alarm_at)
    assert np.array_equal(cheap_in_charge(table).judge("strong"), table.judge("cheap"))


def test_a_seed_whose_regressed_items_are_all_anchors_is_left_out() -> None:
    severe = open_setting(Source("helpsteer2"))
    scenario = replace(severe.scenario, condition="system", low=0.15)
    blocks = streams(severe.table, severe.config("paper"), scenario, range(30))
    assert 20 <= len(blocks) < 30


def test_a_drift_without_a_target_is_refused(setting: Setting) -> None:
    scenario = replace(setting.scenario, condition="system", target=None)
    with pytest.raises(TableError, match="needs a target cell"):
        streams(setting.table, setting.config("paper"), scenario, SEEDS)


def some(alarms: list[int]) -> Detections:
    at = np.array(alarms, dtype=np.int64)
    items = np.minimum(at, 1200)
    return Detections(300, at, items, items // 4)


def test_an_alarm_before_the_change_detects_nothing() -> None:
    found = some([200, 300, 301, 500, NEVER])
    assert found.detected.tolist() == [False, False, True, True, False]
    assert (found.censored, found.alarms, found.latency()) == (3, 4, 100.5)
    assert found.sampled_at_detection() == pytest.approx((75 / 301 + 125 / 500) / 2)


def test_nothing_detected_has_no_latency_and_no_cost() -> None:
    found = some([NEVER, 100])
    assert found.latency() is None
    assert found.sampled_at_detection() is None


def test_rates_are_told_apart_only_beyond_binomial_noise() -> None:
    few, more, all_of_them = (some([400] * (60 - missed) + [NEVER] * missed) for missed in (10, 14, 40))
    assert same_censoring(few, more)
    assert not same_censoring(few, all_of_them)
    assert censors_more(all_of_them, few)
    assert not censors_more(few, all_of_them)
    assert not censors_more(more, few)
