"""Services for tests: on SQLite in a folder, with a clock that stands still and judges that answer at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from driftjudge.judges.protocol import Item, Judge, Judgement, Usage
from driftjudge.monitor import MonitorConfig
from driftjudge.monitor.scores import Failure
from driftjudge.service.clock import ManualClock
from driftjudge.service.options import ServiceOptions
from driftjudge.service.runtime import Service
from driftjudge.service.values import AnchorIn, CalibrationIn, ItemIn, Judging, MonitorSettings
from driftjudge.store import open_store

RUBRICS, STRATA = ("helpfulness", "correctness"), ("coding", "creative")
GOOD, BAD = (0.75, 0.75), (0.0, 0.0)
NAME = "stream"
QUIET = ServiceOptions(owner="tests", tick_seconds=3_600.0, retry_seconds=0.001, retry_cap=0.01)
"""Nothing happens by itself: rounds of the housekeeping are made by hand."""
DAY = 86_400.0


def config(**settings: Any) -> MonitorConfig:
    chosen: dict[str, Any] = {"acquisition": "full", "budget": 1.0, "anchor_every": 5, "burst": 4, "seed": 7}
    return MonitorConfig(rubrics=RUBRICS, strata=STRATA, **{**chosen, **settings})


def anchors(count: int = 8, *, texts: bool = False) -> list[AnchorIn]:
    return [AnchorIn(f"a{i}", (0.5, 0.75), {"response": f"anchor {i}"} if texts else None) for i in range(count)]


def passes(count: int = 8, times: int = 4) -> list[list[list[float | None]]]:
    return [[[0.75, 0.75] for _ in range(count)] for _ in range(times)]


def calibration(count: int = 400, scores: tuple[float, ...] | None = GOOD) -> list[CalibrationIn]:
    return [
        CalibrationIn(f"c{i}", STRATA[i % 2], scores, None if scores is not None else {"response": f"item {i}"})
        for i in range(count)
    ]


def item(i: int, cheap: tuple[float, ...] | Failure | None = GOOD, **more: Any) -> ItemIn:
    return ItemIn(f"i{i}", STRATA[i % 2], cheap, **more)


def text(i: int, cheap: tuple[float, ...] | None = None) -> ItemIn:
    return ItemIn(f"i{i}", STRATA[i % 2], cheap, {"response": f"item {i}"})


class Judges:
    """Judges whose answers the test decides; `calls` counts what they were asked."""

    def __init__(self, answer: Callable[[Item], tuple[float, ...] | Failure] | None = None) -> None:
        self.answer: Callable[[Item], tuple[float, ...] | Failure] = answer or (lambda _: GOOD)
        self.calls: list[tuple[str, str]] = []
        self.dollars: float | None = 0.01

    def __call__(self, kind: str, _config: MonitorConfig, _judging: Judging) -> Judge:
        return _Judge(self, kind)


class _Judge:
    rubrics = RUBRICS

    def __init__(self, judges: Judges, kind: str) -> None:
        self._judges, self._kind = judges, kind

    @property
    def fingerprint(self) -> str:
        return f"{self._kind}-1"

    async def score(self, item: Item) -> Judgement:
        self._judges.calls.append((self._kind, item.id))
        return Judgement(self._judges.answer(item), self.fingerprint, Usage(10, 2, self._judges.dollars, 1))


@contextmanager
def service_in(
    folder: Path,
    *,
    judges: Judges | None = None,
    clock: ManualClock | None = None,
    options: ServiceOptions = QUIET,
) -> Iterator[Service]:
    store = open_store(folder / "service.db", now=0.0)
    with Service(store, judges=judges or Judges(), clock=clock or ManualClock(), options=options) as service:
        yield service
    store.close()


def judged_by_us(**more: Any) -> MonitorSettings:
    """The service judges everything."""
    return MonitorSettings(judging=Judging(cheap={"model": "c"}, strong={"model": "s"}, **more))


def start(
    service: Service, settings: MonitorSettings | None = None, *, name: str = NAME, anchored: bool = True, **more: Any
) -> None:
    """A running monitor."""
    service.create_monitor(name, config(**more), settings)
    if anchored:
        texts = settings is not None and settings.judging.strong is not None
        service.set_anchors(name, anchors(texts=texts), passes())
        service.freeze_anchors(name)
    service.calibrate(name, calibration())


def drop(service: Service, first: int = 0, name: str = NAME) -> int:
    """Send bad items, with their strong scores, until the system alarm rises; returns how many."""
    for i in range(first, first + 500):
        service.ingest(name, [item(i, BAD, strong=BAD)])
        if service.verdict(name).kind != "none":
            return i + 1
    raise AssertionError("no alarm")


def answer_anchors(service: Service, scores: tuple[float, ...] = GOOD, name: str = NAME) -> None:
    from driftjudge.service.values import AnchorScoreIn

    for _ in range(1_000):
        wanted = service.wanted_anchors(name)
        if not wanted:
            return
        service.record_anchors(name, [AnchorScoreIn(wanted[0], scores)])
    raise AssertionError("the anchors never end")
