"""Made-up races with known features: what charts and reports are tested on, and looked at while they change."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.evidence import CellEvidence, Cost, Evidence, JudgeShift, Milestone, Trace
from driftjudge.monitor.verdict import Verdict

RUBRICS = ("helpfulness", "correctness", "coherence", "complexity", "verbosity")
STRATA = ("coding", "creative", "math", "summaries", "advice", "other")
NAN = math.nan


class SpokenVerdict(Verdict):
    """A verdict whose sentence is fixed here, so that these tests do not depend on its wording."""

    def explain(self) -> str:
        return {
            "none": "No drift has been shown in 1,500 items.",
            "system": "The system drifted: scores fell below their bars by item 1,098 while the judge held still.",
            "judge": "The judge drifted by item 735 (helpfulness harsher, correctness harsher); trust no score yet.",
            "unattributed": "Scores fell by item 1,098, but without anchors nobody can say who moved.",
        }[self.kind]


@dataclass(frozen=True)
class Sample:
    """One case: everything a report is written from."""

    evidence: Evidence
    trace: Trace
    change_at: int | None


def walk(seed: int, items: int, start: int, slope: float) -> NDArray[np.float64]:
    """Evidence that idles near zero and climbs with `slope` per item from `start` on."""
    steps = np.random.default_rng(seed).normal(0.0, 3.0 / math.sqrt(items), items)
    level = np.empty(items)
    now = 0.0
    for item in range(items):
        drift = slope if item >= start else -3.0 / items * now
        now = max(now + drift + steps[item], -1.6)
        level[item] = now
    return level


def first_above(values: NDArray[np.float64], threshold: float) -> int | None:
    """The position (from 1) of the first crossing."""
    crossed = np.flatnonzero(values >= threshold)
    return int(crossed[0]) + 1 if len(crossed) else None


def cells_of(config: MonitorConfig, dropped: tuple[tuple[str, str], ...], idle: tuple[str, ...]) -> list[CellEvidence]:
    rng = np.random.default_rng(5)
    cells = []
    for rubric in config.rubrics:
        for stratum in config.strata:
            bar = 0.03 if stratum in idle else float(rng.uniform(0.55, 0.85))
            fell = (rubric, stratum) in dropped
            log_e = float(rng.uniform(7.0, 9.0)) if fell else float(rng.normal(0.0, 1.0))
            cells.append(
                CellEvidence(
                    rubric=rubric,
                    stratum=stratum,
                    bar=bar,
                    bar_error=0.04,
                    null=NAN if stratum in idle else bar - 0.09,
                    calibration_items=200,
                    observations=250,
                    mean=bar - 0.2 if fell else bar,
                    log_e=NAN if stratum in idle else log_e,
                    named=fell,
                )
            )
    return cells


def shifts_of(config: MonitorConfig, harsher: tuple[str, ...]) -> list[JudgeShift]:
    shifts = []
    for number, rubric in enumerate(config.rubrics):
        shift = -0.14 - 0.02 * number if rubric in harsher else 0.01 * number
        wide = 0.06 + 0.01 * number
        shifts.append(
            JudgeShift(
                rubric=rubric,
                baseline_gap=0.03,
                shift=shift,
                low=shift - wide,
                high=shift + wide,
                since=600 if rubric in harsher else 0,
                rescores=60,
                log_e_harsher=9.0 if rubric in harsher else -0.4,
                log_e_lenient=-0.7,
            )
        )
    return shifts


def sample(
    kind: str,
    *,
    config: MonitorConfig | None = None,
    items: int = 1500,
    anchors: bool = True,
    status: str | None = None,
    idle: tuple[str, ...] = (),
) -> Sample:
    """A race of `kind` with the features of its verdict."""
    config = config or MonitorConfig(rubrics=RUBRICS, strata=STRATA, preset="paper", seed=7)
    thresholds = math.log(config.cells / config.alpha_system), math.log(2 * len(config.rubrics) / config.alpha_judge)
    if config.preset == "robust":
        thresholds = math.log(config.system_threshold), math.log(config.judge_threshold)
    start = items // 5
    system = walk(1, items, start, 0.0 if kind == "none" else 13.0 / items)
    judge = walk(2, items, start, 26.0 / items if kind == "judge" else 0.0)
    if not anchors:
        judge = np.full(items, NAN)
    position = np.arange(1, items + 1)
    trace = Trace(position, system, judge, position * 3 // 10, position // 5 if anchors else position * 0, *thresholds)
    system_at, judge_at = first_above(system, thresholds[0]), first_above(judge, thresholds[1])
    dropped = (
        ((config.rubrics[0], config.strata[0]), (config.rubrics[-1], config.strata[1])) if kind == "system" else ()
    )
    harsher = config.rubrics[:2] if kind == "judge" else ()
    verdict = SpokenVerdict(
        kind=kind,  # type: ignore[arg-type]
        status=status or ("watching" if kind == "none" else "final"),  # type: ignore[arg-type]
        position=items,
        epoch=1,
        system_alarm_at=system_at,
        judge_alarm_at=judge_at,
        cells=dropped,
        rubrics=tuple((rubric, "harsher") for rubric in harsher),
        promise="a false system alarm ever in this epoch with probability at most 0.1",
    )
    story = []
    if judge_at is not None:
        story.append(Milestone(judge_at, "judge_alarm", "the anchor family crossed its threshold"))
    if system_at is not None:
        story.append(Milestone(system_at, "system_alarm", "the main family crossed its threshold; the guard opened"))
        if verdict.status == "final" and anchors and system_at + (config.guard or 0) <= items:
            story.append(Milestone(system_at + (config.guard or 0), "guard_closed", "the guard closed"))
    evidence = Evidence(
        config=config,
        verdict=verdict,
        cells=tuple(cells_of(config, dropped, idle)),
        shifts=tuple(shifts_of(config, harsher)) if anchors else (),
        cost=Cost(items, items * 3 // 10, items // 5 if anchors else 0, 0, 2, 1, 0.625),
        story=tuple(sorted(story, key=lambda event: event.position)),
        assumptions=(
            "The anchors are scored by the same judge, with the same prompt, as the stream.",
            "The healthy means were estimated from items the stream does not contain.",
        ),
    )
    return Sample(evidence, trace, None if kind == "none" else start)


def crowded() -> Sample:
    """Sixty strata with long names and a long stream: the case that breaks careless layouts."""
    strata = tuple(f"customer questions about region {number:02d}, forwarded by the help desk" for number in range(60))
    config = MonitorConfig(rubrics=(*RUBRICS, "faithfulness to the source", "tone"), strata=strata, preset="robust")
    return sample("system", config=config, items=20_000, idle=(strata[3], strata[5]))
