"""Appendix C: the featured configuration with the regression in every cell in turn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from driftjudge.lab.exhibits import Claim, Entry, Exhibit, Row, rate_claim
from driftjudge.lab.experiments import Options, make_exhibit
from driftjudge.lab.published import published
from driftjudge.lab.scenarios import Scenario, cast, regressed_blind
from driftjudge.lab.setting import Setting
from driftjudge.lab.simulate import simulate
from driftjudge.report.figures import grid

GUARD = 50
LOWER_LIMITS = (0.25, 0.5)
"""Strong scores that count as regressed. The appendix says 0.5, but with it the featured cell loses the power that the
paper reports for it in Table 1 and here alike; so 0.25 is used wherever a cell has such items, and 0.5 elsewhere."""

LIMIT_NOTE = (
    "regressed means strong <= 0.25 where every seed has such items and 0.5 elsewhere; the appendix says 0.5, with "
    "which "
    "the featured cell lost the power the paper reports for it, so this choice was made after seeing that"
)


def run(setting: Setting, options: Options) -> Exhibit:
    """A third of the seeds, as in the paper; the judge row does not depend on the cell and is run once."""
    seeds = max(2, options.seeds // 3)
    scenario = replace(setting.scenario, judge_change="synthetic")
    config = setting.config(options.preset, anchor_every=5, guard=GUARD, burst=0)
    judged = simulate(setting.table, config, replace(scenario, condition="judge"), seeds)
    rows, notes, rates = [], [], []
    data: list[dict[str, Any]] = []
    for stratum in setting.table.stratum_names:
        for rubric in setting.table.rubrics:
            cell = _regressing(setting, replace(scenario, target=(rubric, stratum)), seeds)
            if cell is None:
                notes.append(f"{stratum}:{rubric} is skipped: its regressed-blind pool is empty")
                data.append({"rubric": rubric, "stratum": stratum, "system detection": None})
                continue
            dropped = simulate(setting.table, config, replace(cell, condition="system"), seeds)
            both = simulate(setting.table, config, replace(cell, condition="both"), seeds)
            found = {"system": dropped.verdicts(GUARD), "both": both.verdicts(GUARD)}
            detection = (judged.verdicts(GUARD)["judge"] + found["both"]["judge"]) / (2 * seeds)
            spill = (judged.verdicts(GUARD)["system"] + found["both"]["system"]) / (2 * seeds)
            false = found["system"]["judge"] / seeds
            system = found["system"]["system"] / seeds
            rates.append((detection, spill, false, system))
            entries = {
                "judge det.": Entry(detection),
                "latency": Entry(judged.judge_latency()),
                "spill": Entry(spill),
                "false judge": Entry(false),
                "system det.": Entry(system),
            }
            rows.append(Row(f"{stratum}:{rubric}", entries))
            data.append({"rubric": rubric, "stratum": stratum, "system detection": system})
    return make_exhibit(
        setting,
        options,
        experiment="cells",
        title="Every cell at the featured configuration",
        source="Appendix C",
        seeds=seeds,
        rows=(*_ranges(setting.name, rates, judged.judge_latency()), *rows),
        claims=_claims(np.array(rates).reshape(-1, 4), seeds),
        notes=(LIMIT_NOTE, *notes),
        data={"cells": data},
    )


def _regressing(setting: Setting, scenario: Scenario, seeds: int) -> Scenario | None:
    """The scenario with the lowest limit that leaves no seed's regressed-blind pool empty."""
    assert scenario.target is not None
    for low in (*LOWER_LIMITS, setting.scenario.low):
        candidate = replace(scenario, low=low)
        pools = (cast(setting.table, scenario.anchors, seed).pool for seed in range(seeds))
        if all(len(regressed_blind(setting.table, scenario.target, candidate, pool)) for pool in pools):
            return candidate
    return None


def _ranges(dataset: str, rates: list[tuple[float, float, float, float]], latency: float | None) -> tuple[Row, ...]:
    """One line over all runnable cells, where the paper gives ranges."""
    if not rates:
        return ()
    low, high = np.min(rates, axis=0), np.max(rates, axis=0)
    paper = published(dataset, "cells") or {}

    def span(i: int) -> str:
        return f"{low[i]:.2f}-{high[i]:.2f}"

    entries = {
        "judge det.": Entry(span(0), paper.get("judge_detection")),
        "latency": Entry(latency, paper.get("judge_latency")),
        "spill": Entry(span(1), paper.get("spill")),
        "false judge": Entry(span(2)),
        "system det.": Entry(span(3), paper.get("system_detection")),
        "runnable": Entry(len(rates), paper.get("runnable")),
    }
    return (Row("all runnable cells", entries),)


def _claims(rates: Any, seeds: int) -> tuple[Claim, ...]:
    if len(rates) == 0:
        return (Claim("some cell can be run", False, "0 cells"),)
    false, system = round(float(rates[:, 2].max()) * seeds), rates[:, 3]
    return (
        Claim(
            "judge detection is at least 0.85 in every cell",
            bool(rates[:, 0].min() >= 0.85),
            f"{rates[:, 0].min():.2f}",
        ),
        rate_claim("false judge verdicts stay at or below alpha in every cell", false, seeds, 0.1),
        Claim(
            "system power differs between cells", bool(np.ptp(system) > 0.3), f"{system.min():.2f}-{system.max():.2f}"
        ),
    )


def draw(exhibit: Exhibit) -> Any:
    """System detection per cell; skipped cells stay white."""
    return grid(
        exhibit.data["cells"],
        x="rubric",
        y="stratum",
        value="system detection",
        title="System detection per cell",
        subtitle=exhibit.dataset,
    )
