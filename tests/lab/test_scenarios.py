"""Streams with known ground truth, and the verdicts they get."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest, fisher_exact

from driftjudge.lab.scenarios import CONDITIONS, Scenario, confusion, regressed_blind, run, stage
from driftjudge.monitor import MonitorConfig
from driftjudge.monitor.config import Preset
from driftjudge.tables import ScoreTable, TableError, load_replica

SEEDS = range(60)

# Verdicts of 60 streams (none, system, judge) by the prototype on its own replica: k = 200, rate 1/5, fixed@0.3.
REFERENCE = {"none": (58, 0, 2), "system": (15, 44, 1)}
REFERENCE_LATENCY = {"synthetic": 125, "lenient": 560, "harsh": 315}


def config_for(table: ScoreTable, preset: Preset, guard: int = 300) -> MonitorConfig:
    return MonitorConfig(rubrics=table.rubrics, strata=table.stratum_names, preset=preset, guard=guard)


@pytest.fixture(scope="module")
def helpsteer2() -> ScoreTable:
    return load_replica("helpsteer2")


@pytest.fixture(scope="module")
def paper_confusion(helpsteer2: ScoreTable) -> dict[str, dict[str, int]]:
    counts = confusion(helpsteer2, config_for(helpsteer2, "paper", 50), Scenario(judge_change="synthetic"), SEEDS)
    return {str(condition): row for condition, row in counts.items()}


@pytest.mark.parametrize("condition", ["none", "system"])
def test_the_paper_preset_agrees_with_the_reference_confusion_within_binomial_noise(
    paper_confusion: dict[str, dict[str, int]], condition: str
) -> None:
    for verdict, expected in zip(("none", "system", "judge"), REFERENCE[condition], strict=True):
        found = paper_confusion[condition][verdict]
        table = [[found, len(SEEDS) - found], [expected, len(SEEDS) - expected]]
        assert fisher_exact(table).pvalue > 0.01, (condition, verdict, found, expected)


def test_the_paper_preset_charges_a_plain_judge_change_to_the_judge(paper_confusion: dict[str, dict[str, int]]) -> None:
    assert paper_confusion["judge"]["judge"] >= 57
    assert paper_confusion["both"]["judge"] >= 57


@pytest.mark.parametrize("change", ["synthetic", "lenient", "harsh"])
def test_the_paper_presets_judge_latency_is_near_the_reference(helpsteer2: ScoreTable, change: str) -> None:
    scenario = Scenario(condition="judge", judge_change=change)
    latencies = []
    for seed in SEEDS:
        verdict = run(stage(helpsteer2, replace(config_for(helpsteer2, "paper"), seed=seed), scenario)).verdict
        if verdict.judge_alarm_at is not None and verdict.judge_alarm_at > scenario.change_at:
            latencies.append(verdict.judge_alarm_at - scenario.change_at)
    assert np.median(latencies) == pytest.approx(REFERENCE_LATENCY[change], rel=0.2)


@pytest.mark.parametrize("dataset", ["helpsteer2", "tldr"])
@pytest.mark.parametrize("change", ["synthetic", "lenient", "harsh"])
def test_the_robust_preset_never_charges_the_judge_to_the_system(dataset: str, change: str) -> None:
    table = load_replica(dataset)
    counts = confusion(table, config_for(table, "robust"), Scenario(judge_change=change, repeat_noise=0.03), SEEDS)
    assert counts["judge"]["system"] == counts["both"]["system"] == 0
    for kind in ("system", "judge"):
        assert binomtest(counts["none"][kind], len(SEEDS), 0.1, alternative="greater").pvalue > 0.001
    assert counts["system"]["system"] >= 55


def test_a_stream_is_decided_by_its_seed(helpsteer2: ScoreTable) -> None:
    config = config_for(helpsteer2, "robust")
    scenario = Scenario(condition="both", repeat_noise=0.03)
    first, again = stage(helpsteer2, config, scenario), stage(helpsteer2, config, scenario)
    other = stage(helpsteer2, replace(config, seed=1), scenario)
    assert np.array_equal(first.block.strong, again.block.strong)
    assert not np.array_equal(first.block.strong, other.block.strong)


def test_before_the_change_all_conditions_are_the_same_stream(helpsteer2: ScoreTable) -> None:
    config, before = config_for(helpsteer2, "robust"), slice(0, Scenario().change_at)
    streams = [stage(helpsteer2, config, Scenario(condition=condition)).block for condition in CONDITIONS]
    for block in streams[1:]:
        assert np.array_equal(block.strong[before], streams[0].strong[before])
        assert np.array_equal(block.cheap[before], streams[0].cheap[before])


def test_a_system_drift_takes_the_target_cell_from_the_regressed_blind_pool(helpsteer2: ScoreTable) -> None:
    scenario = Scenario(condition="system")
    block = stage(helpsteer2, config_for(helpsteer2, "robust"), scenario).block
    creative = block.strata == helpsteer2.stratum_names.index("creative")
    after = np.arange(len(block)) >= scenario.change_at
    assert (block.strong[creative & after, 0] <= scenario.low).all()
    assert (block.cheap[creative & after, 0] >= scenario.blind).all()
    assert (block.strong[creative & ~after, 0] > scenario.low).any()


def test_anchors_are_held_out_of_calibration_and_stream(helpsteer2: ScoreTable) -> None:
    monitor = stage(helpsteer2, config_for(helpsteer2, "robust"), Scenario()).monitor
    assert monitor.anchors is not None
    assert not monitor.calibration.ids & set(monitor.anchors.ids)


def test_a_table_without_a_target_cell_says_which_to_name() -> None:
    scores = {judge: np.full((40, 1), 0.5) for judge in ("cheap", "strong", "human", "harsh")}
    table = ScoreTable("mine", tuple(map(str, range(40))), ("a",) * 40, ("tone",), scores)
    config = MonitorConfig(rubrics=("tone",), strata=("a",), preset="paper")
    with pytest.raises(TableError, match=r"'mine' has no target cell.*name the \(rubric, stratum\)"):
        stage(table, config, Scenario(condition="system", anchors=10))
    with pytest.raises(TableError, match="nothing to regress to"):
        stage(table, config, Scenario(condition="system", anchors=10, target=("tone", "a")))
    with pytest.raises(TableError, match="40 items cannot give 100 anchors"):
        stage(table, config, Scenario(anchors=100))


def test_the_regressed_blind_pool_is_low_and_unseen(helpsteer2: ScoreTable) -> None:
    pool = regressed_blind(helpsteer2, ("helpfulness", "creative"), Scenario(), np.arange(len(helpsteer2)))
    assert len(pool) == 21  # the size of the paper's pool
