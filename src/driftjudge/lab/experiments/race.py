"""Figure 2: one seed of the featured configuration under the harsh judge change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from driftjudge.lab.exhibits import Claim, Entry, Exhibit, Row
from driftjudge.lab.experiments import Options, make_exhibit
from driftjudge.lab.published import published
from driftjudge.lab.scenarios import stage
from driftjudge.lab.setting import Setting
from driftjudge.monitor.trace import traced_run
from driftjudge.report.figures import lines

SEED = 0


def run(setting: Setting, options: Options) -> Exhibit:
    """Both families' log wealth over the stream."""
    config = setting.config(options.preset, anchor_every=5, guard=300, seed=SEED)
    scenario = replace(setting.scenario, condition="judge", judge_change=setting.harshest)
    staged = stage(setting.table, config, scenario)
    trace = traced_run(staged.monitor, staged.block, points=240)
    verdict = staged.monitor.verdict
    paper = published(setting.name, "race") or {}
    entries = {
        "judge alarm": Entry(verdict.judge_alarm_at, paper.get("judge_at")),
        "system alarm": Entry(verdict.system_alarm_at, paper.get("system_at")),
        "verdict": Entry(verdict.kind, "judge" if paper else None),
    }
    data = []
    for name, values, threshold in (
        ("system", trace.system, trace.system_threshold),
        ("judge", trace.judge, trace.judge_threshold),
    ):
        for position, value in zip(trace.position.tolist(), values.tolist(), strict=True):
            data.append({"item": position, "share": min(value / threshold, 2.0), "series": name})
        data += [{"item": at, "share": 1.0, "series": "alarm"} for at in (1, len(staged.block))]
    system_at, judge_at = verdict.system_alarm_at or 10**9, verdict.judge_alarm_at or 10**9
    return make_exhibit(
        setting,
        options,
        experiment="race",
        title="The attribution race, one seed",
        source="Figure 2",
        seeds=1,
        rows=(Row(f"seed {SEED}, change at {scenario.change_at + 1}", entries),),
        claims=(
            Claim(
                "the anchors win the race", judge_at < system_at, f"{verdict.judge_alarm_at}, {verdict.system_alarm_at}"
            ),
            Claim("the verdict is judge", verdict.kind == "judge", verdict.kind),
        ),
        data={"trace": data},
    )


def draw(exhibit: Exhibit) -> Any:
    """Log evidence as a share of the log threshold: an alarm at 1."""
    return lines(
        exhibit.data["trace"],
        x="item",
        y="share",
        colour="series",
        marks=False,
        y_title="log evidence / log threshold",
        title=exhibit.title,
        subtitle=exhibit.dataset,
    )
