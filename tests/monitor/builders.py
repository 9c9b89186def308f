"""Small seeded worlds for the monitor's tests: a healthy table, frozen anchors, and streams whose truth is known."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from driftjudge.monitor import AnchorSet, Block, Calibration, Failure, Monitor, MonitorConfig
from driftjudge.monitor import clock as ck
from driftjudge.monitor.errors import MonitorError
from driftjudge.monitor.events import AnchorRescored, Event, Observed, StrongScored
from driftjudge.monitor.scores import Scores

RUBRICS = ("helpfulness", "correctness")
STRATA = ("coding", "creative")
GRID = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
HEALTHY = np.array([0.0, 0.05, 0.25, 0.4, 0.3])
"""How often a healthy system earns each score of the grid: 0.7375 on average."""

ANCHORS = 40
GOOD = (0.75, 0.75)
BAD = (0.0, 0.0)


def make_config(**settings: Any) -> MonitorConfig:
    """Two rubrics, two strata, robust, every item asked about with the same probability, unless told otherwise."""
    spending = {"acquisition": "uniform", "budget": 0.3}
    return MonitorConfig(**{"rubrics": RUBRICS, "strata": STRATA, "seed": 7, **spending, **settings})


def healthy_scores(rng: np.random.Generator, items: int, rubrics: int = len(RUBRICS)) -> NDArray[np.float64]:
    scores: NDArray[np.float64] = rng.choice(GRID, size=(items, rubrics), p=HEALTHY)
    return scores


def make_calibration(config: MonitorConfig, *, items: int = 600, seed: int = 1, **settings: Any) -> Calibration:
    """Bars from healthy items, the same number in every stratum."""
    rng = np.random.default_rng([seed, 11])
    scores = healthy_scores(rng, items, len(config.rubrics))
    strata = [config.strata[i % len(config.strata)] for i in range(items)]
    return Calibration.from_scores(strata, scores, config, **settings)


def bars_at(level: float, config: MonitorConfig) -> Calibration:
    """Every bar at exactly `level`, every null the slack below it."""
    shape = (len(config.strata), len(config.rubrics))
    bars = np.full(shape, level)
    return Calibration(bars, np.zeros(shape), bars - config.slack, np.full(shape, 1_000), frozenset())


def make_anchors(
    *, count: int = ANCHORS, passes: int = 6, rubrics: int = len(RUBRICS), seed: int = 2, prefix: str = "a"
) -> AnchorSet:
    """Anchors on which the time-0 judge repeats itself and mostly agrees with the humans, from 0.25 to 0.75."""
    rng = np.random.default_rng([seed, 12])
    judged = rng.choice(GRID[1:4], size=(count, rubrics))
    human = np.clip(judged + rng.choice([-0.25, 0.0, 0.0, 0.25], size=judged.shape), 0.0, 1.0)
    return AnchorSet(ids=[f"{prefix}{i}" for i in range(count)], human=human, passes=np.array([judged] * passes))


def make_monitor(*, anchored: bool = True, **settings: Any) -> Monitor:
    """A fresh monitor with the usual calibration, and with anchors unless told otherwise."""
    config = make_config(**settings)
    return Monitor(config, calibration=make_calibration(config), anchors=make_anchors() if anchored else None)


@dataclass(frozen=True)
class World:
    """A stream in which everything that could be asked has its answer; NaN is an answer that failed."""

    config: MonitorConfig
    block: Block

    def __len__(self) -> int:
        return len(self.block)

    def stratum(self, i: int) -> str:
        return self.config.strata[int(self.block.strata[i])]

    def cheap(self, i: int) -> tuple[float, ...] | Failure:
        return as_answer(self.block.cheap[i], "transport")

    def strong(self, i: int) -> tuple[float, ...] | Failure:
        return as_answer(self.block.strong[i], "unparsable")

    def rescore(self, monitor: Monitor, i: int, anchor_id: str) -> tuple[float, ...] | Failure:
        """What the judge in force at item i answers on an anchor."""
        anchor = monitor._anchor_index[anchor_id]
        return as_answer(self.block.rescored[self.block.versions[i], 0, anchor], "refusal")


def as_answer(row: NDArray[np.float64], reason: Any) -> tuple[float, ...] | Failure:
    return Failure(reason) if np.isnan(row).any() else tuple(row.tolist())


def make_world(
    monitor: Monitor,
    items: int,
    *,
    seed: int = 3,
    drop_at: int | None = None,
    harsher_at: int | None = None,
    failures: float = 0.0,
    refusals: float = 0.0,
) -> World:
    """A healthy stream; from `drop_at` the first stratum earns 0, from `harsher_at` the judge gives one step less.

    `failures` is the share of items on which either judge fails, `refusals` that of anchors the strong one refuses.
    """
    config = monitor.config
    rng = np.random.default_rng([seed, 13])
    rubrics = len(config.rubrics)
    strata = rng.integers(0, len(config.strata), items)
    strong = healthy_scores(rng, items, rubrics)
    cheap = np.clip(strong + rng.choice([0.0, 0.25], size=strong.shape), 0.0, 1.0)
    after = np.arange(items)
    if drop_at is not None:
        strong[(after >= drop_at) & (strata == 0)] = 0.0
    moved = after >= (items if harsher_at is None else harsher_at)
    strong = np.clip(strong - 0.25 * moved[:, None], 0.0, 1.0)
    usual = np.empty((0, rubrics)) if monitor.baseline is None else monitor.baseline.usual
    rescored = np.array([[usual], [np.clip(usual - 0.25, 0.0, 1.0)]])
    for answers in (cheap, strong):
        answers[rng.random(items) < failures] = np.nan
    rescored[rng.random(rescored.shape[:3]) < refusals] = np.nan
    return World(config, Block(strata, cheap, strong, moved.astype(np.int64), rescored))


def drive(
    monitor: Monitor,
    world: World,
    start: int = 0,
    stop: int | None = None,
    *,
    log: list[Event] | None = None,
    after_each: Callable[[int], None] | None = None,
) -> Monitor:
    """The loop of the README: observe, then record everything that is wanted before the next item."""
    log = [] if log is None else log
    for i in range(start, len(world) if stop is None else stop):
        ask = tell(monitor, Observed(f"i{i}", world.stratum(i), world.cheap(i)), log)
        if ask.strong:
            tell(monitor, StrongScored(f"i{i}", world.strong(i)), log)
        while monitor.pending_anchors:
            anchor = monitor.pending_anchors[0]
            tell(monitor, AnchorRescored(anchor, world.rescore(monitor, i, anchor)), log)
        if after_each is not None:
            after_each(i)
    return monitor


def tell(monitor: Monitor, event: Event, log: list[Event]) -> Any:
    log.append(event)
    return monitor.apply(event)


def answer_all(monitor: Monitor, scores: Scores = GOOD) -> None:
    """Give every outstanding item the same strong scores, oldest first."""
    for item_id in monitor.pending_items:
        monitor.record_strong(item_id, scores)


def rescore_all(monitor: Monitor, shift: float = 0.0) -> None:
    """Answer every wanted anchor with its usual score, moved by `shift`."""
    while monitor.pending_anchors:
        rescore(monitor, monitor.pending_anchors[0], shift)


def rescore(monitor: Monitor, anchor_id: str, shift: float = 0.0) -> None:
    monitor.record_anchor(anchor_id, usual_scores(monitor, anchor_id, shift))


def usual_scores(monitor: Monitor, anchor_id: str, shift: float = 0.0) -> NDArray[np.float64]:
    assert monitor.baseline is not None
    moved: NDArray[np.float64] = np.clip(monitor.baseline.usual[monitor._anchor_index[anchor_id]] + shift, 0.0, 1.0)
    return moved


def raise_system_alarm(monitor: Monitor, prefix: str = "bad", most: int = 400) -> int:
    """Feed terrible items until the main alarm rises, answering scheduled anchors as usual; return its position.

    What the alarm itself asked for (a burst) is left outstanding.
    """
    for n in range(most):
        item_id = f"{prefix}{n}"
        ask = monitor.observe(item_id, stratum=monitor.config.strata[0], cheap=BAD)
        if ask.strong:
            monitor.record_strong(item_id, BAD)
        if monitor._clock[ck.SYSTEM_AT]:
            return int(monitor._clock[ck.SYSTEM_AT])
        rescore_all(monitor)
    raise AssertionError("the main family never alarmed")


def raise_judge_alarm(monitor: Monitor, prefix: str = "calm", most: int = 3_000) -> int:
    """Feed healthy items while the judge scores every anchor one step lower; return the alarm's position."""
    for n in range(most):
        item_id = f"{prefix}{n}"
        if monitor.observe(item_id, stratum=monitor.config.strata[0], cheap=GOOD).strong:
            monitor.record_strong(item_id, GOOD)
        rescore_all(monitor, -0.25)
        if monitor._clock[ck.JUDGE_AT]:
            return int(monitor._clock[ck.JUDGE_AT])
    raise AssertionError("the anchor family never alarmed")


def through_json(value: Any) -> Any:
    """What comes back from a file."""
    return json.loads(json.dumps(value, allow_nan=False))


def restored(monitor: Monitor) -> Monitor:
    return Monitor.restore(through_json(monitor.snapshot()))


def without_ids(snapshot: dict[str, Any]) -> dict[str, Any]:
    """A block names no items and asks for nothing in advance: ids remembered are left out of a comparison with it."""
    return {name: value for name, value in snapshot.items() if name not in ("seen_ids", "withdrawn", "checksum")}


@contextmanager
def refused(error: type[MonitorError], *words: str, monitor: Monitor | None = None) -> Iterator[None]:
    """The body is refused with exactly this class and one sentence that holds all the words; nothing has changed."""
    before = None if monitor is None else monitor.snapshot()
    with pytest.raises(error) as caught:
        yield
    assert type(caught.value) is error
    message = str(caught.value)
    assert [word for word in words if word not in message] == [], message
    assert is_one_sentence(message), message
    if monitor is not None:
        assert monitor.snapshot() == before


def is_one_sentence(text: str) -> bool:
    """One line of readable length with no second sentence in it."""
    return 0 < len(text) <= 300 and "\n" not in text and re.search(r"[.!?]\s+[A-Z]", text) is None
