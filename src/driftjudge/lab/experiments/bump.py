"""Table 2: a real version bump that makes the judge a little more lenient, against the anchor budget."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from driftjudge.lab.exhibits import Claim, Entry, Exhibit, Row, rate_claim
from driftjudge.lab.experiments import Options, make_exhibit
from driftjudge.lab.published import published
from driftjudge.lab.setting import Setting
from driftjudge.lab.simulate import Outcomes, simulate
from driftjudge.report.figures import lines

BUDGETS = ((50, 20), (150, 8), (200, 5))
"""Anchors k and items per re-score."""
GUARD = 300
ESCALATION = {"acquisition": "log-escalation", "budget": 0.02}


def run(setting: Setting, options: Options) -> Exhibit:
    """The paper's escalation main, so that only the anchors can see the change."""
    rows, data, detections, spills, false = [], [], [], [], []
    for k, every in BUDGETS:
        found = _budget(setting, options, min(k, setting.scenario.anchors), every)
        label = f"k={k} 1/{every}"
        paper = published(setting.name, "bump", label) or {}
        judged = found["judge"].verdicts(GUARD)
        detections.append(judged["judge"] / options.seeds)
        spills.append(judged["system"])
        false.append(found["none"].verdicts(GUARD)["judge"])
        both = found["both"].verdicts(GUARD)["judge"] / options.seeds
        entries = {
            "detection": Entry(detections[-1], paper.get("detection")),
            "detection (both)": Entry(both),
            "judge to system": Entry(spills[-1], paper.get("spill")),
            "none to judge": Entry(false[-1], paper.get("false_judge")),
            "latency": Entry(found["judge"].judge_latency(), paper.get("latency")),
        }
        rows.append(Row(label, entries))
        data.append({"re-scores per 100 items": 100 / every, "detection": detections[-1], "series": "ours"})
        if "detection" in paper:
            data.append({"re-scores per 100 items": 100 / every, "detection": paper["detection"], "series": "paper"})
    claims = (
        Claim(
            "detection grows with the anchor budget",
            detections == sorted(detections),
            f"{[round(share, 2) for share in detections]}",
        ),
        Claim("a more lenient judge is never charged to the system", sum(spills) == 0, f"{spills}"),
        rate_claim("false judge verdicts stay at or below alpha", max(false), options.seeds, 0.1),
    )
    return make_exhibit(
        setting,
        options,
        compares=True,
        rates=("detection",),
        experiment="bump",
        title="A real version bump against the anchor budget",
        source="Table 2",
        rows=rows,
        claims=claims,
        data={"detection": data},
    )


def _budget(setting: Setting, options: Options, k: int, every: int) -> dict[str, Outcomes]:
    config = setting.config(options.preset, anchor_every=every, guard=GUARD, burst=0, **ESCALATION)
    scenario = replace(setting.scenario, judge_change=setting.most_lenient, anchors=k)
    return {
        "none": simulate(setting.table, config, replace(scenario, condition="none"), options.seeds),
        "judge": simulate(setting.table, config, replace(scenario, condition="judge"), options.seeds),
        "both": simulate(setting.table, config, replace(scenario, condition="both"), options.seeds),
    }


def draw(exhibit: Exhibit) -> Any:
    """Detection against the anchor budget."""
    return lines(
        exhibit.data["detection"],
        x="re-scores per 100 items",
        y="detection",
        colour="series",
        title=exhibit.title,
        subtitle=exhibit.dataset,
    )
