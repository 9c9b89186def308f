"""`python -m benchmarks.service`: how much a service process takes in, measured from outside over loopback.

The service runs as its own process on an SQLite file in a temporary folder; the load comes from this process over raw
keep-alive connections. At the end the service is killed (SIGKILL), its store is opened again, and every item that was
answered with 200 must be there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

from benchmarks.machine import this_machine

RUBRICS = ("helpfulness", "correctness", "tone")
STRATA = ("coding", "creative", "facts", "chat")
CONNECTIONS = 16
BATCH_GOAL, SINGLE_GOAL, P99_GOAL_MS, MOST_GROWTH_MIB = 2_000.0, 300.0, 100.0, 64.0


@dataclass(frozen=True)
class Plan:
    """How much is sent; every phase is bounded in count and in time."""

    batch_seconds: float
    single_seconds: float
    single_rate: float
    monitors: int
    memory_items: int


FULL = Plan(batch_seconds=60.0, single_seconds=60.0, single_rate=SINGLE_GOAL, monitors=1_000, memory_items=1_000_000)
QUICK = Plan(batch_seconds=3.0, single_seconds=3.0, single_rate=100.0, monitors=20, memory_items=20_000)


@dataclass
class Phase:
    """What one phase came to."""

    name: str
    items: int = 0
    refused: int = 0
    """Answers of 429 or 503."""
    seconds: float = 0.0
    server_cpu_seconds: float = 0.0
    resident_mib: float = 0.0
    latencies: list[float] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        """Rates and percentiles, without the raw latencies."""
        ms = 1_000.0 * np.array(self.latencies or [float("nan")])
        return {
            "items": self.items,
            "refused": self.refused,
            "seconds": round(self.seconds, 2),
            "items_per_second": round(self.items / self.seconds, 1) if self.seconds else 0.0,
            "requests_per_second": round(len(self.latencies) / self.seconds, 1) if self.seconds else 0.0,
            "p50_ms": round(float(np.percentile(ms, 50)), 1),
            "p99_ms": round(float(np.percentile(ms, 99)), 1),
            "server_cpu_us_per_item": round(1e6 * self.server_cpu_seconds / self.items, 1) if self.items else 0.0,
            "share_of_a_core": round(self.server_cpu_seconds / self.seconds, 2) if self.seconds else 0.0,
            "resident_mib": round(self.resident_mib, 1),
        }


class Connection:
    """A keep-alive connection that sends prepared bytes and reads one answer at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def post(self, path: str, body: bytes) -> int:
        """Send a body; the status."""
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        )
        self._writer.write(head.encode() + b"\r\n\r\n" + body)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", answer, re.IGNORECASE)
        await self._reader.readexactly(int(length[1]) if length else 0)
        return int(answer[9:12])


@asynccontextmanager
async def connected(port: int, count: int) -> AsyncIterator[list[Connection]]:
    pairs = [await asyncio.open_connection("127.0.0.1", port) for _ in range(count)]
    yield [Connection(reader, writer) for reader, writer in pairs]
    for _, writer in pairs:
        writer.close()


class World:
    """Bodies of items, made before they are needed so that making them is not measured."""

    def __init__(self, seed: int = 1) -> None:
        rng = np.random.default_rng(seed)
        self._rows = rng.choice([0.5, 0.75, 1.0], size=(1_009, len(RUBRICS))).tolist()
        self._made = 0

    def item(self) -> dict[str, Any]:
        """A new item with both judges' scores."""
        self._made += 1
        row = self._rows[self._made % len(self._rows)]
        stratum = STRATA[self._made % len(STRATA)]
        return {"id": f"item-{self._made}", "stratum": stratum, "cheap": row, "strong": row}

    def single(self) -> bytes:
        """The body of one item."""
        return json.dumps(self.item()).encode()

    def batch(self, size: int) -> bytes:
        """The body of many."""
        return json.dumps({"items": [self.item() for _ in range(size)]}).encode()


@contextmanager
def service(folder: Path) -> Iterator[tuple[int, psutil.Process]]:
    """A service process on a free port; killed at the end, as a crash would."""
    program = "import sys; from driftjudge.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "serve", "--port", "0", "--store", "load.db", "--log-level", "warning"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("DRIFTJUDGE_")}
    root = Path(__file__).resolve().parent.parent
    environment["PYTHONPATH"] = str(root / "src")
    with (folder / "log.jsonl").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=log, env=environment)
        try:
            assert process.stdout is not None
            found = re.search(rb"http://127\.0\.0\.1:(\d+)", process.stdout.readline())
            if found is None:
                raise RuntimeError("the service did not start: " + (folder / "log.jsonl").read_text()[-500:])
            yield int(found[1]), psutil.Process(process.pid)
        finally:
            process.send_signal(signal.SIGKILL)
            process.communicate()


def set_up(port: int, names: list[str]) -> None:
    """Monitors that watch, without anchors: nobody re-scores anything here."""
    rng = np.random.default_rng(7)
    items = [
        {"id": f"c{n}", "stratum": STRATA[n % len(STRATA)], "scores": rng.choice([0.5, 0.75, 1.0], size=3).tolist()}
        for n in range(400)
    ]
    config = {"rubrics": list(RUBRICS), "strata": list(STRATA), "seed": 7}
    with httpx2.Client(base_url=f"http://127.0.0.1:{port}/api/v1/", timeout=60.0) as http:
        for name in names:
            http.post("monitors", json={"name": name, "config": config}).raise_for_status()
            http.post(f"monitors/{name}/calibration", json={"items": items}).raise_for_status()


async def closed_loop(
    phase: Phase, port: int, process: psutil.Process, seconds: float, make: Callable[[], tuple[str, bytes, int]]
) -> None:
    """Every connection sends its next body as soon as the last one was answered."""
    async with connected(port, CONNECTIONS) as connections:
        end = time.perf_counter() + seconds

        async def send(connection: Connection) -> None:
            while time.perf_counter() < end:
                path, body, count = make()
                began = time.perf_counter()
                _count(phase, await connection.post(path, body), count, time.perf_counter() - began)

        await _measured(phase, process, [send(connection) for connection in connections])


async def open_loop(
    phase: Phase, port: int, process: psutil.Process, seconds: float, rate: float, bodies: list[tuple[str, bytes]]
) -> None:
    """One request every 1/rate seconds, whether or not the last was answered; latency counts from its due time."""
    due: asyncio.Queue[tuple[float, str, bytes] | None] = asyncio.Queue()
    async with connected(port, 4 * CONNECTIONS) as connections:

        async def feed() -> None:
            began = time.perf_counter()
            for number, (path, body) in enumerate(bodies[: int(seconds * rate)]):
                at = began + number / rate
                await asyncio.sleep(max(0.0, at - time.perf_counter()))
                due.put_nowait((at, path, body))
            for _ in connections:
                due.put_nowait(None)

        async def send(connection: Connection) -> None:
            while (job := await due.get()) is not None:
                at, path, body = job
                _count(phase, await connection.post(path, body), 1, time.perf_counter() - at)

        await _measured(phase, process, [feed(), *(send(connection) for connection in connections)])


def _count(phase: Phase, status: int, items: int, seconds: float) -> None:
    if status in (429, 503):
        phase.refused += 1
        return
    if status != 200:
        raise RuntimeError(f"the service answered {status}")
    phase.items += items
    phase.latencies.append(seconds)


async def _measured(phase: Phase, process: psutil.Process, jobs: list[Any]) -> None:
    before, began = process.cpu_times(), time.perf_counter()
    await asyncio.gather(*jobs)
    after = process.cpu_times()
    phase.seconds = time.perf_counter() - began
    phase.server_cpu_seconds = (after.user + after.system) - (before.user + before.system)
    phase.resident_mib = process.memory_info().rss / 2**20


def measure(plan: Plan, folder: Path, tell: Callable[[str], None]) -> dict[str, Any]:
    """All phases against one service, then the kill and the count."""
    world = World()
    sent: dict[str, int] = {}
    phases: dict[str, dict[str, float]] = {}

    def note(phase: Phase, name: str) -> None:
        sent[name] = sent.get(name, 0) + phase.items
        phases[phase.name] = phase.figures()
        tell(f"{phase.name}: {json.dumps(phases[phase.name])}")

    with service(folder) as (port, process):
        set_up(port, ["load", "one", "long"])
        address = "/api/v1/monitors/{}/items".format

        asyncio.run(closed_loop(Phase("warm-up"), port, process, 1.0, lambda: (address("one"), world.single(), 1)))
        warm = _accepted(port, "one")
        batches = Phase("batches of 100")
        ready = iter([world.batch(100) for _ in range(int(200 * plan.batch_seconds))])
        asyncio.run(
            closed_loop(
                batches, port, process, plan.batch_seconds, lambda: (address("load") + "/batch", next(ready), 100)
            )
        )
        note(batches, "load")
        singles = Phase(f"singles at {plan.single_rate:.0f}/s")
        bodies = [(address("one"), world.single()) for _ in range(int(plan.single_seconds * plan.single_rate))]
        asyncio.run(open_loop(singles, port, process, plan.single_seconds, plan.single_rate, bodies))
        note(singles, "one")
        flat_out = Phase("singles, flat out")
        more = iter([world.single() for _ in range(int(5_000 * plan.single_seconds / 6))])
        asyncio.run(
            closed_loop(flat_out, port, process, plan.single_seconds / 6, lambda: (address("one"), next(more), 1))
        )
        note(flat_out, "one")
        growth = _memory(plan, port, process, world, tell)
        sent["long"] = plan.memory_items
        names = [f"m{number}" for number in range(plan.monitors)]
        began = time.perf_counter()
        set_up(port, names)
        setting_up = time.perf_counter() - began
        many = Phase(f"singles over {plan.monitors} monitors")
        turns = [(address(names[n % len(names)]), world.single()) for n in range(3 * len(names))]
        asyncio.run(open_loop(many, port, process, len(turns) / plan.single_rate, plan.single_rate, turns))
        phases[many.name] = {**many.figures(), "set_up_seconds": round(setting_up, 1)}
        tell(f"{many.name}: {json.dumps(phases[many.name])}")
        sent["one"] += warm
        spread = many.items
    return {"phases": phases, "growth": growth, "lost": _lost(folder, sent, names, spread)}


def _accepted(port: int, name: str) -> int:
    with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60.0) as http:
        count: int = http.get(f"/api/v1/monitors/{name}").json()["accepted"]
        return count


def _memory(
    plan: Plan, port: int, process: psutil.Process, world: World, tell: Callable[[str], None]
) -> list[dict[str, float]]:
    """Resident memory and time per item along one long stream in batches of 1,000."""
    rows: list[dict[str, float]] = []
    done = 0
    for share in (0.1, 0.2, 0.4, 0.6, 0.8, 1.0):
        phase = Phase("long stream")
        target = int(plan.memory_items * share)
        bodies = [world.batch(1_000) for _ in range((target - done) // 1_000)]

        async def send(phase: Phase = phase, bodies: list[bytes] = bodies) -> None:
            async with connected(port, 1) as (connection,):

                async def one_by_one() -> None:
                    for body in bodies:
                        began = time.perf_counter()
                        status = await connection.post("/api/v1/monitors/long/items/batch", body)
                        _count(phase, status, 1_000, time.perf_counter() - began)

                await _measured(phase, process, [one_by_one()])

        asyncio.run(send())
        done = target
        figures = phase.figures()
        row = {"items": target, **{key: figures[key] for key in ("resident_mib", "server_cpu_us_per_item")}}
        rows.append(row)
        tell(f"long stream: {json.dumps(row)}")
    return rows


def _lost(folder: Path, sent: dict[str, int], names: list[str], spread: int) -> int:
    """Items that were answered with 200 and are not in the store after the kill."""
    from driftjudge.store import open_log, open_store

    store = open_store(folder / "load.db")
    try:

        def kept(name: str) -> int:
            log = open_log(store, name)
            assert log is not None
            monitor, _ = log.load()
            return monitor.position

        missing = sum(max(0, count - kept(name)) for name, count in sent.items())
        return missing + max(0, spread - sum(kept(name) for name in names))
    finally:
        store.close()


def missed_goals(figures: dict[str, Any]) -> list[str]:
    """Which promises these figures break."""
    phases, missed = figures["phases"], []
    batches = phases["batches of 100"]
    singles = next(value for name, value in phases.items() if name.startswith("singles at"))
    if batches["items_per_second"] < BATCH_GOAL:
        missed.append(f"batches: {batches['items_per_second']:.0f} items/s instead of {BATCH_GOAL:.0f}")
    if singles["p99_ms"] > P99_GOAL_MS or singles["refused"]:
        missed.append(f"singles: p99 {singles['p99_ms']:.0f} ms instead of {P99_GOAL_MS:.0f}")
    growth = figures["growth"]
    if growth[-1]["resident_mib"] - growth[0]["resident_mib"] > MOST_GROWTH_MIB:
        missed.append(f"memory grows by more than {MOST_GROWTH_MIB:.0f} MiB along the long stream")
    if figures["lost"]:
        missed.append(f"{figures['lost']} accepted items are not in the store")
    return missed


def show(console: Console, figures: dict[str, Any]) -> None:
    table = Table(title="One service process on SQLite, load over loopback from another process")
    columns = ("items/s", "requests/s", "p50 ms", "p99 ms", "CPU us/item", "of a core", "MiB")
    keys = ("items_per_second", "requests_per_second", "p50_ms", "p99_ms", "server_cpu_us_per_item")
    table.add_column("")
    for column in columns:
        table.add_column(column, justify="right")
    for name, phase in figures["phases"].items():
        cells = [f"{phase[key]:,.0f}" for key in keys]
        table.add_row(name, *cells, f"{phase['share_of_a_core']:.2f}", f"{phase['resident_mib']:.0f}")
    console.print(table)
    rows = ", ".join(f"{row['items']:,}: {row['resident_mib']:.0f}" for row in figures["growth"])
    console.print(f"Resident MiB along one stream: {rows}", highlight=False)
    console.print(f"Accepted items that a kill lost: {figures['lost']}", highlight=False)


def main(given: list[str] | None = None) -> int:
    """Measure, print, and with --json keep the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="half a minute instead of some; rougher figures")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    arguments = parser.parse_args(given)
    console = Console(width=120)
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(QUICK if arguments.quick else FULL, Path(folder), lambda line: print(line, file=sys.stderr))
    figures = {"quick": arguments.quick, "machine": asdict(this_machine()), **figures}
    figures["load_average"] = [round(value, 1) for value in os.getloadavg()]
    show(console, figures)
    missed = missed_goals(figures)
    for goal in missed:
        console.print(f"[red]missed[/] {goal}", highlight=False)
    if arguments.json:
        arguments.json.write_text(json.dumps({**figures, "missed": missed}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
