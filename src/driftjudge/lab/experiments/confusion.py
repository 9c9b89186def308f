"""Table 1: the verdict against the truth, with anchors that match the main process and with too few."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from driftjudge.lab.exhibits import Claim, Entry, Exhibit, Row, rate_claim
from driftjudge.lab.experiments import Options, make_exhibit
from driftjudge.lab.published import published
from driftjudge.lab.scenarios import CONDITIONS
from driftjudge.lab.setting import Setting
from driftjudge.lab.simulate import simulate
from driftjudge.report.figures import stacked_verdicts

GUARD = 50
PROVISIONS = {"matched": (200, 5), "under": (50, 20)}
"""Anchors k and items per re-score."""


def run(setting: Setting, options: Options) -> Exhibit:
    """Four truths by two anchor budgets, synthetic judge shift."""
    rows, data = [], []
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for name, (k, every) in PROVISIONS.items():
        config = setting.config(options.preset, anchor_every=every, guard=GUARD)
        scenario = replace(setting.scenario, judge_change="synthetic", anchors=min(k, setting.scenario.anchors))
        latency = None
        for condition in CONDITIONS:
            outcomes = simulate(setting.table, config, replace(scenario, condition=condition), options.seeds)
            found = {kind: outcomes.kinds.count(kind) for kind in ("none", "system", "judge")}
            counts[name, condition] = found
            if condition == "judge":
                latency = outcomes.judge_latency()
            data += [{"anchors": name, "truth": condition, "verdict": v, "streams": n} for v, n in found.items()]
        entries: dict[str, Entry] = {
            condition: Entry(
                "/".join(str(n) for n in counts[name, condition].values()),
                published(setting.name, "confusion", name, condition),
            )
            for condition in CONDITIONS
        }
        entries["judge latency"] = Entry(latency, published(setting.name, "confusion", name, "latency"))
        rows.append(Row(f"k={scenario.anchors}, 1/{every}", entries))
    return make_exhibit(
        setting,
        options,
        compares=True,
        experiment="confusion",
        title="Verdict confusion, none/system/judge",
        source="Table 1",
        rows=rows,
        claims=_claims(counts, options.seeds),
        data={"verdicts": data},
    )


def _claims(counts: dict[tuple[str, str], dict[str, int]], seeds: int) -> tuple[Claim, ...]:
    false = [counts["matched", truth]["judge"] for truth in ("none", "system")]
    spill = {name: counts[name, "judge"]["system"] + counts[name, "both"]["system"] for name in PROVISIONS}
    alarms = counts["matched", "none"]["system"] + counts["under", "none"]["system"]
    return (
        rate_claim("false judge verdicts stay at or below alpha", max(false), seeds, 0.1),
        rate_claim("false system verdicts stay at or below alpha", alarms, 2 * seeds, 0.1),
        Claim(
            "with too few anchors the judge is charged to the system",
            spill["under"] > spill["matched"],
            f"{spill['under']} against {spill['matched']} of {2 * seeds}",
        ),
    )


def draw(exhibit: Exhibit) -> Any:
    """Verdict shares per truth."""
    return stacked_verdicts(exhibit.data["verdicts"], facet="anchors", title=exhibit.title, subtitle=exhibit.dataset)
