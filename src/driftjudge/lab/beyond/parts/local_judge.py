"""Is a judge seen that changed on one stratum only?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from driftjudge.lab.beyond.anchor_trials import WATCHED, config_for, rescores_to_alarm
from driftjudge.lab.beyond.judges import Noisy, Partly
from driftjudge.lab.beyond.options import BeyondOptions, exhibit, share
from driftjudge.lab.beyond.split import REPEAT_NOISE, replica
from driftjudge.lab.exhibits import Claim, Entry, Exhibit, Row
from driftjudge.tables.replicas import REPLICAS

DATASETS = REPLICAS
CONTESTANTS: Mapping[str, dict[str, Any]] = {
    "paper": {"preset": "paper"},
    "robust, all anchors as one": {"preset": "robust", "local_share": 0.0},
    "robust": {"preset": "robust"},
}


def run(dataset: str, options: BeyondOptions) -> Exhibit:
    """Each change of the replica, confined to the largest and to the target stratum."""
    setting = replica(dataset)
    table = setting.table
    strong = Noisy(table.judge("strong"), REPEAT_NOISE, 0.25)
    assert setting.scenario.target is not None
    largest = max(table.stratum_names, key=lambda name: table.strata.count(name))
    rows, found = [], {}
    for stratum in dict.fromkeys((setting.scenario.target[1], largest)):
        there = np.array([name == stratum for name in table.strata])
        for change in setting.changes:
            judge = Partly(there, Noisy(table.judge(change), REPEAT_NOISE, 0.25), strong)
            entries = {}
            for name, settings in CONTESTANTS.items():
                config = config_for(table, **settings)
                trials = rescores_to_alarm(table, config, strong, judge, range(options.seeds))
                found[f"{change} on {stratum}", name] = trials
                entries[f"{name}, re-scores"] = Entry(trials.rescores)
                entries[f"{name}, found"] = Entry(share(trials.found, options.seeds))
            rows.append(Row(f"{change} on {stratum} only ({there.mean():.0%} of items)", entries))
    ours = {case: trials for (case, name), trials in found.items() if name == "robust"}
    theirs = {case: trials for (case, name), trials in found.items() if name == "paper"}
    return exhibit(
        part="local_judge",
        title="A judge that changed on one stratum only",
        question=f"re-scores from the change to the alarm, at most {WATCHED:,}; repeat noise {REPEAT_NOISE:g}",
        dataset=dataset,
        is_replica=True,
        seeds=options.seeds,
        rows=rows,
        claims=(
            Claim(
                f"robust finds a local change of judge on {dataset} in 19 of 20 streams, paper not always",
                all(trials.found >= 0.95 * options.seeds for trials in ours.values()),
                ", ".join(
                    f"{case}: {share(ours[case].found, options.seeds)} against "
                    f"{share(theirs[case].found, options.seeds)}"
                    for case in ours
                ),
            ),
        ),
    )


def draw(_: Exhibit) -> Any:
    """The table says it."""
    return None
