from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftjudge import AnchorSet, Ask, Monitor
from driftjudge.monitor.acquisition import RULES
from driftjudge.stats.ladder import STEPS
from tests.monitor.builders import (
    BAD,
    GOOD,
    answer_all,
    drive,
    healthy_scores,
    make_anchors,
    make_monitor,
    make_world,
    raise_system_alarm,
    rescore_all,
    restored,
)

PUBLIC_SHAPE = """
from driftjudge import AnchorSet, Calibration, Monitor, MonitorConfig

config = MonitorConfig(
    rubrics=("helpfulness", "correctness"),
    strata=("coding", "creative"),
    preset="robust",            # or "paper"
    alpha_system=0.1, alpha_judge=0.1,
    budget=0.3,                 # share of items the strong judge sees
    anchor_every=5, guard=300,  # the paper's knobs; burst=60 in "robust"
    seed=7,
)
monitor = Monitor(
    config,
    calibration=Calibration.from_scores(strata, strong_scores, config),       # bars q0 and their error
    anchors=AnchorSet(ids=ids, human=human, passes=passes),                    # human: k × R; passes: one or more k × R time-0 scorings
)
for item in stream:
    ask = monitor.observe(item.id, stratum=item.stratum, cheap=item.cheap)     # ask.strong: bool, ask.anchors: tuple of anchor ids
    if ask.strong:
        monitor.record_strong(item.id, strong_judge(item))                     # scores in rubric order, or a Failure
    for anchor_id in ask.anchors:
        monitor.record_anchor(anchor_id, strong_judge(anchor_id))
    if monitor.verdict.kind != "none":                                         # "none" | "system" | "judge" (+ status pending/final)
        print(monitor.verdict.explain())
state = monitor.snapshot()          # JSON-able; Monitor.restore(state) continues bit for bit
"""  # noqa: E501 (the contract, letter by letter)


NEVER = 10**9


def public_shape_names(*, drop_at: int = NEVER, harsher_at: int = NEVER) -> dict[str, Any]:
    """The names the example leaves to its reader: a system that may drop, and a judge that may turn harsher."""
    rng = np.random.default_rng(4)
    anchors = make_anchors()
    usual = dict(zip(anchors.ids, anchors.passes[0], strict=True))
    strong = healthy_scores(rng, 400)
    stream = [
        SimpleNamespace(id=f"i{n}", n=n, stratum=("coding", "creative")[n % 2], cheap=strong[n].tolist())
        for n in range(400)
    ]
    strong[drop_at::2] = 0.0  # unseen by the cheap judge
    asked = []

    def strong_judge(what: Any) -> Any:
        if not isinstance(what, str):
            asked.append(what.n)
        scores = usual[what] if isinstance(what, str) else strong[what.n]
        return np.clip(scores - 0.25, 0, 1) if asked and asked[-1] >= harsher_at else scores

    return {
        "strata": ["coding", "creative"] * 300,
        "strong_scores": healthy_scores(rng, 600),
        "ids": anchors.ids,
        "human": anchors.human,
        "passes": anchors.passes,
        "stream": stream,
        "strong_judge": strong_judge,
    }


def test_the_public_shape_runs_as_written_and_finds_the_judge_that_moved(capsys: pytest.CaptureFixture[str]) -> None:
    names = public_shape_names(harsher_at=200)
    exec(PUBLIC_SHAPE, names)
    assert names["monitor"].verdict.kind == "judge"
    assert "The judge moved" in capsys.readouterr().out
    again = Monitor.restore(names["state"])
    assert again.snapshot() == names["state"]
    assert again.verdict == names["monitor"].verdict


def test_the_public_shape_as_written_comes_to_a_final_verdict_on_a_system_that_dropped() -> None:
    """The burst that a strong score sets off must reach a caller who reads `ask.anchors` only."""
    names = public_shape_names(drop_at=100)
    exec(PUBLIC_SHAPE, names)
    assert (names["monitor"].verdict.kind, names["monitor"].verdict.status) == ("system", "final")


def test_the_public_shape_says_nothing_when_nothing_drifts(capsys: pytest.CaptureFixture[str]) -> None:
    names = public_shape_names()
    exec(PUBLIC_SHAPE, names)
    assert (names["monitor"].verdict.kind, names["monitor"].verdict.status) == ("none", "watching")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("preset", ["paper", "robust"])
@pytest.mark.parametrize(
    ("changes", "kind"),
    [({}, "none"), ({"drop_at": 100}, "system"), ({"harsher_at": 100}, "judge")],
    ids=["nothing", "system", "judge"],
)
def test_the_one_who_drifted_is_found(preset: str, changes: dict[str, Any], kind: str) -> None:
    monitor = make_monitor(preset=preset, anchor_every=5, budget=0.5)
    drive(monitor, make_world(monitor, 900, **changes))
    assert (monitor.verdict.kind, monitor.verdict.status) == (kind, "watching" if kind == "none" else "final")


def test_a_fresh_monitor_watches_from_position_0_in_epoch_1() -> None:
    monitor = make_monitor()
    assert (monitor.position, monitor.epoch, monitor.pending_items, monitor.pending_anchors) == (0, 1, (), ())
    assert (monitor.verdict.kind, monitor.verdict.status, monitor.verdict.position) == ("none", "watching", 0)
    assert monitor.system_evalue == pytest.approx(1.0)
    assert monitor.judge_evalue == pytest.approx(1.0 / len(STEPS))  # the ladder's lowest rung


def test_without_anchors_there_is_no_evidence_about_the_judge() -> None:
    assert np.isnan(make_monitor(anchored=False).judge_evalue)


def asks(items: int = 60, scores: tuple[float, float] = GOOD, **settings: Any) -> list[Ask]:
    monitor = make_monitor(**settings)
    found = []
    for n in range(items):
        found.append(monitor.observe(f"x{n}", stratum="coding", cheap=scores))
        answer_all(monitor, scores)
        rescore_all(monitor)
    return found


def test_the_same_seed_asks_the_same() -> None:
    assert asks(seed=5, anchor_every=2) == asks(seed=5, anchor_every=2)


def test_another_seed_asks_for_other_items_and_other_anchors() -> None:
    one, other = asks(seed=5, anchor_every=2), asks(seed=6, anchor_every=2)
    assert [ask.strong for ask in one] != [ask.strong for ask in other]
    assert [ask.anchors for ask in one] != [ask.anchors for ask in other]


def test_under_the_uniform_rule_what_is_asked_does_not_depend_on_the_scores() -> None:
    good, bad = (asks(scores=scores, anchor_every=2, burst=0) for scores in (GOOD, BAD))
    assert good == bad


def test_under_escalation_falling_scores_are_asked_about_more_often() -> None:
    good, bad = (asks(scores=scores, acquisition="escalation", budget=0.2) for scores in (GOOD, BAD))
    assert sum(ask.strong for ask in bad) > sum(ask.strong for ask in good)
    assert bad[-1].probability == 1.0


@given(seed=st.integers(0, 2**63 - 1), budget=st.floats(0.05, 1.0))
@settings(max_examples=25)
def test_the_strong_judge_sees_about_the_budgeted_share(seed: int, budget: float) -> None:
    asked = sum(ask.strong for ask in asks(200, seed=seed, budget=budget))
    assert abs(asked - 200 * budget) <= 6 * np.sqrt(200 * budget * (1 - budget)) + 1


@pytest.mark.parametrize("rule", RULES)
def test_an_ask_states_the_probability_it_was_made_with(rule: Any) -> None:
    found = asks(acquisition=rule, budget=0.25)
    assert all(0.0 < ask.probability <= 1.0 for ask in found)
    if rule == "uniform":
        assert {ask.probability for ask in found} == {0.25}
    if rule == "full":
        assert all(ask.strong and ask.probability == 1.0 for ask in found)


def test_an_anchor_is_asked_for_at_every_so_manyth_position() -> None:
    found = asks(20, anchor_every=4)
    assert [n + 1 for n, ask in enumerate(found) if ask.anchors] == [4, 8, 12, 16, 20]
    assert all(len(ask.anchors) <= 1 for ask in found)


def test_without_a_schedule_anchors_are_asked_for_in_the_burst_only() -> None:
    monitor = make_monitor(anchor_every=0, budget=1.0)
    for n in range(120):
        assert monitor.observe(f"calm{n}", stratum="creative", cheap=GOOD).anchors == ()
        answer_all(monitor)
    raise_system_alarm(monitor)
    assert len(monitor.pending_anchors) == 60


def test_every_anchor_is_drawn_in_time() -> None:
    drawn = {anchor for ask in asks(400, anchor_every=1) for anchor in ask.anchors}
    assert drawn == set(make_anchors().ids)


def test_screened_anchors_are_never_asked_for() -> None:
    anchors = make_anchors()
    passes = anchors.passes.copy()
    passes[1, :5, 0] = 1.0
    anchors = AnchorSet(ids=anchors.ids, human=anchors.human, passes=passes)
    base = make_monitor(anchor_every=1)
    monitor = Monitor(base.config, calibration=base.calibration, anchors=anchors)
    drawn: set[str] = set()
    for n in range(300):
        drawn.update(monitor.observe(f"x{n}", stratum="coding", cheap=GOOD).anchors)
        answer_all(monitor)
        rescore_all(monitor)
    assert drawn == set(anchors.ids[5:])


def test_a_restored_monitor_draws_the_coins_the_other_would_have_drawn() -> None:
    steady = make_monitor(anchor_every=3)
    moved = restored(steady)
    for n in range(30):
        moved = restored(moved)
        observed = [one.observe(f"x{n}", stratum="coding", cheap=GOOD) for one in (steady, moved)]
        assert observed[0] == observed[1]
        for one in (steady, moved):
            answer_all(one)
            rescore_all(one)
