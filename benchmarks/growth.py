"""Memory, snapshot size and time per item while a stream grows by powers of ten.

Each walk has a process of its own: memory that an earlier measurement freed would hide growth.
"""

from __future__ import annotations

import gc
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass

from benchmarks.contenders import Timing, check_quiet, drive, timed
from benchmarks.world import PRESETS, Preset, World, item_ids, make_stream, make_world
from driftjudge import Monitor

CHUNK = 5_000
POOL = 100_000
"""Items drawn once and fed again and again: the coins still differ from round to round."""
FIRST = 10_000

MOST_SLOWER = 1.25
"""Time is flat when the slowest decade costs at most this many times the fastest, per item."""
MOST_GROWTH = 2.0
"""Memory is flat when it grows by at most this many MiB from the end of the first decade to the end of the stream."""
MOST_SNAPSHOT = 1.05
"""Snapshots are flat when the last is at most this many times the first; numbers get more digits as they grow."""

DEADLINE = 600.0
"""Seconds after which a walk is given up."""


@dataclass(frozen=True)
class Decade:
    """The stream's state at `items`, and what an item cost since the decade before."""

    items: int
    nanoseconds_per_item: float
    resident_mib: float
    snapshot_kib: float


@dataclass(frozen=True)
class Growth:
    """One mode and preset over all decades."""

    mode: str
    preset: Preset
    decades: list[Decade]
    slowest_over_fastest: float
    memory_growth_mib: float
    snapshot_ratio: float
    time_flat: bool
    memory_flat: bool
    snapshot_flat: bool


def decades_to(items: int) -> list[int]:
    """Powers of ten from the first decade to `items`.

    >>> decades_to(1_000_000)
    [10000, 100000, 1000000]
    """
    ends = [FIRST]
    while ends[-1] * 10 <= items:
        ends.append(ends[-1] * 10)
    return ends


def _resident_mib() -> float:
    import psutil

    gc.collect()
    return float(psutil.Process().memory_info().rss) / 2**20


def _feeder(mode: str, world: World, monitor: Monitor, items: int) -> Callable[[int], Timing]:
    """A function that feeds the chunk starting at a position and says how long it took."""
    stream = make_stream(POOL)

    def feed_block(start: int) -> Timing:
        timing, block = Timing(), world.block(monitor, stream.part(start % POOL, start % POOL + CHUNK))
        with timed(timing):
            monitor.observe_block(block)
        return timing

    if mode == "replay":
        return feed_block
    answers, moods = world.answers(), iter(world.moods(0, items // world.config.anchor_every))

    def feed_one_by_one(start: int) -> Timing:
        timing, part = Timing(), stream.part(start % POOL, start % POOL + CHUNK)
        ids, names = item_ids(start, CHUNK), part.names()
        cheap, strong = part.rows(part.cheap), part.rows(part.strong)
        with timed(timing):
            drive(monitor, ids, names, cheap, strong, answers, moods)
        return timing

    return feed_one_by_one


def walk(mode: str, preset: Preset, items: int) -> list[Decade]:
    """Feed chunks up to `items`; the cost of a decade is the median over the chunks that lead up to it."""
    world = make_world(preset)
    _feeder(mode, world, world.monitor(), CHUNK)(0)  # compiles, and touches every code path once
    monitor = world.monitor()
    feed = _feeder(mode, world, monitor, items)
    decades, costs = [], []
    ends = decades_to(items)
    for start in range(0, ends[-1], CHUNK):
        costs.append(feed(start).processor / CHUNK * 1e9)
        if start + CHUNK in ends:
            snapshot = len(json.dumps(monitor.snapshot())) / 1024
            decades.append(Decade(start + CHUNK, statistics.median(costs), _resident_mib(), snapshot))
            costs = []
    check_quiet(monitor, ends[-1])
    return decades


def _walk_elsewhere(mode: str, preset: Preset, items: int) -> list[Decade]:
    command = [sys.executable, "-m", "benchmarks.growth", mode, preset, str(items)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"the walk {mode}/{preset} to {items} items failed: {done.stderr.strip()}")
    return [Decade(**decade) for decade in json.loads(done.stdout)]


def judge(mode: str, preset: Preset, walks: list[list[Decade]]) -> Growth:
    """The median walk, decade by decade, and whether it is flat."""
    decades = [
        Decade(
            same[0].items,
            statistics.median(decade.nanoseconds_per_item for decade in same),
            statistics.median(decade.resident_mib for decade in same),
            statistics.median(decade.snapshot_kib for decade in same),
        )
        for same in zip(*walks, strict=True)
    ]
    costs = [decade.nanoseconds_per_item for decade in decades]
    slower = max(costs) / min(costs)
    memory = statistics.median(walk[-1].resident_mib - walk[0].resident_mib for walk in walks)
    snapshot = decades[-1].snapshot_kib / decades[0].snapshot_kib
    return Growth(
        mode=mode,
        preset=preset,
        decades=decades,
        slowest_over_fastest=slower,
        memory_growth_mib=memory,
        snapshot_ratio=snapshot,
        time_flat=slower <= MOST_SLOWER,
        memory_flat=memory <= MOST_GROWTH,
        snapshot_flat=snapshot <= MOST_SNAPSHOT,
    )


@dataclass(frozen=True)
class Reach:
    """How far to walk, and how often."""

    presets: tuple[Preset, ...]
    online: int
    replay: int
    walks: int


FULL = Reach(presets=PRESETS, online=10**6, replay=10**7, walks=3)
QUICK = Reach(presets=("robust",), online=10**5, replay=10**6, walks=1)


def measure_growth(reach: Reach, tell: Callable[[str], None]) -> list[Growth]:
    """One by one and in blocks, walks taking turns."""
    modes = (("online", reach.online), ("replay", reach.replay))
    plans = [(mode, preset, items) for mode, items in modes for preset in reach.presets]
    taken: dict[tuple[str, Preset, int], list[list[Decade]]] = {plan: [] for plan in plans}
    for turn in range(reach.walks):
        for mode, preset, items in plans:
            tell(f"growth: walk {turn + 1} of {reach.walks}, {mode}/{preset} to {items:,} items")
            taken[mode, preset, items].append(_walk_elsewhere(mode, preset, items))
    return [judge(mode, preset, taken[mode, preset, items]) for mode, preset, items in plans]


def _main() -> None:
    mode, preset, items = sys.argv[1:]
    found = walk(mode, next(known for known in PRESETS if known == preset), int(items))
    print(json.dumps([asdict(decade) for decade in found]))


if __name__ == "__main__":
    _main()
