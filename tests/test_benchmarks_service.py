"""The load benchmark counts what it says it counts; how fast anything is, is for the benchmark itself to tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.service import Phase, Plan, measure, missed_goals


def _figures(**changes: Any) -> dict[str, Any]:
    phases = {
        "batches of 100": {"items_per_second": 2_500.0},
        "singles at 300/s": {"p99_ms": 40.0, "refused": 0},
    }
    figures: dict[str, Any] = {
        "phases": phases,
        "growth": [{"resident_mib": 200.0}, {"resident_mib": 210.0}],
        "lost": 0,
    }
    return {**figures, **changes}


def test_good_figures_miss_nothing() -> None:
    assert missed_goals(_figures()) == []


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"lost": 3}, "3 accepted items are not in the store"),
        ({"growth": [{"resident_mib": 200.0}, {"resident_mib": 300.0}]}, "memory grows"),
        (
            {
                "phases": {
                    "batches of 100": {"items_per_second": 100.0},
                    "singles at 300/s": {"p99_ms": 1.0, "refused": 0},
                }
            },
            "batches: 100 items/s instead of 2000",
        ),
        (
            {
                "phases": {
                    "batches of 100": {"items_per_second": 9e9},
                    "singles at 300/s": {"p99_ms": 150.0, "refused": 0},
                }
            },
            "singles: p99 150 ms instead of 100",
        ),
    ],
)
def test_a_broken_promise_is_named(changes: dict[str, Any], told: str) -> None:
    (missed,) = missed_goals(_figures(**changes))
    assert told in missed


def test_a_phase_without_answers_has_no_rate() -> None:
    assert Phase("idle").figures()["items_per_second"] == 0.0


def test_a_tiny_run_loses_nothing_over_a_kill(tmp_path: Path) -> None:
    plan = Plan(batch_seconds=0.2, single_seconds=0.2, single_rate=50.0, monitors=2, memory_items=10_000)
    figures = measure(plan, tmp_path, lambda _: None)
    assert figures["lost"] == 0
    assert figures["phases"]["batches of 100"]["items"] >= 100
    assert [row["items"] for row in figures["growth"]] == [1_000, 2_000, 4_000, 6_000, 8_000, 10_000]
