"""What is timed, and what each contender does for one item. Set-up is never inside a timed stretch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from benchmarks.world import RUBRICS, STRATA, Preset, Row, item_ids, make_stream, make_world
from driftjudge import Monitor


@dataclass
class Timing:
    """Seconds of one stretch. Rates are per processor second: what others do on the machine is not ours to report."""

    processor: float = 0.0
    wall: float = 0.0


@contextmanager
def timed(timing: Timing) -> Iterator[None]:
    """Add the time of the body to `timing`."""
    wall, processor = time.perf_counter(), time.process_time()
    yield
    timing.processor += time.process_time() - processor
    timing.wall += time.perf_counter() - wall


@dataclass(frozen=True)
class Outcome:
    """What one run took, and what it found, so that contenders can be held to the same work."""

    timing: Timing
    evidence: tuple[float, float] = (0.0, 0.0)
    alarms: int = 0


class UnequalWorkError(RuntimeError):
    """Contenders that should have computed the same thing did not: their times say nothing about each other."""


def drive(
    monitor: Monitor,
    ids: list[str],
    names: list[str],
    cheap: list[Row],
    strong: list[Row],
    answers: dict[str, list[Row]],
    moods: Iterator[int],
) -> None:
    """The loop of the README: observe, record what was asked for, look at the verdict."""
    for item_id, stratum, cheap_scores, strong_scores in zip(ids, names, cheap, strong, strict=True):
        ask = monitor.observe(item_id, stratum=stratum, cheap=cheap_scores)
        if ask.strong:
            monitor.record_strong(item_id, strong_scores)
        while monitor.pending_anchors:
            anchor_id = monitor.pending_anchors[0]
            monitor.record_anchor(anchor_id, answers[anchor_id][next(moods)])
        if monitor.verdict.kind != "none":
            return


def check_quiet(monitor: Monitor, items: int) -> None:
    """Refuse a run in which an alarm changed the path."""
    if monitor.verdict.kind != "none" or monitor.position != items:
        raise UnequalWorkError(
            f"the monitor found {monitor.verdict.kind!r} at item {monitor.position} of {items} where nothing drifts; "
            "choose another SEED in benchmarks/world.py"
        )


def _outcome(monitor: Monitor, timing: Timing, items: int) -> Outcome:
    check_quiet(monitor, items)
    return Outcome(timing, (monitor.system_evalue, monitor.judge_evalue))


def online(preset: Preset, items: int) -> Outcome:
    """The online Monitor: one item at a time, results recorded at once."""
    world, stream = make_world(preset), make_stream(items)
    monitor, timing = world.monitor(), Timing()
    ids, names = item_ids(0, items), stream.names()
    cheap, strong, answers = stream.rows(stream.cheap), stream.rows(stream.strong), world.answers()
    moods = iter(world.moods(0, items // world.config.anchor_every))
    with timed(timing):
        drive(monitor, ids, names, cheap, strong, answers, moods)
    return _outcome(monitor, timing, items)


def replay(preset: Preset, items: int) -> Outcome:
    """Whole-table replay: all items in one call."""
    world, stream = make_world(preset), make_stream(items)
    monitor, timing = world.monitor(), Timing()
    block = world.block(monitor, stream)
    with timed(timing):
        monitor.observe_block(block)
    return _outcome(monitor, timing, items)


class Detector(Protocol):
    """What a caller of river's detectors uses."""

    def update(self, x: float) -> object:
        """Take in one value."""

    @property
    def drift_detected(self) -> bool:
        """Whether the last value raised an alarm."""


def run_page_hinkley(strata: list[int], scores: list[Row]) -> Outcome:
    """River's detector with its default settings on each of the 30 cells: one update per rubric of an item."""
    from river.drift import PageHinkley

    detectors: list[list[Detector]] = [[PageHinkley() for _ in RUBRICS] for _ in STRATA]
    timing, alarms = Timing(), 0
    with timed(timing):
        for t, row in zip(strata, scores, strict=True):
            for detector, score in zip(detectors[t], row, strict=True):
                detector.update(score)
                if detector.drift_detected:
                    alarms += 1
    return Outcome(timing, alarms=alarms)


def page_hinkley_on_cheap(items: int) -> Outcome:
    """Every cheap score."""
    stream = make_stream(items)
    return run_page_hinkley(stream.strata.tolist(), stream.rows(stream.cheap))


def page_hinkley_on_strong(items: int) -> Outcome:
    """The strong scores the monitor would have asked for; the rate still counts all items of the stream."""
    stream, asked = make_stream(items), make_world("paper").asked(items)
    strata = [t for t, hit in zip(stream.strata.tolist(), asked, strict=True) if hit]
    scores = [row for row, hit in zip(stream.rows(stream.strong), asked, strict=True) if hit]
    return run_page_hinkley(strata, scores)


MODES: dict[str, Callable[[Preset, int], Outcome]] = {"online": online, "replay": replay}
"""How a monitor can be driven."""
