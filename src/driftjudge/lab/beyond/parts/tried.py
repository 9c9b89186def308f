"""What else was tried for `robust`, and what it did: one setting changed at a time, on what it was chosen on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from driftjudge.lab.beyond.anchor_trials import PASSES, WATCHED, config_for, rescores_to_alarm
from driftjudge.lab.beyond.judges import Noisy
from driftjudge.lab.beyond.options import BeyondOptions, exhibit
from driftjudge.lab.beyond.split import REPEAT_NOISE, replica, upgrades
from driftjudge.lab.beyond.system_trials import late_drop
from driftjudge.lab.exhibits import Claim, Entry, Exhibit, Row
from driftjudge.tables.replicas import REPLICAS

DATASETS = ("helpsteer2", "khan_saq")
FIRST_SEED = 1_000
MOST_SEEDS = 20
"""Variants are measured on the seeds the defaults were chosen on, and on few of them."""
DROPS: Mapping[str, tuple[dict[str, Any], int, int]] = {
    "drop at 300": ({}, 300, 3_000),
    "drop at 30,000": ({}, 30_000, 6_000),
    "drop the cheap judge sees": ({"blind": 0.0}, 300, 3_000),
    "mild drop": ({"low": 0.5}, 300, 6_000),
}
"""What kind of regression it is, items before the change, and after."""


@dataclass(frozen=True)
class Variant:
    """Settings that differ from the defaults."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    passes: int = PASSES
    concerns: str = "both"
    """`system`, `judge` or `both`: the family it can change."""


DEFAULTS = Variant("the defaults")
VARIANTS = (
    DEFAULTS,
    Variant("ask at one rate", {"acquisition": "uniform"}, concerns="system"),
    Variant("ask at one rate, twice the budget", {"acquisition": "uniform", "budget": 0.3}, concerns="system"),
    Variant("ask more with log wealth (log-escalation)", {"acquisition": "log-escalation"}, concerns="system"),
    Variant("ask more near the bar (boundary)", {"acquisition": "boundary"}, concerns="system"),
    Variant("half the budget", {"budget": 0.075}, concerns="system"),
    Variant("twice the budget", {"budget": 0.3}, concerns="system"),
    Variant("labels only", {"proxies": [0.0]}, concerns="system"),
    Variant("the paper's proxy only", {"proxies": [1.0]}, concerns="system"),
    Variant("five proxies", {"proxies": [0.0, 0.25, 0.5, 0.75, 1.0]}, concerns="system"),
    Variant("smaller bets", {"bet_fractions": [0.05, 0.15, 0.4, 0.9]}, concerns="system"),
    Variant("one bet", {"bet_fractions": [0.5]}, concerns="system"),
    Variant("eight bets", {"bet_fractions": [0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0]}, concerns="system"),
    Variant("5 % of alpha for the bars", {"baseline_share": 0.05}, concerns="system"),
    Variant("50 % of alpha for the bars", {"baseline_share": 0.5}, concerns="system"),
    Variant("largest cell instead of the mean", {"alarm_rule": "bonferroni"}),
    Variant("one bound per statistic (no ladder)", {"ladder": False}, concerns="judge"),
    Variant("one bound, half of alpha for it", {"ladder": False, "baseline_share": 0.5}, concerns="judge"),
    Variant("gap to the humans only", {"statistics": ["gap"]}, concerns="judge"),
    Variant("fingerprint only", {"statistics": ["fingerprint"]}, concerns="judge"),
    Variant("no screening", {"screen": False}, concerns="judge"),
    Variant("all anchors as one", {"local_share": 0.0}, concerns="judge"),
    Variant("larger anchor bets", {"anchor_fractions": [0.05, 0.15, 0.4, 0.9]}, concerns="judge"),
    Variant("two passes", passes=2, concerns="judge"),
    Variant("four passes", passes=4, concerns="judge"),
    Variant("ten passes", passes=10, concerns="judge"),
)


def run(dataset: str, options: BeyondOptions) -> Exhibit:
    """Every variant beside the defaults."""
    seeds = min(options.seeds, MOST_SEEDS)
    chosen = [v for v in VARIANTS if dataset in REPLICAS or v.concerns != "system"]
    measured = {v.name: _measures(dataset, v, options, seeds) for v in chosen}
    base = measured[DEFAULTS.name]
    rows, ratios = [], {}
    for name, found in measured.items():
        entries = {column: Entry(value) for column, value in found.items()}
        ratios[name] = _ratio(found, base)
        entries["latency against the defaults"] = Entry(f"{ratios[name]:.2f}")
        rows.append(Row(name, entries))
    slower = [name for name, ratio in ratios.items() if ratio > 1.02]
    faster = [f"{name} ({ratio:.2f})" for name, ratio in ratios.items() if ratio < 0.98]
    return exhibit(
        part="tried",
        title="What else was tried",
        question="one setting changed at a time; the ratio is a geometric mean, a miss counting as the limit",
        dataset=dataset,
        is_replica=dataset in REPLICAS,
        seeds=seeds,
        rows=rows,
        claims=(
            Claim(
                f"most variants are slower than the defaults on {dataset}",
                len(slower) > len(faster),
                f"{len(slower)} slower; faster: {', '.join(faster) or 'none'}",
            ),
        ),
        notes=("a faster variant costs something else: budget, passes, or changes that this table does not show",),
    )


def _measures(dataset: str, variant: Variant, options: BeyondOptions, seeds: int) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    if dataset in REPLICAS and variant.concerns != "judge":
        setting = replica(dataset)
        configs = {"": setting.config("robust", **variant.settings)}
        for name, (scenario, age, after) in DROPS.items():
            kind = replace(setting, scenario=replace(setting.scenario, **scenario))
            drop = late_drop(kind, configs, age, after, seeds, first_seed=FIRST_SEED)[""]
            found[name] = float(after) if drop.median is None else drop.median
            if age > after:
                found["share asked in calm"] = float(np.mean(drop.asked))
    if variant.concerns != "system":
        for name, table, before, after_judge in _judges(dataset, options):
            config = config_for(table, "robust", **variant.settings)
            window = range(FIRST_SEED, FIRST_SEED + seeds)
            trials = rescores_to_alarm(table, config, before, after_judge, window, passes=variant.passes)
            found[name] = float(WATCHED) if trials.rescores is None else trials.rescores
    return found


def _judges(dataset: str, options: BeyondOptions) -> list[tuple[str, Any, Any, Any]]:
    if dataset not in REPLICAS:
        assert options.data is not None
        return [(change.name, change.table, change.before, change.after) for change in upgrades(options.data, dataset)]
    setting = replica(dataset)
    strong = Noisy(setting.table.judge("strong"), REPEAT_NOISE, 0.25)
    return [
        (f"{name} judge", setting.table, strong, Noisy(setting.table.judge(name), REPEAT_NOISE, 0.25))
        for name in setting.changes
    ]


def _ratio(found: dict[str, float | None], base: dict[str, float | None]) -> float:
    logs = [
        math.log(value / other)
        for name, value in found.items()
        if not name.startswith("share") and value is not None and (other := base[name]) is not None
    ]
    return math.exp(sum(logs) / len(logs))


def draw(_: Exhibit) -> Any:
    """The table says it."""
    return None
