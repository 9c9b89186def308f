"""`python -m benchmarks.page`: server time of the page with a thousand monitors, and of a monitor with a million items.

The store is filled through the service itself, then the pages are asked for in this process, without a network in
between: what is timed is what the server does. Every page is asked for several times; the first one, which loads the
monitor from its snapshot and draws its charts, is shown apart.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from fastapi.testclient import TestClient
from rich.console import Console
from rich.progress import track
from rich.table import Table

from driftjudge.monitor import MonitorConfig
from driftjudge.service.access import Access
from driftjudge.service.alerts.desk import AlertDesk
from driftjudge.service.alerts.settings import NO_ALERTS
from driftjudge.service.api.app import create_app
from driftjudge.service.runtime import Service
from driftjudge.service.settings import ServiceSettings
from driftjudge.service.values import AnchorIn, CalibrationIn, ItemIn
from driftjudge.store import Store, open_store

GOAL_SECONDS = 1.0
BATCH = 1_000
SMALL = MonitorConfig(rubrics=("quality",), strata=("all",), seed=1)
LARGE = MonitorConfig(rubrics=("tone", "facts", "style"), strata=("a", "b", "c", "d"), acquisition="uniform", seed=1)


def start(service: Service, name: str, config: MonitorConfig) -> None:
    """A running monitor with anchors."""
    scores = (0.75,) * len(config.rubrics)
    service.create_monitor(name, config)
    service.set_anchors(name, [AnchorIn(f"a{i}", scores) for i in range(20)], [[list(scores)] * 20] * 4)
    service.freeze_anchors(name)
    strata = config.strata
    service.calibrate(name, [CalibrationIn(f"c{i}", strata[i % len(strata)], scores) for i in range(400)])


def fill(service: Service, monitors: int, items: int) -> None:
    """Many small monitors and one long one."""
    for number in track(range(monitors), description="monitors"):
        start(service, f"m{number:04d}", SMALL)
        service.ingest(f"m{number:04d}", [ItemIn(f"i{i}", "all", (0.75,), strong=(0.75,)) for i in range(20)])
    start(service, "long", LARGE)
    scores = (0.75, 0.5, 0.75)
    for begin in track(range(0, items, BATCH), description="items"):
        batch = [
            ItemIn(f"i{i}", LARGE.strata[i % 4], scores, strong=scores) for i in range(begin, min(begin + BATCH, items))
        ]
        service.ingest("long", batch)


def measure(store: Store, service: Service, repetitions: int) -> dict[str, tuple[float, float]]:
    """First and median later server time per page, in seconds."""
    settings = ServiceSettings()
    desk = AlertDesk(store, NO_ALERTS)
    app = create_app(service, settings, Access(store), desk=desk)
    found = {}
    with TestClient(app, base_url="http://127.0.0.1:8321") as client:
        pages = ["/", "/monitors/long", *(f"/monitors/long/{c}.svg" for c in ("race", "cells", "shift", "spending"))]
        for path in pages:
            times = []
            for _ in range(repetitions):
                begun = time.perf_counter()
                answer = client.get(path)
                times.append(time.perf_counter() - begun)
                assert answer.status_code == 200, (path, answer.status_code)
            found[path] = times[0], sorted(times[1:])[len(times[1:]) // 2]
    desk.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--monitors", type=int, default=1_000)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--repetitions", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "page.db")
        with Service(store) as service:
            fill(service, given.monitors, given.items)
        with Service(store) as service:  # a fresh start: nothing is in memory
            found = measure(store, service, given.repetitions)
        store.close()
    table = Table(title=f"{given.monitors:,} monitors, one of them with {given.items:,} items; goal {GOAL_SECONDS:g} s")
    for head in ("page", "first, s", "later, s"):
        table.add_column(head, justify="left" if head == "page" else "right")
    for path, (first, later) in found.items():
        table.add_row(path, f"{first:.3f}", f"{later:.3f}")
    Console().print(table)


if __name__ == "__main__":
    main()
