"""Exact tests on seeded counts: no approximation, and a stated chance of crying wolf over the whole of them."""

from __future__ import annotations

import math

from scipy.stats import binom

FAMILY_LEVEL = 1e-4
"""Chance that sound software fails any of these tests, had the seeds been drawn afresh."""
MOST_TESTS = 200
LEVEL = FAMILY_LEVEL / MOST_TESTS

CERTAIN = 1e-9
"""How surely a rate must lie above another before a test says so."""


def most_events(trials: int, rate: float) -> int:
    """The largest count a true rate of at most `rate` is allowed to show.

    >>> most_events(1000, 0.1)
    149
    """
    return int(binom.isf(LEVEL, trials, rate))


def assert_rate_at_most(events: int, trials: int, rate: float) -> None:
    """One-sided exact binomial test of 'the true rate is at most `rate`'."""
    assert events <= most_events(trials, rate), f"{events} of {trials} cannot come from a rate of {rate:g} or less"


def assert_rate_above(events: int, trials: int, rate: float) -> None:
    """The true rate is above `rate` beyond doubt."""
    tail = float(binom.sf(events - 1, trials, rate))
    assert tail < CERTAIN, f"{events} of {trials} could come from a rate of {rate:g} (p = {tail:.2g})"


def hoeffding_margin(trials: int, spread: float) -> float:
    """How far the mean of `trials` values that span `spread` may fall below its expectation."""
    return spread * math.sqrt(math.log(1.0 / LEVEL) / (2.0 * trials))
