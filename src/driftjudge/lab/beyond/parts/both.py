"""What can be said about the system while the judge moved?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from driftjudge.lab.beyond.options import ALPHA, BeyondOptions, exhibit, share
from driftjudge.lab.beyond.split import REPEAT_NOISE, replica
from driftjudge.lab.exhibits import Claim, Entry, Exhibit, Row
from driftjudge.lab.scenarios import Condition, stage
from driftjudge.lab.scenarios import run as see
from driftjudge.lab.setting import Setting
from driftjudge.monitor import Verdict
from driftjudge.tables.replicas import REPLICAS

DATASETS = REPLICAS
TRUTHS: tuple[tuple[Condition, str], ...] = (
    ("both", "judge and system drifted"),
    ("judge", "only the judge drifted"),
)
ITEMS = 6_000
"""Long enough to measure the new judge and then to see what is left of the drop."""


def run(dataset: str, options: BeyondOptions) -> Exhibit:
    """The test against bars lowered by the judge's shift, where the system drifted and where it did not."""
    setting = replica(dataset)
    rows, counts = [], {}
    for change in (*setting.changes, "synthetic"):
        entries = {}
        for condition, label in TRUTHS:
            verdicts = _verdicts(setting, change, condition, options.seeds)
            shown = [v for v in verdicts if v.kind == "judge" and v.system_during_judge == "dropped"]
            counts[change, condition] = len(shown)
            late = [v.system_during_judge_at - setting.scenario.change_at for v in shown if v.system_during_judge_at]
            judged = sum(v.kind == "judge" for v in verdicts)
            entries[f"{label}: verdict judge"] = Entry(share(judged, options.seeds))
            entries[f"{label}: system shown to have dropped too"] = Entry(share(len(shown), options.seeds))
            if condition == "both":
                entries["items to that"] = Entry(float(np.median(late)) if late else None)
        rows.append(Row(change, entries))
    false = max(counts[change, "judge"] for change in (*setting.changes, "synthetic"))
    shown_too = {change: counts[change, "both"] for change in (*setting.changes, "synthetic")}
    return exhibit(
        part="both",
        title="Both at once: the system tested against bars lowered by the judge's shift",
        question=f"{ITEMS:,} items, both change at 300; paper says nothing about the system here",
        dataset=dataset,
        is_replica=True,
        seeds=options.seeds,
        rows=rows,
        claims=(
            Claim(
                f"a healthy system is called worse at most {ALPHA:g} of the time while the judge moves ({dataset})",
                false <= ALPHA * options.seeds,
                share(false, options.seeds),
            ),
            Claim(
                f"some drops are shown although the judge moved ({dataset})",
                max(shown_too.values()) > 0,
                ", ".join(f"{change} {share(count, options.seeds)}" for change, count in shown_too.items()),
            ),
        ),
        notes=("it needs anchors that represent the stream to within `shift_tolerance`",),
    )


def _verdicts(setting: Setting, change: str, condition: Condition, seeds: int) -> list[Verdict]:
    scenario = replace(
        setting.scenario, judge_change=change, condition=condition, items=ITEMS, repeat_noise=REPEAT_NOISE
    )
    config = setting.config("robust")
    return [see(stage(setting.table, replace(config, seed=seed), scenario)).verdict for seed in range(seeds)]


def draw(_: Exhibit) -> Any:
    """The table says it."""
    return None
