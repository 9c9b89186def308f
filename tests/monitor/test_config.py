from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftjudge import MonitorConfig
from driftjudge.monitor.config import MOST_CELLS
from driftjudge.monitor.errors import ConfigError
from tests.monitor.builders import RUBRICS, STRATA, make_config, refused, through_json


def test_the_paper_preset_is_the_papers_procedure() -> None:
    config = make_config(preset="paper")
    assert (config.betting, config.alarm_rule, config.proxies) == ("plug-in", "bonferroni", (1.0,))
    assert (config.statistics, config.baseline_share, config.screen) == (("gap",), 0.0, False)
    assert (config.anchor_every, config.guard, config.burst) == (5, 300, 0)


def test_the_robust_preset_restarts_averages_pays_for_its_baselines_and_bursts() -> None:
    config = make_config()
    assert (config.preset, config.betting, config.alarm_rule) == ("robust", "restart", "average")
    assert (config.statistics, config.baseline_share) == (("gap", "fingerprint", "paired"), 0.2)
    assert (config.anchor_every, config.burst) == (25, 60)


def test_a_given_setting_wins_over_the_preset() -> None:
    config = make_config(preset="paper", anchor_every=11, burst=3, proxies=[0.5])
    assert (config.anchor_every, config.burst, config.proxies, config.guard) == (11, 3, (0.5,), 300)


def test_a_setting_of_zero_is_given_and_not_left_to_the_preset() -> None:
    assert make_config(anchor_every=0).anchor_every == 0
    assert make_config(burst=0).burst == 0


def test_a_config_cannot_be_changed_once_made() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        make_config().seed = 8  # type: ignore[misc]


def test_the_alarm_thresholds_leave_the_share_of_alpha_that_pays_for_the_baselines() -> None:
    paper, robust = make_config(preset="paper", alpha_system=0.05), make_config(alpha_system=0.05, alpha_judge=0.2)
    assert (paper.system_threshold, paper.judge_threshold) == (20.0, 10.0)
    assert robust.system_threshold == pytest.approx(1 / (0.05 * 0.8))
    assert robust.judge_threshold == 1 / 0.2  # a ladder of bounds costs nothing
    assert make_config(alpha_judge=0.2, ladder=False).judge_threshold == pytest.approx(1 / (0.2 * 0.8))


def test_an_e_detector_bets_against_bounds_that_simply_hold() -> None:
    assert make_config().climbs
    assert not make_config(run_length=1e6).climbs
    assert not make_config(preset="paper").climbs


def test_the_promise_in_force_is_stated_in_words() -> None:
    ever = make_config(alpha_system=0.03, alpha_judge=0.07).promise
    assert "0.03" in ever
    assert "0.07" in ever
    apart = make_config(run_length=50_000.0)
    assert "50000 items apart" in apart.promise
    assert "probability" not in apart.promise
    # One bound in fifty may fail, and a run may then be as short as it likes.
    assert apart.system_threshold == apart.judge_threshold == pytest.approx(50_000.0 / (1.0 - 0.1 * 0.2))


BAD_SETTINGS: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"alpha_system": 0.0}, ("alpha_system is 0.0", "strictly between 0 and 1")),
    ({"alpha_system": 1.0}, ("alpha_system is 1.0", "strictly between 0 and 1")),
    ({"alpha_judge": -0.1}, ("alpha_judge is -0.1", "strictly between 0 and 1")),
    ({"alpha_judge": float("nan")}, ("alpha_judge is nan", "strictly between 0 and 1")),
    ({"budget": 0.0}, ("budget is 0.0", "(0, 1]")),
    ({"budget": 1.5}, ("budget is 1.5", "(0, 1]")),
    ({"budget": float("nan")}, ("budget is nan", "(0, 1]")),
    ({"slack": -0.01}, ("slack is -0.01", "[0, 1)")),
    ({"slack": 1.0}, ("slack is 1.0", "[0, 1)")),
    ({"baseline_share": 1.0}, ("baseline_share is 1.0", "[0, 1)")),
    ({"cheap_price": -1.0}, ("cheap_price is -1.0", "at or above 0")),
    ({"strong_price": float("inf")}, ("strong_price is inf",)),
    ({"strong_price": 0.0}, ("strong_price is 0", "give what a strong call costs")),
    ({"anchor_every": -1}, ("anchor_every is -1", "whole number from 0")),
    ({"anchor_every": 2.5}, ("anchor_every is 2.5", "whole number")),
    ({"guard": -1}, ("guard is -1", "whole number")),
    ({"burst": 100_001}, ("burst is 100001", "100000")),
    ({"seed": -1}, ("seed is -1", "whole number")),
    ({"seed": True}, ("seed is True", "whole number")),
    ({"max_pending": 0}, ("max_pending is 0", "whole number from 1")),
    ({"id_memory": 0}, ("id_memory is 0", "whole number from 1")),
    ({"rubrics": ()}, ("rubrics needs at least one",)),
    ({"rubrics": ("tone", "")}, ("rubrics needs", "('tone', '')")),
    ({"rubrics": "tone"}, ("rubrics is a list", "write ('tone',)")),
    ({"strata": ("a", "b", "a")}, ("strata names 'a' twice", "once")),
    ({"strata": tuple(map(str, range(MOST_CELLS)))}, (f"{2 * MOST_CELLS} rubric x stratum cells", f"{MOST_CELLS}")),
    ({"preset": "robsut"}, ("preset is 'robsut'", "'robust', 'paper'")),
    ({"acquisition": "random"}, ("acquisition is 'random'", "'escalation'")),
    ({"betting": "kelly"}, ("betting is 'kelly'", "'plug-in'")),
    ({"alarm_rule": "max"}, ("alarm_rule is 'max'", "'bonferroni'")),
    ({"statistics": ()}, ("statistics is empty", "'gap'")),
    ({"statistics": ("gap", "mean")}, ("statistics is 'mean'", "'fingerprint'")),
    ({"bet_fractions": ()}, ("bet_fractions are ()", "ascending")),
    ({"bet_fractions": (0.5, 0.2)}, ("(0.5, 0.2)", "ascending")),
    ({"bet_fractions": (0.5, 1.2)}, ("(0.5, 1.2)", "(0, 1]")),
    ({"proxies": (0.0, 0.0)}, ("(0.0, 0.0)", "distinct")),
    ({"proxies": (1.1,)}, ("(1.1,)", "[0, 1]")),
    ({"betting": "plug-in"}, ("one proxy", "proxies=(1.0,)")),
    ({"run_length": 1.0}, ("run_length is 1.0", "above 1")),
    ({"run_length": float("inf")}, ("run_length is inf",)),
    ({"run_length": 1e6, "preset": "paper"}, ("run_length needs restart betting", "'robust'")),
]


@pytest.mark.parametrize(("settings", "words"), BAD_SETTINGS, ids=lambda value: str(value)[:60])
def test_a_setting_that_cannot_work_is_refused_with_its_value(settings: dict[str, Any], words: tuple[str, ...]) -> None:
    with refused(ConfigError, *words):
        make_config(**settings)


@pytest.mark.parametrize(
    "settings",
    [
        {"alpha_system": "0.1"},
        {"budget": "half"},
        {"slack": "0.05"},
        {"cheap_price": "free"},
        {"run_length": "long"},
        {"bet_fractions": ("a",)},
        {"proxies": ("a",)},
        {"rubrics": 5},
        {"rubrics": (1, 2)},
        {"seed": "7"},
    ],
    ids=str,
)
def test_a_setting_of_the_wrong_type_is_refused_by_name(settings: dict[str, Any]) -> None:
    with refused(ConfigError, next(iter(settings))):
        make_config(**settings)


def test_an_unknown_setting_is_refused_with_the_nearest_known_one() -> None:
    with refused(ConfigError, "'bugdet'", "did you mean 'budget'?"):
        MonitorConfig.from_json({"rubrics": RUBRICS, "strata": STRATA, "bugdet": 0.3})


def test_an_unknown_setting_near_nothing_is_refused_with_the_list_of_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"unknown setting 'zzz'; known settings: rubrics, strata, .*id_memory"):
        MonitorConfig.from_json({"rubrics": RUBRICS, "strata": STRATA, "zzz": 1})


@pytest.mark.parametrize("missing", ["rubrics", "strata"])
def test_a_config_file_without_rubrics_or_strata_says_which_is_missing(missing: str) -> None:
    data = {"rubrics": list(RUBRICS), "strata": list(STRATA)}
    del data[missing]
    with refused(ConfigError, f"{missing!r} is missing", f"list of {missing}"):
        MonitorConfig.from_json(data)


@given(
    preset=st.sampled_from(["paper", "robust"]),
    alpha=st.floats(0.0, 1.0, exclude_min=True, exclude_max=True),
    budget=st.floats(0.0, 1.0, exclude_min=True),
    seed=st.integers(0, 2**63 - 1),
    names=st.lists(st.text(min_size=1), min_size=1, max_size=4, unique=True),
)
def test_a_config_comes_back_from_json_equal(
    preset: str, alpha: float, budget: float, seed: int, names: list[str]
) -> None:
    config = make_config(preset=preset, alpha_judge=alpha, budget=budget, seed=seed, rubrics=names)
    assert MonitorConfig.from_json(through_json(config.to_json())) == config
