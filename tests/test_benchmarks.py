"""The benchmarks compare what they say they compare; how fast anything is, is for `make bench` to tell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.contenders import MODES, Outcome, Timing
from benchmarks.growth import Decade, Growth, judge
from benchmarks.speed import YARDSTICK, Contender, compare
from benchmarks.world import PRESETS, Preset

ROOT = Path(__file__).resolve().parent.parent


def _contender(key: str, items: int, plain: str | None = None, goal: float | None = None) -> Contender:
    return Contender(key, "", items, lambda: Outcome(Timing()), plain, goal)


def _walk(costs: tuple[float, ...], memory: tuple[float, ...], snapshot: tuple[float, ...]) -> Growth:
    ends = (10**4, 10**5, 10**6)
    decades = [Decade(*figures) for figures in zip(ends, costs, memory, snapshot, strict=True)]
    return judge("online", "robust", [decades])


@pytest.mark.parametrize("preset", PRESETS)
def test_online_and_replay_come_to_the_same_evidence(preset: Preset) -> None:
    online, replay = (MODES[mode](preset, 2_000).evidence for mode in ("online", "replay"))
    assert online == replay
    assert online != (1.0 / 30, 1.0)


def test_ratios_are_taken_within_a_repetition_so_that_a_slow_minute_cancels_out() -> None:
    field = [_contender(YARDSTICK, 10), _contender("ours", 40, goal=25.0)]
    seconds = {YARDSTICK: (1.0, 10.0, 1.0), "ours": (2.0, 20.0, 2.0)}
    outcomes = {key: [Outcome(Timing(second, second)) for second in taken] for key, taken in seconds.items()}
    ours = compare(field, outcomes)[1]
    assert (ours.times_river.low, ours.times_river.high) == (2.0, 2.0)
    assert (ours.items_per_second.low, ours.items_per_second.median) == (2.0, 20.0)
    assert ours.goal_met is False


def test_a_stream_whose_cost_stays_the_same_is_flat() -> None:
    found = _walk((100.0, 110.0, 105.0), (200.0, 201.0, 201.5), (50.0, 50.0, 51.0))
    assert (found.time_flat, found.memory_flat, found.snapshot_flat) == (True, True, True)


def test_a_stream_that_slows_down_or_fills_up_is_not_flat() -> None:
    found = _walk((100.0, 110.0, 130.0), (200.0, 202.0, 204.0), (50.0, 60.0, 70.0))
    assert (found.time_flat, found.memory_flat, found.snapshot_flat) == (False, False, False)


# Slow, about 20 seconds, and only where `make bench` has installed the peers.
def test_a_quick_run_writes_every_figure(tmp_path: Path) -> None:
    for peer in ("river", "psutil"):
        pytest.importorskip(peer, reason=f"{peer} is not installed: run `make bench`")
    written = tmp_path / "figures.json"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick", "--json", str(written)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(written.read_text(encoding="utf-8"))
    monitors = {f"{mode}/{preset}" for mode in MODES for preset in PRESETS}
    assert set(figures) == {"quick", "machine", "speed", "growth", "startup", "missed"}
    assert set(figures["speed"]) == monitors | {f"plain/{key}" for key in monitors} | {YARDSTICK, "river/strong"}
    assert set(figures["growth"]) == {"online/robust", "replay/robust"}
    assert [decade["items"] for decade in figures["growth"]["replay/robust"]["decades"]] == [10**4, 10**5, 10**6]
    assert figures["startup"]["first_items_cold"]["median"] > 0.0
    assert all(row in done.stdout for row in monitors)
    assert str(ROOT) not in done.stdout + written.read_text(encoding="utf-8")
