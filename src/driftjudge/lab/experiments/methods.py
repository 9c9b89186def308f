"""Appendix B: ten methods on the same streams, the ranking of acquisition rules, and global against stratified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import binomtest

from driftjudge.lab.detection import same_censoring, streams
from driftjudge.lab.exhibits import Claim, Entry, Exhibit, Row, rate_claim
from driftjudge.lab.experiments import Options
from driftjudge.lab.published import published
from driftjudge.lab.roster import ALPHA, BUDGETS, FLOORS, HELD_OUT, Result, Trial, run_roster
from driftjudge.lab.scenarios import regressed_blind
from driftjudge.lab.setting import Setting
from driftjudge.report.figures import lines

SEVERE = 0.15
"""Strong scores at or below this are the paper's severe drift."""
DRIFTS = ("severe", "mild")


def run(setting: Setting, options: Options) -> Exhibit:
    """Drift-free, severe and mild streams, each seen by every method."""
    trials, notes = _trials(setting, options)
    results = run_roster(setting, options.preset, trials)
    drifts = [drift for drift in DRIFTS if drift in trials]
    rows, data = [], []
    for label, result in results.items():
        entries: dict[str, Entry] = {}
        for drift in drifts:
            paper = published(setting.name, "methods", drift, label) or {}
            found = result.found[drift]
            entries[f"{drift}: censored"] = Entry(found.censoring, paper.get("censor"))
            entries[f"{drift}: latency"] = Entry(found.latency(), paper.get("latency"))
            entries[f"{drift}: cost"] = Entry(result.cost(drift), paper.get("cost"))
            data.append(
                {
                    "drift": drift,
                    "method": result.method.series,
                    "cost": result.spent(drift),
                    "power": 1.0 - found.censoring,
                }
            )
        alarms = result.false_alarms / len(result.found["healthy"])
        entries["false alarms"] = Entry(alarms, published(setting.name, "methods", "false_alarms", label))
        rows.append(Row(label, entries))
    claims = method_claims(results, drifts)
    return Exhibit(
        experiment="methods",
        title="Ten methods on severe and mild drift",
        source="Appendix B",
        dataset=setting.table.name,
        replica=setting.table.replica,
        seeds=options.seeds,
        preset=options.preset,
        rows=tuple(rows),
        claims=claims,
        notes=(*notes, *_reasons(claims)),
        data={"power": data},
    )


def _trials(setting: Setting, options: Options) -> tuple[dict[str, Trial], list[str]]:
    """The streams, and what had to be left out."""
    mild = replace(setting.scenario, condition="system")
    lows = {"severe": _severe_limit(setting), "mild": mild.low}
    notes = [
        f"the classical detectors' thresholds come from the drift-free seeds {HELD_OUT.start} to {HELD_OUT.stop - 1}; "
        "A1 keeps bars of its own, from cheap scores"
    ]
    base = setting.config("paper")  # decides nothing about the streams
    healthy = replace(setting.scenario, condition="none")
    trials = {"healthy": Trial(healthy, streams(setting.table, base, healthy, range(options.seeds)))}
    for drift, low in lows.items():
        scenario = replace(mild, low=low)
        blocks = streams(setting.table, base, scenario, range(options.seeds)) if low is not None else {}
        if not blocks:
            notes.append(
                f"{drift} drift is skipped: {setting.scenario.target} has no item the cheap judge misses "
                f"{'below the mild limit' if low is None else f'at or below {low:g}'}"
            )
            continue
        trials[drift] = Trial(scenario, blocks)
        if len(blocks) < options.seeds:
            notes.append(
                f"{drift} drift runs on {len(blocks)} of {options.seeds} seeds: in the others every item to regress "
                "to is an anchor"
            )
    return trials, notes
