"""Many calls: at once, at a rate, again, from the cache, up to a ceiling; a real server, a clock turned by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import pytest

from driftjudge.judges import (
    Budget,
    BudgetError,
    CallableJudge,
    EndpointError,
    Item,
    ItemError,
    Judgement,
    JudgeRunner,
    Limits,
    Retry,
    ScoreCache,
    make_judge,
)
from driftjudge.monitor.scores import Failure
from tests.judges import misbehaving as wire
from tests.judges.builders import TurnedClock, item, judge, run
from tests.judges.misbehaving import MisbehavingServer

ITEMS = [item(number) for number in range(12)]
PRICE = (300 * 1.0 + 40 * 4.0) / 1e6
Open = Callable[[], ScoreCache]


def _runner(server: MisbehavingServer, *, settings: dict[str, Any] | None = None, **more: Any) -> JudgeRunner:
    more.setdefault("clock", TurnedClock())
    return JudgeRunner(judge(server, **(settings or {})), role=more.pop("role", "strong"), **more)


async def _all(runner: JudgeRunner, items: Any = ITEMS, **more: Any) -> dict[str, Judgement]:
    async with runner:
        return {one.id: judgement async for one, judgement in runner.score_many(items, **more)}


def test_every_item_is_answered_once_and_never_too_many_at_a_time(server: MisbehavingServer) -> None:
    server.default = wire.answer({"tone": 2}, delay=0.01)
    found = run(_all(_runner(server, limits=Limits(3))))
    assert sorted(found) == sorted(one.id for one in ITEMS)
    assert {judgement.scores for judgement in found.values()} == {(0.5,)}
    assert len(server.seen) == len(ITEMS)
    assert server.most_at_once == 3


def test_items_may_come_one_by_one(server: MisbehavingServer) -> None:
    async def coming() -> AsyncIterator[Item]:
        for one in ITEMS:
            await asyncio.sleep(0)
            yield one

    assert len(run(_all(_runner(server), coming()))) == len(ITEMS)


def test_transport_failures_are_tried_again_and_every_request_is_counted(server: MisbehavingServer) -> None:
    clock = TurnedClock()
    server.next(wire.status(500), wire.cut(), wire.answer({"tone": 4}))
    found = run(_all(_runner(server, clock=clock, retry=Retry(first=1.0)), ITEMS[:1]))["item-0"]
    assert found.scores == (1.0,)
    assert found.usage.calls == 3
    assert len(server.seen) == 3
    first, second = clock.slept
    assert 0.5 <= first <= 1.0
    assert 1.0 <= second <= 2.0


@pytest.mark.parametrize(
    "behaviour", [wire.refusal(), wire.content_filter(), wire.prose(), wire.answer({}), wire.answer({"tone": 7})]
)
def test_what_a_judge_answered_is_not_asked_again(server: MisbehavingServer, behaviour: wire.Behaviour) -> None:
    server.next(behaviour)
    assert run(_all(_runner(server), ITEMS[:1]))["item-0"].failed
    assert len(server.seen) == 1


def test_retries_end(server: MisbehavingServer) -> None:
    server.default = wire.status(503)
    found = run(_all(_runner(server, retry=Retry(attempts=3)), ITEMS[:1]))["item-0"]
    assert isinstance(found.scores, Failure)
    assert found.scores.reason == "transport"
    assert len(server.seen) == 3


def test_retry_after_is_honoured_by_every_call(server: MisbehavingServer) -> None:
    clock = TurnedClock()
    server.next(wire.status(429, retry_after=20))
    run(_all(_runner(server, clock=clock, limits=Limits(1)), ITEMS[:2]))
    assert clock.at >= 20.0
    assert len(server.seen) == 3


def test_an_endpoint_that_asks_for_too_long_a_wait_is_given_up_on(server: MisbehavingServer) -> None:
    clock = TurnedClock()
    server.next(wire.status(429, retry_after=3600))
    assert run(_all(_runner(server, clock=clock), ITEMS[:1]))["item-0"].failed
    assert clock.slept == []


def test_calls_keep_to_the_rates(server: MisbehavingServer) -> None:
    clock = TurnedClock()
    run(_all(_runner(server, clock=clock, limits=Limits(1, requests_per_minute=60.0))))
    assert clock.at == pytest.approx(len(ITEMS) - 6.0)

    clock = TurnedClock()
    limits = Limits(1, tokens_per_minute=340.0 * 60)
    run(_all(_runner(server, clock=clock, limits=limits)))
    assert len(ITEMS) - 7.0 <= clock.at <= len(ITEMS)


def test_an_interrupted_run_goes_on_where_it_stopped_and_pays_for_nothing_twice(
    server: MisbehavingServer, open_cache: Open
) -> None:
    async def some(count: int) -> None:
        runner = _runner(server, cache=open_cache(), limits=Limits(1))
        async with runner, aclosing(runner.score_many(ITEMS)) as answers:
            async for _ in answers:
                count -= 1
                if not count:
                    break

    run(some(5))
    paid_before = len(server.seen)
    assert 5 <= paid_before <= 7, "calls under way are lost at most"
    kept = len(open_cache())
    found = run(_all(_runner(server, cache=open_cache())))
    assert len(found) == len(ITEMS)
    assert len(server.seen) == paid_before + len(ITEMS) - kept
    run(_all(_runner(server, cache=open_cache())))
    assert len(server.seen) == paid_before + len(ITEMS) - kept
    assert len({seen.user for seen in server.seen}) == len(ITEMS)


def test_no_cached_score_survives_a_change_of_the_judge(server: MisbehavingServer, open_cache: Open) -> None:
    run(_all(_runner(server, cache=open_cache()), ITEMS[:1]))
    server.default = wire.answer({"tone": 0})
    for settings in ({"prompt": "v2-strict"}, {"temperature": 0.1}, {"rubrics": {"tone": "kind"}}, {"model": "n"}):
        found = run(_all(_runner(server, cache=open_cache(), settings=settings), ITEMS[:1]))["item-0"]
        assert found.scores == (0.0,)
    assert len(server.seen) == 5


def test_no_cached_score_survives_a_provider_that_moves_the_model(server: MisbehavingServer, open_cache: Open) -> None:
    server.default = wire.answer({"tone": 3}, model="m-1")
    run(_all(_runner(server, cache=open_cache()), ITEMS[:2]))
    server.default = wire.answer({"tone": 0}, model="m-2")
    assert run(_all(_runner(server, cache=open_cache()), ITEMS[:1]))["item-0"].scores == (0.75,), "nobody knows yet"
    run(_all(_runner(server, cache=open_cache()), ITEMS[2:3]))
    found = run(_all(_runner(server, cache=open_cache()), ITEMS[:1]))["item-0"]
    assert (found.scores, found.model) == ((0.0,), "m-2")


def test_a_fresh_score_is_neither_taken_from_the_cache_nor_left_there(
    server: MisbehavingServer, open_cache: Open
) -> None:
    run(_all(_runner(server, cache=open_cache()), ITEMS[:1]))
    server.default = wire.answer({"tone": 0})
    fresh = run(_all(_runner(server, cache=open_cache()), ITEMS[:1], fresh=True))["item-0"]
    again = run(_all(_runner(server, cache=open_cache()), ITEMS[:1]))["item-0"]
    assert (fresh.scores, again.scores) == ((0.0,), (0.75,))
    assert len(server.seen) == 2
    assert open_cache().ledger.total().calls == 2


def test_every_pass_is_asked_for_once(server: MisbehavingServer, open_cache: Open) -> None:
    for _ in range(2):
        for number in (1, 2, 3):
            run(_all(_runner(server, cache=open_cache()), ITEMS[:2], pass_number=number))
    assert len(server.seen) == 6


def test_two_items_with_the_same_texts_are_paid_for_once(server: MisbehavingServer, open_cache: Open) -> None:
    server.default = wire.answer({"tone": 1}, delay=0.05)
    twins = [Item(name, ITEMS[0].fields) for name in "abc"]
    found = run(_all(_runner(server, cache=open_cache()), twins))
    assert {judgement.scores for judgement in found.values()} == {(0.25,)}
    assert sum(judgement.usage.calls for judgement in found.values()) == 1
    assert len(server.seen) == 1


def test_whoever_waits_for_a_call_that_is_broken_off_asks_again(server: MisbehavingServer, open_cache: Open) -> None:
    server.next(wire.hang())

    async def two() -> Judgement:
        async with _runner(server, cache=open_cache()) as runner:
            first = asyncio.create_task(runner.score(ITEMS[0]))
            while not server.seen:
                await asyncio.sleep(0.001)
            second = asyncio.create_task(runner.score(ITEMS[0]))
            await asyncio.sleep(0)
            first.cancel()
            return await second

    assert run(two()).scores == (0.75,)
    assert len(server.seen) == 2


def test_costs_are_booked_by_role_and_day_with_the_retries(server: MisbehavingServer, open_cache: Open) -> None:
    server.next(wire.status(500))
    run(_all(_runner(server, cache=open_cache(), role="strong")))
    run(_all(_runner(server, cache=open_cache(), role="anchor"), ITEMS[:3], fresh=True))
    ledger = open_cache().ledger
    assert {role: one.calls for role, one in ledger.by_role().items()} == {"anchor": 3, "strong": 13}
    assert ledger.by_role()["strong"].dollars == pytest.approx(12 * PRICE)
    assert list(ledger.by_day()) == ["2026-03-01"]


def test_a_call_that_broke_off_is_booked_at_its_most(server: MisbehavingServer, open_cache: Open) -> None:
    server.next(wire.cut())
    runner = _runner(server, cache=open_cache(), retry=Retry(attempts=1))
    at_most = runner.forecast(ITEMS[:1]).at_most
    assert at_most is not None
    run(_all(runner, ITEMS[:1]))
    assert runner.spending.dollars == runner.spending.assumed == pytest.approx(at_most)
    assert open_cache().ledger.total() == runner.spending


def test_an_item_that_cannot_be_scored_is_refused_before_the_first_is_sent(server: MisbehavingServer) -> None:
    runner = _runner(server, settings={"max_input_tokens": 300})
    with pytest.raises(ItemError, match="'item-99' is too long"):
        run(_all(runner, [*ITEMS, item(99, "word " * 5000)]))
    assert server.seen == []


def test_the_ceiling_in_calls_is_exact_and_what_was_paid_for_comes_back(
    server: MisbehavingServer, open_cache: Open
) -> None:
    found: list[str] = []

    async def until_refused() -> None:
        async with _runner(server, cache=open_cache(), budget=Budget(calls=5), limits=Limits(4)) as runner:
            async for one, _ in runner.score_many(ITEMS):
                found.append(one.id)

    with pytest.raises(BudgetError, match="ceiling of 5 calls is reached"):
        run(until_refused())
    assert len(found) == len(server.seen) == len(open_cache()) == 5


def test_the_ceiling_in_dollars_is_never_passed(server: MisbehavingServer) -> None:
    runner = _runner(server, limits=Limits(4))
    at_most = runner.forecast(ITEMS[:1]).at_most
    assert at_most is not None
    ceiling = 5 * PRICE + at_most
    budget = Budget(dollars=ceiling)
    with pytest.raises(BudgetError, match="the next call may cost"):
        run(_all(_runner(server, limits=Limits(4), budget=budget)))
    assert budget.spent <= ceiling
    assert len(server.seen) in (5, 6), "room that calls under way give back is used"


def test_a_ceiling_in_dollars_needs_a_price(server: MisbehavingServer) -> None:
    unpriced = make_judge({"model": "m", "base_url": server.url}, ["tone"])
    with pytest.raises(BudgetError, match="no price for LLMJudge"):
        run(_all(JudgeRunner(unpriced, role="strong", budget=Budget(dollars=1.0))))
    assert server.seen == []


def test_a_forecast_says_what_is_left_to_pay(server: MisbehavingServer, open_cache: Open) -> None:
    runner = _runner(server, cache=open_cache())
    run(_all(runner, ITEMS[:4]))
    forecast = _runner(server, cache=open_cache()).forecast(ITEMS)
    assert (forecast.items, forecast.calls) == (12, 8)
    assert forecast.dollars is not None
    assert forecast.at_most is not None
    assert 0 < forecast.dollars < forecast.at_most
    with pytest.raises(BudgetError, match="The baseline needs 8 calls, but the ceiling of 7 leaves 7"):
        Budget(calls=7).require(forecast.calls, forecast.dollars, "The baseline")
    with pytest.raises(BudgetError, match=r"The baseline needs about \$"):
        Budget(dollars=1e-6).require(forecast.calls, forecast.dollars, "The baseline")
    Budget(dollars=1.0, calls=8).require(forecast.calls, forecast.dollars, "The baseline")


def test_an_endpoint_that_refuses_us_stops_the_run_at_once(server: MisbehavingServer) -> None:
    server.default = wire.status(404, "no such model", code="model_not_found")
    with pytest.raises(EndpointError, match="knows no model 'm'"):
        run(_all(_runner(server, limits=Limits(2))))
    assert len(server.seen) <= 2


def test_leaving_the_runner_breaks_off_what_is_under_way(server: MisbehavingServer) -> None:
    server.default = wire.hang()
    budget = Budget(dollars=1.0)

    async def leave() -> None:
        async with _runner(server, budget=budget) as runner:
            answers = runner.score_many(ITEMS)
            waiting = asyncio.ensure_future(anext(answers))
            while len(server.seen) < 8:
                await asyncio.sleep(0.001)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)

    run(leave())
    assert budget.outstanding == 0
    assert budget.made == 8
    assert budget.spent > 0.0, "they may have to be paid for"


def test_a_judge_with_nothing_but_the_protocol_can_be_run() -> None:
    class Plain:
        rubrics = ("tone",)
        fingerprint = "plain"

        async def score(self, _: Item) -> Judgement:
            return Judgement((1.0,), "plain")

    runner = JudgeRunner(Plain(), role="cheap")
    assert len(run(_all(runner))) == len(ITEMS)
    assert runner.spending.unpriced == len(ITEMS)
    with pytest.raises(BudgetError, match="no price"):
        run(_all(JudgeRunner(Plain(), role="cheap", budget=Budget(dollars=1.0))))


def test_a_function_that_raises_is_tried_again() -> None:
    tries: list[str] = []

    def sometimes(one: Item) -> tuple[float]:
        tries.append(one.id)
        if len(tries) < 3:
            raise TimeoutError
        return (1.0,)

    runner = JudgeRunner(CallableJudge(sometimes, ["tone"]), role="cheap", clock=TurnedClock())
    assert run(_all(runner, ITEMS[:1]))["item-0"].scores == (1.0,)
