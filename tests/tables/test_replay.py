"""A whole table through the Monitor, from Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import driftjudge
from driftjudge import MonitorConfig, Roles, ScoreTable, load_replica, read_table, replay
from driftjudge.tables import TableError

KHAN = Path(__file__).resolve().parents[3] / "shared" / "data" / "khan_saq" / "scores.parquet"


def test_a_judge_that_takes_over_half_way_is_found_and_dated() -> None:
    table = load_replica("helpsteer2")
    result = replay(table, roles=Roles(strong_after="harsh"), shuffle=True)
    assert result.verdict.kind == "judge"
    assert result.change_at is not None
    assert result.verdict.judge_alarm_at is not None
    assert result.verdict.judge_alarm_at >= result.change_at
    assert result.replica
    assert all(change in ("harsher", "different") for _, change in result.verdict.rubrics)


def test_without_a_change_nothing_is_found() -> None:
    assert replay(load_replica("helpsteer2"), shuffle=True).verdict.kind == "none"


def test_the_same_seed_gives_the_same_replay_and_another_seed_other_coins() -> None:
    table = load_replica("tldr")
    configs = [MonitorConfig(rubrics=table.rubrics, strata=table.stratum_names, seed=seed) for seed in (1, 1, 2)]
    first, again, other = (replay(table, config, shuffle=True) for config in configs)
    assert first.monitor.snapshot() == again.monitor.snapshot()
    assert first.trace.strong_calls.tolist() != other.trace.strong_calls.tolist()


def test_a_subset_of_rubrics_can_be_watched() -> None:
    table = load_replica("helpsteer2")
    config = MonitorConfig(rubrics=("coherence", "helpfulness"), strata=table.stratum_names)
    result = replay(table, config, shuffle=True)
    bars = {(cell.rubric, cell.stratum): cell.bar for cell in result.evidence.cells}
    assert bars["coherence", "coding"] > 0.85  # near the ceiling in the replica
    assert bars["helpfulness", "coding"] < 0.85


def test_the_trace_covers_the_stream_and_never_runs_backwards() -> None:
    result = replay(load_replica("tldr"), shuffle=True)
    trace = result.trace
    assert trace.position[-1] == result.evidence.cost.items
    assert (np.diff(trace.position) > 0).all()
    assert (np.diff(trace.strong_calls) >= 0).all()
    assert len(trace.position) <= 400


def test_later_rescorings_show_the_judge_in_force() -> None:
    table = load_replica("helpsteer2")
    stream, anchors = table.take(range(200, len(table))), table.take(range(200))
    quiet = replay(stream, roles=Roles(), anchors=anchors, shuffle=True)
    passes = ("strong",) * 6  # the table repeats itself
    moved = replay(stream, roles=Roles(passes=passes, rescored={"harsh": 300}), anchors=anchors, shuffle=True)
    assert quiet.verdict.kind == "none"
    assert moved.verdict.kind == "judge"
    assert moved.verdict.judge_alarm_at is not None
    assert moved.verdict.judge_alarm_at >= 300


def test_anchors_are_taken_from_early_items_whose_scores_are_of_time_0() -> None:
    table = load_replica("helpsteer2")
    result = replay(table, roles=Roles(rescored={"strong": 1}), anchors=100, calibration=0.3)
    assert result.monitor.anchors is not None
    rows = [table.ids.index(anchor) for anchor in result.monitor.anchors.ids]
    assert max(rows) < 100 + 0.3 * (len(table) - 100)
    assert result.split == (100, 419, 979)
    assert result.id_at(1) == result.watched[0]


@pytest.mark.skipif(not KHAN.exists(), reason=f"the real table {KHAN.parent.name}/{KHAN.name} is not here")
def test_a_real_judge_upgrade_is_charged_to_the_judge() -> None:
    table = read_table(KHAN)
    roles = Roles(cheap="j_gpt_4o_mini_none", strong="j_gpt_4o_none", strong_after="j_o4_mini_none")
    config = MonitorConfig(rubrics=table.rubrics, strata=table.stratum_names, anchor_every=5)
    assert replay(table, config, roles=roles, shuffle=True).verdict.kind == "judge"
    unchanged = Roles(cheap="j_gpt_4o_mini_none", strong="j_gpt_4o_none")
    assert replay(table, config, roles=unchanged, shuffle=True).verdict.kind == "none"


LATER = Roles(rescored={"strong": 1})
PAPER = MonitorConfig(rubrics=("tone",), strata=("a", "b"), preset="paper")


@pytest.fixture
def small() -> ScoreTable:
    scores = {judge: np.full((30, 1), 0.5) for judge in ("cheap", "strong", "human")}
    strata = ("a",) * 15 + ("b",) * 15
    return ScoreTable("small", tuple(f"i{n}" for n in range(30)), strata, ("tone",), scores)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"roles": Roles(cheap="mini")}, "no judge 'mini' for the cheap role; name one of"),
        ({"roles": Roles(human="gold")}, "no judge 'gold' for the human role.*to go without anchors"),
        ({"anchors": 500, "roles": LATER}, "500 anchors were wanted but 30 of the items that may serve"),
        ({"anchors": 1, "roles": LATER}, "--anchors is 1; give at least 2"),
        ({"roles": Roles(cheap="strong")}, "'strong' plays both the cheap and the strong judge"),
        ({"calibration": 0.0}, "--calibration is 0"),
        ({"calibration": 100}, "give a longer table"),
        ({}, "no calibration item belongs to the stratum 'b'.*--shuffle"),
        ({"roles": Roles(strong_after="strong", rescored={"strong": 3})}, "give one of the two"),
        ({"roles": Roles(strong_after="strong"), "shuffle": True, "change_at": 99, "config": PAPER}, "lies outside"),
        ({"config": MonitorConfig(rubrics=("tone",), strata=("a",))}, "stratum 'b', which the config does not name"),
        ({"config": MonitorConfig(rubrics=("wit",), strata=("a", "b"))}, "no rubric 'wit'; it has tone"),
    ],
)
def test_what_cannot_be_replayed_is_said_in_one_sentence(
    small: ScoreTable, arguments: dict[str, object], sentence: str
) -> None:
    with pytest.raises(TableError, match=sentence):
        replay(small, **arguments)  # type: ignore[arg-type]


def test_public_names_are_all_there() -> None:
    for name in driftjudge.__all__:
        assert getattr(driftjudge, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        driftjudge.nonsense  # noqa: B018
