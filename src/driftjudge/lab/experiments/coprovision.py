"""Figure 3: main power against anchor rate; the anchors must out-run the main process they guard."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from driftjudge.lab.exhibits import Claim, Entry, Exhibit, Row
from driftjudge.lab.experiments import Options, make_exhibit
from driftjudge.lab.published import published
from driftjudge.lab.setting import Setting
from driftjudge.lab.simulate import simulate
from driftjudge.report.figures import lines

MAINS: dict[str, dict[str, Any]] = {
    "escalation 0.02": {"acquisition": "log-escalation", "budget": 0.02},
    "escalation 0.1": {"acquisition": "log-escalation", "budget": 0.1},
    "fixed 0.1": {"budget": 0.1},
    "fixed 0.2": {"budget": 0.2},
    "fixed 0.3": {"budget": 0.3},
}
LADDER = ("escalation 0.02", "fixed 0.1", "fixed 0.2", "fixed 0.3")
"""The paper's order of growing main power."""
RATES = (20, 10, 5)
GUARD = 50


def run(setting: Setting, options: Options) -> Exhibit:
    """Five mains by three rates, half as many seeds as elsewhere, as in the paper."""
    seeds = max(2, options.seeds // 2)
    scenario = replace(setting.scenario, judge_change=setting.harshest)
    rows, data = [], []
    latency: dict[tuple[str, int], float | None] = {}
    spill: dict[tuple[str, int], float] = {}
    power: dict[tuple[str, int], float] = {}
    for main, settings in MAINS.items():
        entries: dict[str, Entry] = {}
        for every in RATES:
            config = setting.config(options.preset, anchor_every=every, guard=GUARD, burst=0, **settings)
            judged = simulate(setting.table, config, replace(scenario, condition="judge"), seeds)
            dropped = simulate(setting.table, config, replace(scenario, condition="system"), seeds)
            latency[main, every] = judged.judge_latency()
            spill[main, every] = judged.verdicts(GUARD)["system"] / seeds
            power[main, every] = dropped.system_rate
            paper_spill = published(setting.name, "coprovision", "spill_rate_5", main) if every == 5 else None
            entries[f"latency 1/{every}"] = Entry(
                latency[main, every], published(setting.name, "coprovision", "latency", str(every))
            )
            entries[f"spill 1/{every}"] = Entry(spill[main, every], paper_spill)
            data.append({"main": main, "items per re-score": every, "spill": spill[main, every]})
        entries["system power"] = Entry(power[main, 5])
        rows.append(Row(main, entries))
    return make_exhibit(
        setting,
        options,
        compares=True,
        rates=("spill 1/5",),
        paper_seeds=30,
        experiment="coprovision",
        title="Co-provisioning: main power and anchor rate",
        source="Figure 3",
        seeds=seeds,
        rows=rows,
        claims=_claims(latency, spill, power),
        data={"spill": data},
    )


def _claims(
    latency: dict[tuple[str, int], float | None],
    spill: dict[tuple[str, int], float],
    power: dict[tuple[str, int], float],
) -> tuple[Claim, ...]:
    by_rate = {every: {latency[main, every] for main in MAINS} for every in RATES}
    ladder = [spill[main, 5] for main in LADDER]
    slow = [spill[main, 20] for main in LADDER]
    total = [float(np.mean([spill[main, every] for main in MAINS])) for every in RATES]
    return (
        Claim(
            "judge latency does not depend on the main",
            all(len(found) == 1 for found in by_rate.values()),
            ", ".join(f"1/{every}: {sorted(map(str, found))}" for every, found in by_rate.items()),
        ),
        Claim(
            "system power does not depend on the anchor rate",
            all(len({power[main, every] for every in RATES}) == 1 for main in MAINS),
            f"{[round(power[main, 5], 2) for main in MAINS]}",
        ),
        Claim(
            "spill grows with main power at a fixed rate",
            ladder == sorted(ladder) and slow == sorted(slow),
            f"1/5: {[round(s, 2) for s in ladder]}, 1/20: {[round(s, 2) for s in slow]}",
        ),
        Claim(
            "spill falls with the anchor rate", total == sorted(total, reverse=True), f"{[round(s, 2) for s in total]}"
        ),
    )


def draw(exhibit: Exhibit) -> Any:
    """Spill against the anchor rate, one line per main."""
    return lines(
        exhibit.data["spill"],
        x="items per re-score",
        y="spill",
        colour="main",
        y_title="share charged to the system",
        title=exhibit.title,
        subtitle=exhibit.dataset,
    )
