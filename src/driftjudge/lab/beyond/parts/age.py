"""How long does the same change take to be found when the monitor has been running for long?"""

from __future__ import annotations

from typing import Any

from driftjudge.lab.beyond.options import CONTESTANTS, BeyondOptions, aim, exhibit
from driftjudge.lab.beyond.split import replica
from driftjudge.lab.beyond.system_trials import late_drop
from driftjudge.lab.exhibits import Entry, Exhibit, Row
from driftjudge.monitor import MonitorConfig
from driftjudge.report.figures import lines
from driftjudge.tables.replicas import REPLICAS

DATASETS = REPLICAS
AGES = (300, 1_000, 3_000, 10_000, 30_000, 100_000)
AFTER = 30_000
"""Items after the change in which it must be found."""
AIMED_AGE, MOST_LATENCY = 30_000, 1_000


def run(dataset: str, options: BeyondOptions) -> Exhibit:
    """Median items to the system alarm by the age at which the same regression comes."""
    setting = replica(dataset)
    configs: dict[str, MonitorConfig] = {name: setting.config(name) for name in CONTESTANTS}
    rows, data = [], []
    latency: dict[tuple[str, int], float | None] = {}
    for age in AGES:
        drops = late_drop(setting, configs, age, AFTER, options.seeds)
        entries = {}
        for name, drop in drops.items():
            latency[name, age] = drop.median
            entries[f"{name}, items to the alarm"] = Entry(drop.median)
            entries[f"{name}, found"] = Entry(f"{drop.found}/{options.seeds}")
            if drop.median is not None:
                data.append({"preset": name, "age": age, "latency": drop.median})
        rows.append(Row(f"change at item {age:,}", entries))
    paper, robust = latency["paper", AIMED_AGE], latency["robust", AIMED_AGE]
    return exhibit(
        part="age",
        title="Latency against the age of the change",
        question=f"the same regression after 300 to 100,000 items, watched for {AFTER:,}; anchors do not matter here",
        dataset=dataset,
        is_replica=True,
        seeds=options.seeds,
        rows=rows,
        claims=(
            aim(
                f"a drop at item {AIMED_AGE:,} of {dataset} is found within {MOST_LATENCY:,} items",
                robust is not None and robust <= MOST_LATENCY,
                f"median {_shown(robust)}, paper {_shown(paper)}",
            ),
        ),
        data={"latency": data},
    )


def _shown(latency: float | None) -> str:
    return f"more than {AFTER:,}" if latency is None else f"{latency:,.0f}"


def draw(exhibit: Exhibit) -> Any:
    """Latency by age, both axes on a log scale."""
    return lines(
        exhibit.data["latency"],
        x="age",
        y="latency",
        colour="preset",
        title=exhibit.title,
        subtitle=exhibit.dataset,
        log_x=True,
        log_y=True,
        x_title="items before the change",
        y_title="items from the change to the alarm",
    )
