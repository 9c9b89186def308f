"""Who gets blamed, how soon and at what price, when the system, the judge or both change?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from driftjudge.lab.beyond.options import BeyondOptions, aim, exhibit, share
from driftjudge.lab.beyond.split import REPEAT_NOISE, real_setting, real_table, replica
from driftjudge.lab.exhibits import Claim, Entry, Exhibit, Row
from driftjudge.lab.scenarios import Condition
from driftjudge.lab.setting import Setting
from driftjudge.lab.simulate import Outcomes, simulate
from driftjudge.tables.replicas import REPLICAS

DATASETS = (*REPLICAS, "hanna", "summeval", "llmbar")
"""Those with enough items for streams."""
CONTESTANTS: Mapping[str, dict[str, Any]] = {
    "paper": {"preset": "paper"},
    "robust": {"preset": "robust"},
    "robust, half the budget": {"preset": "robust", "budget": 0.075},
    "robust, at the paper's price": {"preset": "robust", "budget": 0.45},
}
MOST_COST, LOW_COST, ENOUGH = 0.50, 0.40, 55.0 / 60.0


@dataclass(frozen=True)
class Result:
    """What one contestant did in every condition."""

    none: Outcomes
    system: Outcomes
    judged: dict[tuple[str, Condition], Outcomes]
    """By change of judge and condition."""

    def verdicts(self, condition: Condition) -> str:
        """Counts of none, system and judge."""
        found = [self.none] if condition == "none" else [self.system]
        if condition in ("judge", "both"):
            found = [outcomes for (_, truth), outcomes in self.judged.items() if truth == condition]
        return "/".join(str(sum(o.kinds.count(kind) for o in found)) for kind in ("none", "system", "judge"))

    @property
    def spill(self) -> tuple[int, int]:
        """Streams with a changed judge whose verdict was the system, and all of those."""
        return (
            sum(outcomes.kinds.count("system") for outcomes in self.judged.values()),
            sum(len(outcomes) for outcomes in self.judged.values()),
        )


def run(dataset: str, options: BeyondOptions) -> Exhibit:
    """The paper's streams with a judge that does not repeat itself, every contestant on the same ones."""
    setting = _setting(dataset, options)
    results = {name: _result(setting, settings, options.seeds) for name, settings in CONTESTANTS.items()}
    rows = []
    for name, result in results.items():
        conditions: tuple[Condition, ...] = ("none", "system", "judge", "both")
        entries: dict[str, Entry] = {condition: Entry(result.verdicts(condition)) for condition in conditions}
        entries["judge charged to the system"] = Entry(share(*result.spill))
        entries["system latency"] = Entry(result.system.system_latency())
        for change in setting.changes:
            entries[f"{change} latency"] = Entry(result.judged[change, "judge"].judge_latency())
        entries["cost, nothing drifts"] = Entry(float(np.mean(result.none.cost)))
        entries["cost, system drifts"] = Entry(float(np.mean(result.system.cost)))
        rows.append(Row(name, entries))
    claims = _replica_claims(dataset, results, options.seeds)
    if dataset not in REPLICAS:
        claims = _real_claims(dataset, results, options.seeds)
    return exhibit(
        part="verdicts",
        title="Verdicts and their price",
        question=f"1,200 items with a change at 300, repeat noise {REPEAT_NOISE:g}; counts are none/system/judge",
        dataset=dataset,
        is_replica=dataset in REPLICAS,
        seeds=options.seeds,
        rows=rows,
        claims=claims,
    )


def _setting(dataset: str, options: BeyondOptions) -> Setting:
    if dataset in REPLICAS:
        setting = replica(dataset)
        return replace(setting, scenario=replace(setting.scenario, repeat_noise=REPEAT_NOISE))
    assert options.data is not None
    setting, real = real_setting(options.data, dataset), real_table(dataset)
    return replace(setting, scenario=replace(setting.scenario, repeat_noise=real.noise, grid_step=real.step))


def _result(setting: Setting, settings: dict[str, Any], seeds: int) -> Result:
    config, table = setting.config(**settings), setting.table
    changes = (*setting.changes, "synthetic")
    conditions: tuple[Condition, Condition] = ("judge", "both")
    unmoved = replace(setting.scenario, judge_change="synthetic")
    return Result(
        simulate(table, config, replace(unmoved, condition="none"), seeds),
        simulate(table, config, replace(unmoved, condition="system"), seeds),
        {
            (change, condition): simulate(
                table, config, replace(setting.scenario, condition=condition, judge_change=change), seeds
            )
            for change in changes
            for condition in conditions
        },
    )


def _replica_claims(dataset: str, results: Mapping[str, Result], seeds: int) -> tuple[Claim, ...]:
    if dataset not in REPLICAS:
        return ()
    detected = {name: result.system.kinds.count("system") for name, result in results.items()}
    cost = {name: float(np.mean(result.system.cost)) for name, result in results.items()}
    cheap = "robust, half the budget"
    charged, streams = results["robust"].spill
    return (
        aim(
            f"the system's drop on {dataset} is found in at least 55 of 60 at a cost of at most {MOST_COST:g}",
            detected["robust"] >= ENOUGH * seeds and cost["robust"] <= MOST_COST,
            f"{share(detected['robust'], seeds)} at {cost['robust']:.2f}; paper {share(detected['paper'], seeds)} at "
            f"{cost['paper']:.2f}",
        ),
        aim(
            f"no fewer than with paper at a cost of at most {LOW_COST:g} on {dataset}",
            detected[cheap] >= detected["paper"] and cost[cheap] <= LOW_COST,
            f"{share(detected[cheap], seeds)} at {cost[cheap]:.2f}",
        ),
        aim(
            f"a change of judge on {dataset} is charged to the system at most once in 240",
            charged <= streams / 240.0,
            f"{share(charged, streams)}; paper {share(*results['paper'].spill)}",
        ),
    )


def _real_claims(dataset: str, results: Mapping[str, Result], seeds: int) -> tuple[Claim, ...]:
    paper, robust = results["paper"], results["robust"]
    found = {name: results[name].system.kinds.count("system") for name in ("paper", "robust")}
    spill = {name: results[name].spill[0] for name in ("paper", "robust")}
    cost = {name: float(np.mean(results[name].none.cost)) for name in ("paper", "robust")}
    return (
        Claim(
            f"robust finds as many drops of the system as paper and charges no more judges to it, for less ({dataset})",
            found["robust"] >= found["paper"] and spill["robust"] <= spill["paper"] and cost["robust"] < cost["paper"],
            f"found {share(found['robust'], seeds)} and {share(found['paper'], seeds)}, charged "
            f"{share(*robust.spill)} and {share(*paper.spill)}, cost {cost['robust']:.2f} and {cost['paper']:.2f}",
        ),
    )


def draw(_: Exhibit) -> Any:
    """The table says it."""
    return None
