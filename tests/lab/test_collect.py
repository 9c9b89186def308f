"""The collection pipeline against a real server on loopback, from labelled items to a table that `reproduce` reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftjudge.judges import (
    Budget,
    BudgetError,
    EndpointError,
    Judge,
    JudgeSettings,
    Limits,
    Retry,
    ScoreCache,
    find_prompt,
    make_judge,
)
from driftjudge.lab.collect import ROSTER, Collected, Progress, collect, roster_for
from driftjudge.lab.setting import Source, open_setting
from driftjudge.tables import TableError, read_table, write_table
from driftjudge.tables.hub import HELPSTEER2_RUBRICS, TLDR_RUBRICS, LabelledItem, LabelledItems
from tests.judges import misbehaving as wire
from tests.judges.builders import TurnedClock, run
from tests.judges.misbehaving import MisbehavingServer, Seen

TOPICS = ("coding", "creative", "other")


def _items(count: int) -> LabelledItems:
    items = tuple(
        LabelledItem(
            f"i{number}",
            {"prompt": f"prompt {number}", "response": f"response {number}"},
            TOPICS[number % 3],
            tuple((number % 5) / 4 for _ in HELPSTEER2_RUBRICS),
        )
        for number in range(count)
    )
    return LabelledItems("helpsteer2", HELPSTEER2_RUBRICS, items)


def _opinion(seen: Seen) -> dict[str, int]:
    """Scores that depend on the text, the model and the policy, as a judge's do; the cheap one is blind to some."""
    number = int(seen.user.split("prompt ")[1].split()[0])
    score = number % 5
    if seen.body["model"] == "gemini-3.1-flash-lite" and number % 4 == 0:
        score = 3
    if "waver" in str(seen.body["messages"][0]["content"]):
        score -= 1
    if seen.body["model"] == "gemini-3.5-flash":
        score += 1
    return dict.fromkeys(HELPSTEER2_RUBRICS, min(4, max(0, score)))


@pytest.fixture
def server() -> Iterator[MisbehavingServer]:
    with MisbehavingServer(default=wire.answer_by(_opinion)) as running:
        yield running


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[ScoreCache]:
    with ScoreCache(tmp_path / "scores.db") as opened:
        yield opened


def _judges(server: MisbehavingServer, rubrics: Any = HELPSTEER2_RUBRICS) -> dict[str, Judge]:
    priced = {"base_url": server.url, "price_input": 1.0, "price_output": 4.0}
    return {
        name: make_judge({"model": one.model, "prompt": one.prompt, **priced}, rubrics) for name, one in ROSTER.items()
    }


def _collect(server: MisbehavingServer, cache: ScoreCache, items: LabelledItems, **more: Any) -> Collected:
    more.setdefault("clock", TurnedClock())
    return run(collect(items, _judges(server), cache=cache, limits=Limits(8), **more))


def test_four_judges_and_the_humans_become_a_table_that_reproduce_reads(
    server: MisbehavingServer, cache: ScoreCache, tmp_path: Path
) -> None:
    collected = _collect(server, cache, _items(360))
    assert len(server.seen) == 4 * 360
    path = tmp_path / "collected.csv"
    write_table(collected.table, path)
    table = read_table(path)
    assert set(table.judge_names) == {"human", "cheap", "strong", "lenient", "harsh"}
    assert len(table) == 360
    setting = open_setting(Source(str(path)))
    assert setting.harshest == "harsh"
    assert setting.most_lenient == "lenient"


def test_an_interrupted_collection_goes_on_where_it_stopped(server: MisbehavingServer, cache: ScoreCache) -> None:
    items = _items(20)
    server.next(*[wire.answer_by(_opinion)] * 30, wire.status(401))
    with pytest.raises(EndpointError):
        _collect(server, cache, items)
    kept = len(cache)
    assert 30 <= kept < 40
    again = _collect(server, cache, items)
    assert again.unfinished == 0
    assert len(cache) == 80
    answered = [(seen.body["model"], seen.user, json.dumps(seen.body["messages"][0])) for seen in server.seen]
    assert len(answered) - len(set(answered)) == 1, "only the call that was refused is made again"


def test_what_a_judge_refuses_stays_unscored_and_is_counted(server: MisbehavingServer, cache: ScoreCache) -> None:
    server.next(wire.content_filter())
    collected = _collect(server, cache, _items(9))
    assert collected.unscored == {"cheap": {"refusal": 1}, "strong": {}, "lenient": {}, "harsh": {}}
    assert np.isnan(collected.table.judge("cheap")).all(axis=1).sum() == 1
    assert collected.unfinished == 0


def test_what_a_broken_line_left_out_is_asked_for_again(server: MisbehavingServer, cache: ScoreCache) -> None:
    items = _items(9)
    server.next(wire.status(500))
    assert _collect(server, cache, items, retry=Retry(attempts=1)).unfinished == 1
    before = len(server.seen)
    assert _collect(server, cache, items).unfinished == 0
    assert len(server.seen) == before + 1


def test_costs_are_told_by_judge_and_progress_on_the_way(server: MisbehavingServer, cache: ScoreCache) -> None:
    told: list[Progress] = []
    _collect(server, cache, _items(9), on_progress=told.append)
    assert [one.done for one in told] == [*range(1, 10)] * 4
    assert told[-1].dollars == pytest.approx(36 * (300 + 160) / 1e6)
    assert {role: one.calls for role, one in cache.ledger.by_role().items()} == dict.fromkeys(ROSTER, 9)


def test_a_budget_that_is_too_small_is_told_before_the_first_call(server: MisbehavingServer, cache: ScoreCache) -> None:
    with pytest.raises(BudgetError, match="Collecting helpsteer2 needs 36 calls, but the ceiling of 35"):
        _collect(server, cache, _items(9), budget=Budget(calls=35))
    assert server.seen == []


def test_judges_that_do_not_fit_the_dataset_are_refused(server: MisbehavingServer, cache: ScoreCache) -> None:
    with pytest.raises(TableError, match="Judge 'cheap' scores tone, but helpsteer2 is labelled for helpfulness"):
        run(collect(_items(3), _judges(server, ["tone"]), cache=cache))
    with pytest.raises(TableError, match="another name"):
        run(collect(_items(3), {"human": _judges(server)["cheap"]}, cache=cache))
    assert server.seen == []


def test_the_roster_is_the_papers_with_the_prompts_of_the_dataset() -> None:
    assert {name: one.prompt for name, one in roster_for("helpsteer2").items()} == {
        "cheap": "v1",
        "strong": "v1",
        "lenient": "v1",
        "harsh": "v2-strict",
    }
    summaries = roster_for("tldr")
    assert summaries["harsh"].prompt == "v2-strict-summ"
    assert {find_prompt(one.prompt).fields for one in summaries.values()} == {("post", "summary")}
    assert roster_for("tldr", {"x": JudgeSettings("m", prompt="v1-summ")})["x"].prompt == "v1-summ"
    assert TLDR_RUBRICS
