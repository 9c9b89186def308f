"""Rates and retries, on a clock that is turned by hand."""

from __future__ import annotations

import random

import pytest

from driftjudge.judges import Limits, Retry, SettingsError
from driftjudge.judges.limits import Rate
from tests.judges.builders import TurnedClock


def test_a_rate_lets_a_burst_through_and_then_one_after_another() -> None:
    clock = TurnedClock()
    rate = Rate(60.0, clock)  # one a second, six ahead
    assert [rate.take(1.0) for _ in range(8)] == [0.0] * 6 + [1.0, 2.0]
    clock.at = 2.0
    assert rate.take(1.0) == 1.0


def test_a_rate_is_never_exceeded_over_any_minute() -> None:
    clock = TurnedClock()
    rate = Rate(600.0, clock)
    generator = random.Random(3)
    uses = []
    for _ in range(3000):
        clock.at += generator.choice((0.0, 0.0, 0.05, 0.4))
        uses.append(clock.at + rate.take(1.0))
    for start in uses:
        assert sum(start <= use < start + 60.0 for use in uses) <= 600 * 1.1 + 1


def test_an_estimate_that_was_too_high_is_given_back() -> None:
    rate = Rate(60.0, TurnedClock())
    rate.take(6.0)
    rate.give_back(4.0)
    assert rate.take(4.0) == 0.0
    assert rate.take(1.0) == 1.0


def test_waits_double_up_to_the_longest_less_some_jitter() -> None:
    retry = Retry(attempts=9, first=1.0, longest=8.0, generator=random.Random(1))
    waits = [retry.wait(attempt, None) for attempt in range(1, 9)]
    for wait, backoff in zip(waits, (1, 2, 4, 8, 8, 8, 8, 8), strict=True):
        assert wait is not None
        assert backoff / 2 <= wait <= backoff
    assert len(set(waits)) == len(waits), "without jitter all callers come back at once"
    assert retry.wait(9, None) is None


def test_the_endpoints_own_wait_is_honoured_unless_it_is_too_long() -> None:
    retry = Retry(longest=30.0)
    wait = retry.wait(1, 20.0)
    assert wait is not None
    assert wait >= 20.0
    assert retry.wait(1, 31.0) is None


@pytest.mark.parametrize("concurrency", [0, 1025])
def test_calls_at_once_are_limited(concurrency: int) -> None:
    with pytest.raises(SettingsError, match="concurrency"):
        Limits(concurrency)


def test_a_rate_of_nothing_is_refused() -> None:
    with pytest.raises(SettingsError, match="requests_per_minute"):
        Limits(requests_per_minute=0)
    with pytest.raises(SettingsError, match="attempts"):
        Retry(attempts=0)
    with pytest.raises(SettingsError, match="first wait"):
        Retry(first=5.0, longest=1.0)
