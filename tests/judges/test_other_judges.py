"""Tables and functions as judges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from driftjudge.judges import (
    CallableJudge,
    Item,
    ItemError,
    Judgement,
    JudgeRunner,
    ScoreCache,
    SettingsError,
    TableJudge,
)
from driftjudge.monitor.scores import Failure
from tests.judges.builders import item, run

RUBRICS = ("tone", "depth")


def _called(function: Callable[[Item], Any], **more: Any) -> Judgement:
    return run(CallableJudge(function, RUBRICS, **more).score(item()))


def test_a_table_answers_by_id_at_no_cost() -> None:
    judge = TableJudge("theirs", RUBRICS, {"item-1": (0.5, 1.0), "item-2": Failure("refusal")})
    answers = [run(judge.score(item(number))) for number in (1, 2)]
    assert [answer.scores for answer in answers] == [(0.5, 1.0), Failure("refusal")]
    assert answers[0].usage.calls == 0
    with pytest.raises(ItemError, match="'theirs' has no scores for item 'item-3'"):
        run(judge.score(item(3)))


def test_a_table_is_never_cached_because_it_goes_by_ids(open_cache: Callable[[], ScoreCache]) -> None:
    judge = TableJudge("theirs", ["tone"], {"a": [0.0], "b": [1.0]})

    async def both() -> list[Any]:
        async with JudgeRunner(judge, role="strong", cache=open_cache()) as runner:
            return [(await runner.score(Item(name, {"prompt": "same"}))).scores for name in "ab"]

    assert run(both()) == [(0.0,), (1.0,)]


def test_a_function_may_answer_in_order_or_by_name_now_or_later() -> None:
    async def later(_: Item) -> tuple[float, float]:
        return (0.5, 1.0)

    for function in (lambda _: (0.5, 1.0), lambda _: {"depth": 1.0, "tone": 0.5}, later):
        assert _called(function).scores == (0.5, 1.0)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((0.5, 1.5), "out_of_range"),
        ((0.5, float("nan")), "out_of_range"),
        ((0.5,), "unparsable"),
        (0.5, "unparsable"),
        ({"tone": 0.5}, "unparsable"),
        (Failure("refusal"), "refusal"),
    ],
)
def test_an_answer_that_is_no_scores_is_a_failure(answer: Any, reason: str) -> None:
    scores = _called(lambda _: answer).scores
    assert isinstance(scores, Failure)
    assert scores.reason == reason


def test_a_function_that_raises_is_a_broken_line_and_its_words_stay_inside() -> None:
    def broken(_: Item) -> Any:
        raise ConnectionError("token canary-1234")

    scores = _called(broken, name="mine").scores
    assert scores == Failure("transport", "mine raised ConnectionError")


def test_only_a_function_with_a_version_is_cached(open_cache: Callable[[], ScoreCache]) -> None:
    calls: list[str] = []

    def counting(one: Item) -> tuple[float, float]:
        calls.append(one.id)
        return (0.5, 1.0)

    async def twice(version: str | None) -> int:
        calls.clear()
        judge = CallableJudge(counting, RUBRICS, version=version)
        async with JudgeRunner(judge, role="cheap", cache=open_cache()) as runner:
            await runner.score(item())
            await runner.score(item())
        return len(calls)

    assert [run(twice(version)) for version in (None, "1", "1", "2")] == [2, 1, 0, 1]


def test_a_price_below_nothing_is_refused() -> None:
    with pytest.raises(SettingsError, match="0 dollars or more"):
        CallableJudge(lambda _: (0.0, 0.0), RUBRICS, dollars=-1.0)
