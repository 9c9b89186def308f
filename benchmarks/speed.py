"""Items per second on one core, contenders taking turns so that a noisy minute hits all of them alike."""

from __future__ import annotations

import gc
import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchmarks.contenders import (
    MODES,
    Outcome,
    UnequalWorkError,
    page_hinkley_on_cheap,
    page_hinkley_on_strong,
)
from benchmarks.plain import PlainPython
from benchmarks.world import PRESETS, Preset
from driftjudge.monitor.config import PRESETS as PRESET_SETTINGS

YARDSTICK = "river/cheap"
GOALS = {"online": 100_000.0, "replay": 3_000_000.0}
"""Items per second on one core with numba."""


@dataclass(frozen=True)
class Sizes:
    """How many items each contender sees per repetition: enough for a stretch of some tenths of a second."""

    online: int
    replay: int
    plain: int
    river: int
    repetitions: int


FULL = Sizes(online=100_000, replay=1_000_000, plain=5_000, river=100_000, repetitions=9)
QUICK = Sizes(online=10_000, replay=100_000, plain=500, river=10_000, repetitions=3)


@dataclass(frozen=True)
class Contender:
    """Something that sees a stream of items."""

    key: str
    does: str
    items: int
    run: Callable[[], Outcome]
    plain: str | None = None
    """Key of the same thing in plain Python."""
    goal: float | None = None


@dataclass(frozen=True)
class Spread:
    """Median, smallest and largest over the repetitions."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """Summarise."""
        listed = list(values)
        return cls(statistics.median(listed), min(listed), max(listed))


@dataclass(frozen=True)
class Result:
    """One contender beside the others."""

    key: str
    does: str
    items: int
    times_river: Spread
    """Its rate over river's in the same repetition."""
    times_plain: Spread | None
    """Its rate over plain Python's in the same repetition."""
    items_per_second: Spread
    microseconds_per_item: float
    share_of_core: float
    """Processor over wall seconds: below 1 the machine was busy with others."""
    alarms: int
    goal: float | None
    goal_met: bool | None


def _monitors(sizes: Sizes, preset: Preset, plain: PlainPython) -> list[Contender]:
    found = []
    told = {
        "online": "observe every item, record_strong the 30% asked about, record_anchor what is pending "
        f"(every {PRESET_SETTINGS[preset]['anchor_every']} items), look at the verdict",
        "replay": "observe_block on the whole table: the same evidence, bit for bit, with every score known beforehand",
    }
    for mode, items in (("online", sizes.online), ("replay", sizes.replay)):
        key = f"{mode}/{preset}"
        run, beside = _run_here(mode, preset, items), _run_there(plain, mode, preset, sizes.plain)
        found.append(Contender(key, told[mode], items, run, f"plain/{key}", GOALS[mode]))
        found.append(
            Contender(
                f"plain/{key}",
                "the very same code with NUMBA_DISABLE_JIT=1, in a process of its own",
                sizes.plain,
                beside,
            )
        )
    return found


def _run_here(mode: str, preset: Preset, items: int) -> Callable[[], Outcome]:
    return lambda: MODES[mode](preset, items)


def _run_there(plain: PlainPython, mode: str, preset: Preset, items: int) -> Callable[[], Outcome]:
    return lambda: plain.run(mode, preset, items)


def contenders(sizes: Sizes, plain: PlainPython) -> list[Contender]:
    """Everybody who takes part; the yardstick first."""
    river = [
        Contender(
            YARDSTICK,
            "PageHinkley() per cell, one update per cheap score; knows no strong scores, anchors or error rate",
            sizes.river,
            lambda: page_hinkley_on_cheap(sizes.river),
        ),
        Contender(
            "river/strong",
            "PageHinkley() per cell, one update per strong score of the 30% of items asked about; others cost nothing",
            sizes.river,
            lambda: page_hinkley_on_strong(sizes.river),
        ),
    ]
    return river + [contender for preset in PRESETS for contender in _monitors(sizes, preset, plain)]


def check_equal_work(plain: PlainPython, items: int) -> None:
    """Online, replay and plain Python must come to the same evidence, or their times do not belong side by side."""
    for preset in PRESETS:
        evidence = MODES["online"](preset, items).evidence
        if MODES["replay"](preset, items).evidence != evidence:
            raise UnequalWorkError(f"online and replay differ in preset {preset!r} after {items} items")
        for mode in MODES:
            beside = plain.run(mode, preset, items).evidence
            if not all(math.isclose(a, b, rel_tol=1e-12) for a, b in zip(evidence, beside, strict=True)):
                raise UnequalWorkError(f"plain Python differs from numba in preset {preset!r} after {items} items")


def take_turns(field: Sequence[Contender], repetitions: int, tell: Callable[[str], None]) -> dict[str, list[Outcome]]:
    """Every contender once per repetition, starting one further each time."""
    outcomes: dict[str, list[Outcome]] = {contender.key: [] for contender in field}
    for repetition in range(repetitions):
        tell(f"speed: repetition {repetition + 1} of {repetitions}")
        shift = repetition % len(field)
        for contender in (*field[shift:], *field[:shift]):
            gc.collect()  # nobody pays for the litter of the one before
            outcomes[contender.key].append(contender.run())
    return outcomes


def compare(field: Sequence[Contender], outcomes: dict[str, list[Outcome]]) -> list[Result]:
    """Ratios within each repetition first, then their medians: a slow minute cancels out."""
    rates = {c.key: [c.items / outcome.timing.processor for outcome in outcomes[c.key]] for c in field}

    def ratio(key: str, to: str) -> Spread:
        return Spread.of(a / b for a, b in zip(rates[key], rates[to], strict=True))

    results = []
    for c in field:
        rate, done = Spread.of(rates[c.key]), outcomes[c.key]
        results.append(
            Result(
                key=c.key,
                does=c.does,
                items=c.items,
                times_river=ratio(c.key, YARDSTICK),
                times_plain=ratio(c.key, c.plain) if c.plain else None,
                items_per_second=rate,
                microseconds_per_item=1e6 / rate.median,
                share_of_core=sum(o.timing.processor for o in done) / sum(o.timing.wall for o in done),
                alarms=sum(o.alarms for o in done),
                goal=c.goal,
                goal_met=None if c.goal is None else rate.median >= c.goal,
            )
        )
    return results


def measure_speed(sizes: Sizes, tell: Callable[[str], None]) -> list[Result]:
    """The whole comparison."""
    with PlainPython() as plain:
        tell("speed: checking that all contenders compute the same evidence")
        check_equal_work(plain, min(1_000, sizes.plain))
        field = contenders(sizes, plain)
        return compare(field, take_turns(field, sizes.repetitions, tell))
