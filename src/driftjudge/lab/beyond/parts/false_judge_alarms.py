"""Does a judge that never changed, but does not repeat itself, get blamed?"""

from __future__ import annotations

from typing import Any

from driftjudge.lab.beyond.anchor_trials import PASSES, config_for, rescores_to_alarm
from driftjudge.lab.beyond.judges import Judge, Noisy
from driftjudge.lab.beyond.options import ALPHA, CONTESTANTS, BeyondOptions, aim, exhibit, share
from driftjudge.lab.beyond.split import replica, upgrades
from driftjudge.lab.exhibits import Entry, Exhibit, Row
from driftjudge.tables import ScoreTable
from driftjudge.tables.replicas import REPLICAS

DATASETS = ("helpsteer2", "tldr", "khan_saq")
RESCORES = 100_000
NOISES = (0.0, 0.03, 0.10)


def run(dataset: str, options: BeyondOptions) -> Exhibit:
    """False judge alarms within 100,000 re-scores."""
    rows, counts = [], {name: list[int]() for name in CONTESTANTS}
    for label, table, judge in _judges(dataset, options):
        entries: dict[str, Entry] = {}
        for name in CONTESTANTS:
            config = config_for(table, name)
            trials = rescores_to_alarm(table, config, judge, judge, range(options.seeds), change_at=RESCORES, watched=0)
            counts[name].append(trials.false_alarms)
            entries[name] = Entry(share(trials.false_alarms, options.seeds))
        rows.append(Row(label, entries))
    worst = {name: max(found) / options.seeds for name, found in counts.items()}
    return exhibit(
        part="false_judge_alarms",
        title="False judge alarms",
        question=f"a judge that never changed, {RESCORES:,} anchor re-scores, {PASSES} baseline passes",
        dataset=dataset,
        is_replica=dataset in REPLICAS,
        seeds=options.seeds,
        rows=rows,
        claims=(
            aim(
                f"false judge alarms at most {ALPHA:g} with every judge of {dataset}",
                worst["robust"] <= ALPHA,
                f"worst {worst['robust']:.2f}, paper {worst['paper']:.2f}",
            ),
        ),
    )


def _judges(dataset: str, options: BeyondOptions) -> list[tuple[str, ScoreTable, Judge]]:
    if dataset in REPLICAS:
        table = replica(dataset).table
        return [(f"repeat noise {noise:g}", table, Noisy(table.judge("strong"), noise, 0.25)) for noise in NOISES]
    assert options.data is not None
    return [(f"before {change.name}", change.table, change.before) for change in upgrades(options.data, dataset)]


def draw(_: Exhibit) -> Any:
    """The table says it."""
    return None
