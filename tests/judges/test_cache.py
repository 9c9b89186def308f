"""The durable cache and its ledger."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from driftjudge.judges import CacheError, Item, Judgement, ScoreCache, Spending, Usage, content_hash
from driftjudge.monitor.scores import Failure
from tests.judges.builders import DAY

ANSWER = Judgement((0.1, 1.0 / 3.0), "judge", Usage(10, 5, 0.25), model="m-1")
PAID = Spending(1, 10, 5, 0.25)


def _kept(cache: ScoreCache, judgement: Judgement = ANSWER, item: str | None = "item", pass_number: int = 0) -> None:
    cache.keep(item, judgement, "strong", DAY, PAID, pass_number)


def test_an_answer_comes_back_as_it_was_and_costs_nothing(open_cache: Callable[[], ScoreCache]) -> None:
    cache = open_cache()
    _kept(cache)
    cache.close()
    again = open_cache()
    assert again.find("item", "judge") == replace(ANSWER, usage=Usage(0, 0, 0.0, 0))


def test_behaviour_is_kept_and_trouble_on_the_line_is_not(open_cache: Callable[[], ScoreCache]) -> None:
    cache = open_cache()
    _kept(cache, replace(ANSWER, scores=Failure("refusal", "no")), "refused")
    _kept(cache, replace(ANSWER, scores=Failure("transport", "cut")), "broken")
    found = cache.find("refused", "judge")
    assert found is not None
    assert found.scores == Failure("refusal", "no")
    assert cache.find("broken", "judge") is None
    assert cache.ledger.total().calls == 2


def test_another_judge_another_pass_or_another_text_is_another_answer(open_cache: Callable[[], ScoreCache]) -> None:
    cache = open_cache()
    _kept(cache, pass_number=2)
    assert cache.find("item", "judge", 2) is not None
    assert cache.find("item", "judge", 1) is None
    assert cache.find("item", "other", 2) is None
    assert cache.find("other", "judge", 2) is None


def test_no_score_survives_a_model_that_the_provider_moved(open_cache: Callable[[], ScoreCache]) -> None:
    cache = open_cache()
    _kept(cache, item="a")
    _kept(cache, replace(ANSWER, model="m-2", scores=(1.0, 1.0)), item="b")
    assert cache.find("a", "judge") is None, "the answer of m-1 is not the answer of m-2"
    found = cache.find("b", "judge")
    assert found is not None
    assert found.model == "m-2"
    assert cache.ledger.models("judge") == ("m-1", "m-2")


def test_a_fresh_answer_that_is_not_kept_still_tells_that_the_model_moved(open_cache: Callable[[], ScoreCache]) -> None:
    cache = open_cache()
    _kept(cache, item="a")
    _kept(cache, replace(ANSWER, model="m-2"), item=None)
    assert cache.find("a", "judge") is None


def test_content_is_the_texts_and_nothing_else() -> None:
    assert content_hash(Item("1", {"a": "x", "b": "y"}, "s")) == content_hash(Item("2", {"b": "y", "a": "x"}, "t"))
    assert content_hash(Item("1", {"a": "xy", "b": ""})) != content_hash(Item("1", {"a": "x", "b": "y"}))
    assert content_hash(Item("1", {"a": "\ud800"}))


def test_spending_is_summed_by_role_and_by_day(open_cache: Callable[[], ScoreCache]) -> None:
    ledger = open_cache().ledger
    for day, role in ((0, "strong"), (0, "anchor"), (1, "strong")):
        ledger.record(DAY + timedelta(days=day), role, "judge", "m", PAID)
    assert {role: one.calls for role, one in ledger.by_role().items()} == {"anchor": 1, "strong": 2}
    assert {day: one.dollars for day, one in ledger.by_day().items()} == {"2026-03-01": 0.5, "2026-03-02": 0.25}
    assert ledger.by_role_and_day()["2026-03-01", "strong"] == PAID
    assert ledger.total() == Spending(3, 30, 15, 0.75)


def test_an_empty_ledger_sums_to_nothing(open_cache: Callable[[], ScoreCache]) -> None:
    assert open_cache().ledger.total() == Spending()


def test_two_caches_may_share_a_file(open_cache: Callable[[], ScoreCache]) -> None:
    one, other = (open_cache() for _ in range(2))
    _kept(one)
    assert other.find("item", "judge") is not None
    assert len(other) == 1


def test_a_file_that_is_no_cache_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to look at: " * 50, encoding="utf-8")
    with pytest.raises(CacheError, match="cannot be used as a score cache"):
        ScoreCache(path)
    with pytest.raises(CacheError, match="cannot be used"):
        ScoreCache(path / "below" / "a-file.db")


def test_a_file_of_a_newer_version_is_refused(tmp_path: Path, open_cache: Callable[[], ScoreCache]) -> None:
    open_cache().close()
    with sqlite3.connect(tmp_path / "scores.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(CacheError, match="newer driftjudge"):
        open_cache()
