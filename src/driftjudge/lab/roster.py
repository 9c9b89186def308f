"""The ten methods of appendix B, A1 to E1, and how each is run on streams that all of them share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftjudge.lab import classical
from driftjudge.lab.detection import Detections, detect, streams
from driftjudge.lab.scenarios import Scenario, cast
from driftjudge.lab.setting import Setting
from driftjudge.lab.simulate import NEVER
from driftjudge.lab.thresholds import first_above, in_sample_threshold
from driftjudge.monitor import Block
from driftjudge.monitor.config import Preset
from driftjudge.tables import ScoreTable

Detector = Callable[[NDArray[np.int64], NDArray[np.float64], int], NDArray[np.float64]]

BUDGETS = (0.1, 0.2, 0.3)
FLOORS = (0.02, 0.05, 0.1)
HELD_OUT = range(10_000, 10_060)
"""Drift-free streams that set the classical detectors' thresholds and are used for nothing else."""
ALPHA = 0.1


@dataclass(frozen=True)
class Method:
    """One line of the roster."""

    label: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of the e-process."""
    runs_cheap: bool = True
    """Pays for the cheap judge on every item."""
    detector: Detector | None = None
    """A classical detector on the cheap scores instead of an e-process."""

    @property
    def series(self) -> str:
        """The method without its budget, with the three that never ask the strong judge as one."""
        return "A cheap only" if self.cheap_only else self.label.rstrip(".0123456789").rstrip()

    @property
    def cheap_only(self) -> bool:
        """True when it never asks the strong judge."""
        return self.label.startswith("A")


def _budgeted(name: str, budgets: tuple[float, ...], runs_cheap: bool = True, **settings: Any) -> list[Method]:
    return [Method(f"{name} {budget:g}", {**settings, "budget": budget}, runs_cheap) for budget in budgets]


ROSTER: tuple[Method, ...] = (
    Method("A1 e-process on cheap", {"acquisition": "full"}),
    Method("A2 Page-Hinkley on cheap", detector=classical.page_hinkley),
    Method("A3 Shiryaev-Roberts on cheap", detector=classical.shiryaev_roberts),
    *_budgeted("B1 label-only", BUDGETS, runs_cheap=False, proxies=(0.0,)),
    *_budgeted("C1 global", BUDGETS, strata=("all",)),
    *_budgeted("D1 uniform", BUDGETS),
    *_budgeted("D2 boundary", FLOORS, acquisition="boundary"),
    *_budgeted("D3 growth", FLOORS, acquisition="growth"),
    *_budgeted("D4 escalation", FLOORS, acquisition="log-escalation"),
    *_budgeted("D4 plain escalation", FLOORS, acquisition="escalation"),
    Method("E1 full", {"acquisition": "full"}, runs_cheap=False),
)


@dataclass(frozen=True)
class Trial:
    """Streams of one kind: drift-free, severe or mild."""

    scenario: Scenario
    blocks: Mapping[int, Block]


@dataclass(frozen=True)
class Result:
    """What one method did in every trial."""

    method: Method
    found: Mapping[str, Detections]
    """By trial; `healthy` is the drift-free one."""
    cheap: float
    """Price of the cheap judge on every item, in strong calls."""

    @property
    def false_alarms(self) -> int:
        """Drift-free streams that alarmed."""
        return self.found["healthy"].alarms

    def rate(self, trial: str) -> float:
        """Share of items the strong judge was asked about."""
        return 0.0 if self.method.cheap_only else self.found[trial].sampled

    def spent(self, trial: str) -> float:
        """Cost fraction until the alarm or the end; a method pays only for the judges it calls."""
        return self.rate(trial) + (self.cheap if self.method.runs_cheap else 0.0)

    def cost(self, trial: str) -> float | None:
        """Cost fraction at detection."""
        sampled = self.found[trial].sampled_at_detection()
        if sampled is None:
            return None
        return (0.0 if self.method.cheap_only else sampled) + (self.cheap if self.method.runs_cheap else 0.0)


def run_roster(setting: Setting, preset: Preset, trials: Mapping[str, Trial]) -> dict[str, Result]:
    """Every method on every trial; results by label."""
    results = {}
    for method in ROSTER:
        config = setting.config(preset, **method.settings)
        if method.detector is not None:
            found = _classical(setting, method.detector, trials)
        else:
            judge = "cheap" if method.cheap_only else "strong"
            found = {
                name: detect(setting.table, config, trial.scenario, trial.blocks, judge=judge)
                for name, trial in trials.items()
            }
        results[method.label] = Result(method, found, config.cheap_price / config.strong_price)
    return results


def _classical(setting: Setting, detector: Detector, trials: Mapping[str, Trial]) -> dict[str, Detections]:
    """Threshold from the held-out streams, then alarms on the trials' own."""
    healthy = trials["healthy"].scenario
    held_out = streams(setting.table, setting.config("paper"), healthy, HELD_OUT)
    peaks = np.array([path.max() for path in _paths(setting.table, detector, Trial(healthy, held_out))])
    threshold = in_sample_threshold(peaks, ALPHA)
    found = {}
    for name, trial in trials.items():
        alarms = [first_above(path, threshold) or NEVER for path in _paths(setting.table, detector, trial)]
        alarm_at = np.array(alarms, dtype=np.int64)
        items = np.minimum(alarm_at, trial.scenario.items)
        found[name] = Detections(trial.scenario.change_at, alarm_at, items, np.zeros_like(items))
    return found


def _paths(table: ScoreTable, detector: Detector, trial: Trial) -> list[NDArray[np.float64]]:
    strata = np.searchsorted(np.array(table.stratum_names), np.array(table.strata))
    cheap, paths = table.judge("cheap"), []
    for seed, block in trial.blocks.items():
        pool = cast(table, trial.scenario.anchors, seed).pool
        scores = classical.standardised(block.strata, block.cheap, strata[pool], cheap[pool])
        paths.append(detector(block.strata, scores, len(table.stratum_names)))
    return paths
