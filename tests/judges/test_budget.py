"""The ceiling, under every order of events."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from driftjudge.judges import Budget, BudgetError, Estimate, Item, Judgement, JudgeRunner, Limits, Retry, Usage
from driftjudge.judges.budget import Reservation
from driftjudge.monitor.scores import Failure
from tests.judges.builders import TurnedClock, run

DOLLARS, CALLS = 10.0, 12


class Ceiling(RuleBasedStateMachine):
    """Callers reserve, and settle in any order for anything up to what they reserved, or for nobody knows what."""

    under_way = Bundle("under_way")

    def __init__(self) -> None:
        super().__init__()
        self.budget = Budget(DOLLARS, CALLS)
        self.open: list[Reservation] = []
        self.refused = False

    @rule(target=under_way, at_most=st.floats(0.0, 4.0))
    def reserve(self, at_most: float) -> Reservation | None:
        try:
            found = self.budget.reserve(at_most)
        except BudgetError:
            self.refused = True
            no_dollars = self.budget.spent + at_most > DOLLARS
            assert no_dollars or self.budget.made + 1 > CALLS or not self.open
            return None
        if found is None:
            assert self.open, "nobody to wait for"
            return None
        self.open.append(found)
        return found

    @rule(reservation=consumes(under_way), share=st.none() | st.floats(0.0, 1.0))
    def settle(self, reservation: Reservation | None, share: float | None) -> None:
        if reservation is None:
            return
        self.open.remove(reservation)
        cost = None if share is None else share * reservation.dollars
        booked = self.budget.settle(reservation, cost)
        assert booked == (reservation.dollars if cost is None else cost)

    @precondition(lambda self: self.open)
    @rule()
    def counts_what_is_open(self) -> None:
        assert self.budget.outstanding == len(self.open)

    @invariant()
    def never_passed(self) -> None:
        reserved = sum(one.dollars for one in self.open)
        assert self.budget.spent + reserved <= DOLLARS * (1 + 1e-9)
        assert self.budget.made + len(self.open) <= CALLS


TestCeiling = Ceiling.TestCase


class Erratic:
    """A judge that answers, breaks off, is refused or dies, each at a cost up to its estimate."""

    rubrics = ("tone",)
    fingerprint = "erratic"

    def __init__(self, seed: int, at_most: float) -> None:
        self._chance = random.Random(seed)
        self._at_most = at_most
        self.billed = 0.0
        """What the provider would send a bill for, whatever we heard of it."""
        self.requests = 0

    def estimate(self, _: Item) -> Estimate:
        return Estimate(100, self._at_most / 2, self._at_most)

    async def score(self, _: Item) -> Judgement:
        self.requests += 1
        await asyncio.sleep(0)
        cost = self._chance.random() * self._at_most
        kind = self._chance.choice(("answer", "answer", "timeout", "429", "refusal"))
        if kind == "429":
            return Judgement(Failure("transport", "429"), "erratic", Usage(dollars=0.0), retry_after=1.0, unbilled=True)
        self.billed += cost
        if kind == "timeout":
            return Judgement(Failure("transport", "timeout"), "erratic", Usage(dollars=None))
        scores = (1.0,) if kind == "answer" else Failure("refusal")
        return Judgement(scores, "erratic", Usage(10, 1, cost))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    at_most=st.floats(0.05, 1.0),
    dollars=st.floats(0.0, 6.0),
    calls=st.integers(0, 40),
    concurrency=st.integers(1, 9),
)
def test_no_bill_is_ever_above_the_ceiling(
    seed: int, at_most: float, dollars: float, calls: int, concurrency: int
) -> None:
    judge = Erratic(seed, at_most)
    budget = Budget(dollars, calls)
    runner = JudgeRunner(
        judge, role="strong", budget=budget, limits=Limits(concurrency), retry=Retry(3), clock=TurnedClock()
    )

    async def work() -> int:
        answered = 0
        async with runner:
            async for _ in runner.score_many([Item(str(number), {}) for number in range(30)]):
                answered += 1
        return answered

    try:
        assert run(work()) == 30
    except BudgetError:
        assert budget.made == calls or budget.spent + at_most > dollars, "refused with room to spare"
    assert judge.billed <= budget.spent + 1e-9
    assert budget.spent <= dollars * (1 + 1e-9)
    assert judge.requests == budget.made <= calls
    assert budget.outstanding == 0


def test_earlier_runs_count() -> None:
    budget = Budget(1.0, 10, spent=0.9, made=3)
    with pytest.raises(BudgetError, match=r"ceiling of \$1.0000 leaves \$0.1000"):
        budget.reserve(0.2)
    assert budget.reserve(0.05) is not None


def test_a_ceiling_below_nothing_is_refused() -> None:
    with pytest.raises(BudgetError, match="0 or more"):
        Budget(dollars=-1.0)


def test_without_a_ceiling_there_is_always_room() -> None:
    budget = Budget()
    reservation = budget.reserve(None)
    assert reservation is not None
    assert budget.settle(reservation, None) == 0.0
