"""Does a system that never changed get blamed because its bars were set from few items?"""

from __future__ import annotations

from typing import Any

from driftjudge.lab.beyond.options import ALPHA, CONTESTANTS, BeyondOptions, aim, exhibit, share
from driftjudge.lab.beyond.split import replica
from driftjudge.lab.beyond.system_trials import false_system_alarm, few_bars, quiet_stream
from driftjudge.lab.exhibits import Entry, Exhibit, Row
from driftjudge.tables.replicas import REPLICAS

DATASETS = REPLICAS
ITEMS = 100_000
SIZES = (150, 300, 600, 1_200)


def run(dataset: str, options: BeyondOptions) -> Exhibit:
    """False system alarms within 100,000 items, bars from 150 to 1,200 items."""
    setting = replica(dataset)
    configs = {name: setting.config(name) for name in CONTESTANTS}
    counts = {(name, size): 0 for name in CONTESTANTS for size in SIZES}
    for seed in range(options.seeds):
        block = quiet_stream(setting.table, ITEMS, seed)
        for name, size in counts:
            calibration = few_bars(setting.table, configs[name], size, seed)
            counts[name, size] += false_system_alarm(configs[name], calibration, block, seed)
    rows = [
        Row(
            f"{size} calibration items", {name: Entry(share(counts[name, size], options.seeds)) for name in CONTESTANTS}
        )
        for size in SIZES
    ]
    worst = {name: max(counts[name, size] for size in SIZES) / options.seeds for name in CONTESTANTS}
    return exhibit(
        part="false_system_alarms",
        title="False system alarms",
        question=f"a system that never changed, {ITEMS:,} items",
        dataset=dataset,
        is_replica=True,
        seeds=options.seeds,
        rows=rows,
        claims=(
            aim(
                f"false system alarms at most {ALPHA:g} with every number of calibration items on {dataset}",
                worst["robust"] <= ALPHA,
                f"worst {worst['robust']:.2f}, paper {worst['paper']:.2f}",
            ),
        ),
    )


def draw(_: Exhibit) -> Any:
    """The table says it."""
    return None
