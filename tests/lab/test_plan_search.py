"""From a target to a design whose promises hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from driftjudge.lab.planner import Assumptions, Effort, Plan, PlanError, Target, World, make_plan, world_of
from driftjudge.lab.planner.confirm import Jury, promises_of
from driftjudge.lab.planner.trials import Bench
from driftjudge.monitor import MonitorConfig
from driftjudge.tables import Columns, ScoreTable, load_replica, read_table
from driftjudge.tables.replay import Roles

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
QUICK = Effort(scan=15, fresh=60)
ASSUMED = Assumptions(age=400)
EASY = Target(drop=0.4, within=1_000, judge_shift=0.15, judge_within=1_500, spend=0.6, detect=0.75, spill=0.2)


def _base(world: World, **settings: object) -> MonitorConfig:
    return MonitorConfig(rubrics=world.rubrics, strata=world.strata, **settings)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def tldr() -> World:
    return world_of(load_replica("tldr"), Roles())


@pytest.fixture(scope="module")
def planned(tldr: World) -> Plan:
    rare = tuple(name for name, share in zip(tldr.strata, tldr.shares, strict=True) if share < 0.12)
    return make_plan(tldr, _base(tldr), replace(EASY, exempt=rare), ASSUMED, effort=QUICK)


@pytest.fixture(scope="module")
def khan() -> World:
    pytest.importorskip("polars")
    path = DATA / "khan_saq" / "scores.parquet"
    if not path.is_file():
        pytest.skip("the table khan_saq/scores.parquet is missing from ../shared/data")
    judges = {"cheap": "gpt_4o_mini_none", "strong": "claude_35_sonnet_full", "human": "human"}
    return world_of(read_table(path, Columns(judges=judges), name="khan_saq"), Roles())


@pytest.fixture(scope="module")
def small() -> World:
    return world_of(_small_table(), Roles())


def _small_table(rare: int = 0) -> ScoreTable:
    """One rubric and two strata, so that a plan takes a second; `rare` items of a third one."""
    rng, strata = np.random.default_rng(11), ["day"] * 160 + ["night"] * 140 + ["holiday"] * rare
    quality = rng.normal(0.62, 0.2, size=(len(strata), 1))
    noisy = {name: quality + rng.normal(0.0, 0.12, size=quality.shape) for name in ("cheap", "strong", "human")}
    scores = {name: np.clip(np.round(values * 4) / 4, 0.0, 1.0) for name, values in noisy.items()}
    return ScoreTable("small", tuple(f"item-{i}" for i in range(len(strata))), tuple(strata), ("tone",), scores)


def _kept_on_fresh_seeds(world: World, plan: Plan, streams: int = 80) -> None:
    """Exact binomial tests of every promise, on seeds that neither the search nor its confirmation used."""
    strata = [world.strata.index(p.subject) for p in plan.promises if p.about == "drop"]
    with Bench(world, plan.config, ASSUMED) as bench:
        jury = Jury(streams, 0.01)
        again = promises_of(
            bench, plan.target, jury, plan.design, plan.calibration, strata, range(77_000_000, 77_000_000 + streams)
        )
    assert [promise.what for promise in again] == [promise.what for promise in plan.promises]
    for promised, seen in zip(plan.promises, again, strict=True):
        side = "greater" if promised.rare else "less"
        test = binomtest(seen.count.hits, seen.count.streams, promised.bound, alternative=side)
        assert test.pvalue > 0.001, f"{promised.text()}; on other seeds {seen.count}"


def test_what_is_promised_on_a_replica_is_kept_on_fresh_seeds(tldr: World, planned: Plan) -> None:
    assert planned.met
    assert planned.price.fraction <= EASY.spend
    assert all(p.bound >= EASY.detect for p in planned.promises if not p.rare)
    _kept_on_fresh_seeds(tldr, planned)


def test_what_is_promised_on_a_real_table_is_kept_on_fresh_seeds(khan: World) -> None:
    plan = make_plan(khan, _base(khan), EASY, ASSUMED, effort=QUICK)
    assert plan.met, plan.findings
    _kept_on_fresh_seeds(khan, plan)


def test_the_papers_preset_is_planned_with_a_guard_and_one_pass(small: World) -> None:
    generous = replace(EASY, spend=1.2, judge_shift=0.25, judge_within=2_500)
    plan = make_plan(small, _base(small, preset="paper"), generous, replace(ASSUMED, repeat_noise=0.0), effort=QUICK)
    assert (plan.design.burst, plan.design.passes) == (0, 1)
    assert plan.config.guard == plan.design.guard > 0
    assert plan.preset == "paper"
    assert {option.guard for option in plan.guards} != {plan.design.guard}


def test_the_cheapest_budget_that_does_is_chosen_and_every_assumption_is_said(planned: Plan) -> None:
    cheaper = [option for option in planned.main if option.budget < planned.design.budget]
    chosen = next(option for option in planned.main if option.budget == planned.design.budget)
    for option in cheaper:
        assert option.caught[option.worst].rate < chosen.caught[chosen.worst].rate
    said = " ".join(planned.assumed)
    for part in ("blind", "--age", "--repeat-noise", "--label-price", "all rubrics", "healthy items"):
        assert part in said, part


def test_money_buys_detection_along_the_menu(planned: Plan) -> None:
    costs = [cost for _, cost, _ in planned.budgets()]
    assert costs == sorted(costs)
    (first, _, none), *rest = planned.budgets()
    assert none is None
    before, price = first.caught[first.worst].rate, 1000.0 * planned.price.strong_price
    for (option, cost, bought), last in zip(rest, costs, strict=False):
        rate = option.caught[option.worst].rate
        assert bought == pytest.approx(100.0 * (rate - before) / (price * (cost - last)))
        before = rate
    assert [option.every for option, _, _ in planned.rates()] == sorted(
        {option.every for option in planned.anchors}, reverse=True
    )


def test_the_same_seed_gives_the_same_plan(small: World) -> None:
    effort, target = Effort(scan=9, fresh=40), replace(EASY, detect=0.6, spill=0.4)
    one, two, other = (make_plan(small, _base(small), target, ASSUMED, seed=s, effort=effort) for s in (1, 1, 2))
    assert one.to_json() == two.to_json()
    assert one.to_json() != other.to_json()


def test_a_stratum_too_rare_for_the_window_is_named_and_the_rest_is_planned_for() -> None:
    world = world_of(_small_table(rare=6), Roles())
    plan = make_plan(world, _base(world), EASY, ASSUMED, effort=QUICK)
    assert not plan.met
    assert "75% of the time cannot be promised for holiday at any budget" in plan.findings[0]
    assert "about 20 of those items are holiday's" in plan.findings[0]
    assert "--except holiday" in plan.findings[0]
    assert all(p.kept for p in plan.promises if p.about == "drop" and p.subject != "holiday")
    exempt = make_plan(world, _base(world), replace(EASY, exempt=("holiday",)), ASSUMED, effort=QUICK)
    assert "holiday" not in {promise.subject for promise in exempt.promises}
    assert not any("holiday" in finding for finding in exempt.findings)


def test_a_drop_and_a_spending_limit_that_contradict_each_other_are_both_named(small: World) -> None:
    target = replace(EASY, drop=0.25, within=400, spend=0.16)
    plan = make_plan(small, _base(small), target, ASSUMED, effort=QUICK)
    assert not plan.met
    told = " ".join(plan.findings)
    assert "--drop 0.25 --within 400 and --spend 0.16 contradict each other" in told
    assert "one could have" in told
    assert "what was asked, at --spend" in told


def test_a_judge_shift_and_too_few_labels_that_contradict_each_other_are_both_named(small: World) -> None:
    target = replace(EASY, judge_shift=0.1, judge_within=1_000, labels=12, spend=1.0)
    plan = make_plan(small, _base(small), target, ASSUMED, effort=QUICK)
    told = " ".join(plan.findings)
    assert not plan.met
    assert "--judge-shift 0.1 --judge-within 1,000 and --labels 12 contradict each other" in told
    assert "what was asked, with" in told
    assert not any(promise.kept for promise in plan.promises if promise.about == "judge")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"drop": 0.0}, "--drop is 0; give a number strictly between 0 and 1"),
        ({"drop": -0.1}, "--drop is -0.1"),
        ({"within": 0}, "--within is 0; give a whole number from 1 to"),
        ({"judge_within": 10**9}, "--judge-within is 1000000000"),
        ({"spend": 0.0}, "--spend is 0; a monitor that costs nothing sees nothing"),
        ({"spend": float("nan")}, "--spend is nan"),
        ({"detect": 1.0}, "--detect is 1"),
        ({"labels": 2}, "--labels is 2; give a whole number from 10"),
        ({"drop": True}, "--drop is True; give a number"),
    ],
)
def test_a_target_that_makes_no_sense_is_refused(settings: dict[str, float], sentence: str) -> None:
    with pytest.raises(PlanError, match=f"^{sentence}"):
        Target(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"spend": 0.12}, "--spend 0.12 and --cheap-price 0.000195 contradict each other: the cheap judge sees every"),
        ({"drop": 0.05}, "--drop 0.05 and slack 0.05 contradict each other"),
        ({"drop": 0.95}, "--drop is 0.95, but the highest mean score in"),
        ({"judge_shift": 0.9}, "--judge-shift is 0.9, but scores can only move"),
        ({"exempt": ("nowhere",)}, "--except names the stratum 'nowhere'; TL;DR replica has AskReddit"),
        ({"detect": 0.999}, "--detect is 0.999; 60 simulated streams can promise at most"),
        ({"spill": 0.01}, "--spill is 0.01; 60 simulated streams can promise no less than"),
    ],
)
def test_limits_that_contradict_each_other_are_named_before_anything_is_simulated(
    tldr: World, settings: dict[str, object], sentence: str
) -> None:
    with pytest.raises(PlanError) as failure:
        make_plan(tldr, _base(tldr), replace(EASY, **settings), effort=QUICK)  # type: ignore[arg-type]
    assert str(failure.value).startswith(sentence)


def test_every_stratum_exempt_leaves_nothing_to_plan(tldr: World) -> None:
    with pytest.raises(PlanError, match="--except names every stratum"):
        make_plan(tldr, _base(tldr), replace(EASY, exempt=tldr.strata), effort=QUICK)


def test_tables_that_are_too_small_are_refused() -> None:
    table = load_replica("tldr")
    with pytest.raises(PlanError, match="50 items of TL;DR replica were scored by both judges; a plan needs at least"):
        world_of(table.take(range(50)), Roles())
    rows = [i for i, s in enumerate(table.strata) if s != "tifu"] + [table.strata.index("tifu")]
    with pytest.raises(PlanError, match="the stratum 'tifu' of TL;DR replica has 1 scored items"):
        world_of(table.take(rows), Roles())
    with pytest.raises(PlanError, match="a plan needs some; name their judge with --human"):
        world_of(table, Roles(human=None))
