"""Every way to watch a judge, ours and others', on the identical anchor re-scores of the same streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from driftjudge.lab import anchor_rivals as rivals
from driftjudge.lab.anchor_streams import AnchorStream, anchor_stream
from driftjudge.lab.river_rivals import DETECTORS, river_detector, river_installed
from driftjudge.lab.scenarios import Scenario, run, stage
from driftjudge.lab.setting import Setting
from driftjudge.lab.simulate import NEVER, simulate
from driftjudge.lab.thresholds import first_above, held_out_threshold
from driftjudge.monitor import MonitorConfig
from driftjudge.monitor.config import Preset

EVERY = 5
"""Items per re-score."""
ALPHA = 0.1
LONGER = 10
"""Drift-free streams also run on to this many times their length: error control that ends with the paper's horizon
is of no use to a monitor that stays on."""
CALIBRATION_STREAMS = 60
FIRST_HELD_OUT = 1_000_000
"""Seeds of the streams that Page-Hinkley is calibrated on: no evaluation reaches that far."""
PRESETS: tuple[Preset, Preset] = ("paper", "robust")
OWN = ("e-process", "e-process (robust)")
"""The Monitor's rows, in the order of PRESETS."""

Detector = Callable[[AnchorStream], int]
"""Re-scores taken at the first alarm, 0 for never."""


@dataclass(frozen=True)
class Record:
    """What one method did: alarm positions per seed, NEVER where there was none."""

    scenario: Scenario
    quiet: NDArray[np.int64]
    """On drift-free streams, LONGER times as long as the others."""
    changed: Mapping[str, NDArray[np.int64]]
    """By judge change."""

    @property
    def early(self) -> int:
        """Streams with an alarm before the change: up to there a stream does not depend on what comes."""
        return int((self.quiet <= self.scenario.change_at).sum())

    @property
    def false_alarms(self) -> int:
        """Drift-free streams with an alarm within the length of the others."""
        return int((self.quiet <= self.scenario.items).sum())

    @property
    def false_alarms_later(self) -> int:
        """Drift-free streams with an alarm within LONGER times that length."""
        return int((self.quiet < NEVER).sum())

    def detection(self, change: str) -> float:
        """Share of streams whose first alarm came after the change; an early one is none, as in the paper."""
        return float(self._late(change).mean())

    def latency(self, change: str) -> float | None:
        """Median items from the change to the alarm over the streams that were detected, as in the paper."""
        found = self.changed[change][self._late(change)]
        return float(np.median(found)) - self.scenario.change_at if len(found) else None

    def typical_latency(self, change: str) -> float:
        """The same over all streams without an early alarm, a miss counting as infinite: missing is not being fast."""
        alarms = self.changed[change]
        alarms = np.where(alarms == NEVER, np.inf, alarms)[alarms > self.scenario.change_at]
        return float(np.median(alarms)) - self.scenario.change_at if len(alarms) else np.inf

    def _late(self, change: str) -> NDArray[np.bool_]:
        alarms = self.changed[change]
        late: NDArray[np.bool_] = (alarms > self.scenario.change_at) & (alarms < NEVER)
        return late


def judge_changes(setting: Setting) -> tuple[str, ...]:
    """Names of the judge changes: the table's own, and the synthetic one."""
    return (*setting.changes, "synthetic")


def _quiet(setting: Setting) -> Scenario:
    """No drift; the judge that never comes is one that every table has."""
    return replace(setting.scenario, condition="none", judge_change="synthetic")


def _cases(setting: Setting) -> dict[str, Scenario]:
    """The streams by name: `none`, and one per judge change."""
    scenario = _quiet(setting)
    cases = {"none": replace(scenario, items=scenario.items * LONGER)}
    return cases | {
        change: replace(scenario, condition="judge", judge_change=change) for change in judge_changes(setting)
    }


def records_of(setting: Setting, seeds: int) -> dict[str, Record]:
    """Alarms of every method. Both presets run at the paper's schedule without bursts: they get the same re-scores."""
    paper, robust = (setting.config(preset, anchor_every=EVERY, burst=0) for preset in PRESETS)
    detectors = _detectors(setting, paper)
    alarms: dict[str, dict[str, NDArray[np.int64]]] = {name: {} for name in (*OWN, *detectors)}
    for case, scenario in _cases(setting).items():
        streams, raised = [], []
        for seed in range(seeds):
            staged = stage(setting.table, replace(paper, seed=seed), scenario)
            streams.append(anchor_stream(staged))
            raised.append(run(staged).verdict.judge_alarm_at or NEVER)
        alarms["e-process"][case] = np.array(raised, dtype=np.int64)
        alarms["e-process (robust)"][case] = simulate(setting.table, robust, scenario, seeds).judge_at
        for name, detector in detectors.items():
            taken = np.array([detector(stream) for stream in streams], dtype=np.int64)
            alarms[name][case] = np.where(taken > 0, taken * EVERY, NEVER)
    return {name: Record(setting.scenario, found.pop("none"), found) for name, found in alarms.items()}


def _detectors(setting: Setting, config: MonitorConfig) -> dict[str, Detector]:
    """The rows beside ours, in the order of the table: the paper's two with a second reading each, then the rivals."""

    def path(stream: AnchorStream, known_mean: bool) -> NDArray[np.float64]:
        centre = stream.centre if known_mean else np.full(len(stream.centre), np.nan)
        return rivals.page_hinkley_path(stream.gaps, centre, rivals.TOLERANCE)

    seeds = range(FIRST_HELD_OUT, FIRST_HELD_OUT + CALIBRATION_STREAMS)
    held_out = [anchor_stream(stage(setting.table, replace(config, seed=seed), _quiet(setting))) for seed in seeds]
    running, known = (
        held_out_threshold([float(path(stream, known_mean).max()) for stream in held_out], ALPHA)
        for known_mean in (False, True)
    )

    def zscores(stream: AnchorStream) -> NDArray[np.float64]:
        return rivals.batch_zscores(stream.gaps, stream.centre, stream.spread, rivals.BATCH)

    window, critical, zero = rivals.WINDOW, rivals.CRITICAL, np.zeros(1)
    found: dict[str, Detector] = {
        "naive-z": lambda s: rivals.rolling_z(s.mean_gap, zero, s.mean_spread, window, critical),
        "naive-z, each rubric": lambda s: rivals.rolling_z(s.gaps, s.centre, s.spread, window, critical),
        "ph-calib": lambda s: first_above(path(s, False), running),
        "ph-calib, known mean": lambda s: first_above(path(s, True), known),
        "kappa rule": lambda s: rivals.kappa_rule(s, setting.scenario.grid_step, rivals.KAPPA_DROP),
        "EWMA chart": lambda s: rivals.BATCH * rivals.ewma_chart(zscores(s), rivals.EWMA_SMOOTHING, rivals.EWMA_WIDTH),
        "CUSUM chart": lambda s: (
            rivals.BATCH * rivals.cusum_chart(zscores(s), rivals.CUSUM_ALLOWANCE, rivals.CUSUM_DECISION)
        ),
    }
    if river_installed():
        for name in DETECTORS:
            found[f"river {name}"] = partial(_river, name)
    return found


def _river(name: str, stream: AnchorStream) -> int:
    return river_detector(name, stream.mean_gap[:, 0])
