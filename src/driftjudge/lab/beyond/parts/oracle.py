"""How far from the limit: the latency of the best bet that knows what changed, when and where.

The oracle sees the same observations, taken with the same coins and probabilities, and alarms at the same threshold. It
starts at the change, watches nothing but the one cell (or anchor statistic) that shows it soonest, and bets there the
constant fraction of the cap that makes its logarithm grow fastest. No method that has to find these out can be faster.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftjudge.lab.beyond.anchor_trials import ANCHORS, PASSES, config_for, rescores_to_alarm, set_up
from driftjudge.lab.beyond.judges import Noisy
from driftjudge.lab.beyond.options import BeyondOptions, aim, exhibit
from driftjudge.lab.beyond.paths import cell_bets, recorded
from driftjudge.lab.beyond.split import REPEAT_NOISE, replica
from driftjudge.lab.exhibits import Claim, Entry, Exhibit, Row
from driftjudge.lab.scenarios import cast, stage
from driftjudge.lab.setting import Setting
from driftjudge.lab.simulate import NEVER
from driftjudge.monitor.anchor_process import new_anchor_process
from driftjudge.monitor.baseline import Component
from driftjudge.stats.anchors import anchor_statistic
from driftjudge.tables.replicas import REPLICAS

DATASETS = REPLICAS
FRACTIONS = np.linspace(0.02, 0.98, 49)
MOST_TIMES = 3.0
AFTER = 3_000
"""Items after the change that both get to see."""
SEEN = 240
"""Re-scores after the change that the oracle gets to see."""

Vector = NDArray[np.float64]


def run(dataset: str, options: BeyondOptions) -> Exhibit:
    """Our latency over the oracle's, for the regression and for each change of judge."""
    setting = replica(dataset)
    pairs = {"the system drops": _system(setting, options.seeds)}
    for change in setting.changes:
        pairs[f"{change} judge"] = _judge(setting, change, options.seeds)
    rows, claims = [], list[Claim]()
    for label, (ours, oracle, unit) in pairs.items():
        times = ours / oracle
        rows.append(Row(f"{label} ({unit})", {"robust": Entry(ours), "oracle": Entry(oracle), "times": Entry(times)}))
        claims.append(
            aim(
                f"at most {MOST_TIMES:g} times the oracle's latency: {label} on {dataset}",
                times <= MOST_TIMES,
                f"{times:.1f} times, {ours:.0f} and {oracle:.0f} {unit}",
                "the oracle needs no evidence on which of the cells or statistics moved, when, or how far",
            )
        )
    return exhibit(
        part="oracle",
        title="Distance to the oracle",
        question="median latency beside that of the log-optimal bet that knows the change",
        dataset=dataset,
        is_replica=True,
        seeds=options.seeds,
        rows=rows,
        claims=claims,
    )


def _system(setting: Setting, seeds: int) -> tuple[float, float, str]:
    config, scenario = setting.config("robust"), replace(setting.scenario, condition="system")
    scenario = replace(scenario, items=scenario.change_at + AFTER)
    assert scenario.target is not None
    stratum = setting.table.stratum_names.index(scenario.target[1])
    ours, bets = [], []
    for seed in range(seeds):
        own = replace(config, seed=seed)
        calibration = cast(setting.table, scenario.anchors, seed).calibration(own)
        block = stage(setting.table, own, scenario).block
        at, probabilities, asked = recorded(own, calibration, block)
        ours.append(at - scenario.change_at if at else NEVER)
        after = np.flatnonzero((block.strata == stratum) & (np.arange(len(block)) >= scenario.change_at))
        positions = after + 1 - scenario.change_at
        bets.append((positions, cell_bets(own, calibration, block, after, probabilities, asked)))
    need = math.log(config.system_threshold)
    latencies = [
        np.array([_crossing(positions, np.log1p(f * steps[:, b]), need) for positions, steps in bets])
        for b in range(bets[0][1].shape[1])
        if not np.isnan(bets[0][1][:, b]).any()
        for f in [_best_fraction([steps[:, b] for _, steps in bets])]
    ]
    return float(np.median(ours)), min(float(np.median(latency)) for latency in latencies), "items"


def _best_fraction(steps: list[Vector]) -> float:
    """The fraction of the cap whose logarithm grows fastest over what came after the change."""
    pooled = np.concatenate(steps)
    with np.errstate(divide="ignore"):
        growth = [float(np.mean(np.log(np.maximum(1.0 + f * pooled, 0.0)))) for f in FRACTIONS]
    return float(FRACTIONS[int(np.argmax(growth))])


def _crossing(positions: NDArray[np.int64], growth: Vector, need: float) -> int:
    above = np.flatnonzero(np.cumsum(growth) >= need)
    return int(positions[above[0]]) if len(above) else NEVER


def _judge(setting: Setting, change: str, seeds: int) -> tuple[float, float, str]:
    table, config = setting.table, config_for(setting.table, "robust")
    before, after = (Noisy(table.judge(name), REPEAT_NOISE, 0.25) for name in ("strong", change))
    trials = rescores_to_alarm(table, config, before, after, range(seeds))
    paths: list[list[Path]] = []
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 82])
        rows, chosen, baseline = set_up(table, config, before, rng, anchors=ANCHORS, passes=PASSES)
        process = new_anchor_process(config, chosen, baseline)
        drawn = rng.integers(len(baseline.kept), size=SEEN)
        scores = after.answers(rows[baseline.kept][drawn], rng)
        paths.append(
            [
                _statistic_paths(component, scores, process.human[drawn], process.usual[drawn], process.resolution)
                for component in baseline.components
                if component.stratum < 0
            ]
        )
    need = math.log(config.judge_threshold)
    medians = []
    for c in range(len(paths[0])):
        f = int(np.argmax(np.mean([path[c].growth for path in paths], axis=0)))
        crossings = [np.flatnonzero(path[c].log_wealth[f] >= need) for path in paths]
        medians.append(float(np.median([at[0] + 1 if len(at) else NEVER for at in crossings])))
    best = min(medians)
    ours = trials.rescores
    return (float(NEVER) if ours is None else ours), best, "re-scores"


@dataclass(frozen=True)
class Path:
    """One statistic in one stream, for every fraction of the cap."""

    log_wealth: Vector
    """On the statistic's ladder, fractions x re-scores."""
    growth: Vector
    """Mean growth of the logarithm against its single bound, per fraction: what log-optimal refers to."""


def _statistic_paths(component: Component, scores: Vector, human: Vector, usual: Vector, resolution: Vector) -> Path:
    """How each fraction would have fared from the change on."""
    x = np.array(
        [
            anchor_statistic(
                component.kind, component.rubric, component.direction, scores[i], human[i], usual[i], resolution
            )
            for i in range(min(len(scores), SEEN))
        ]
    )
    lowest = np.full((len(FRACTIONS), len(x)), np.inf)
    for rung in component.rungs:
        lowest = np.minimum(lowest, math.log(rung.worth) + np.cumsum(_growth(component, rung.centre, x), axis=1))
    return Path(lowest, _growth(component, component.centre, x).mean(axis=1))


def _growth(component: Component, centre: float, x: Vector) -> Vector:
    """Of the logarithm, fractions x re-scores."""
    step = component.cap_at(centre) * component.side * (x - centre)
    with np.errstate(divide="ignore"):
        growth: Vector = np.log(np.maximum(1.0 + FRACTIONS[:, None] * step[None], 0.0))
    return growth


def draw(_: Exhibit) -> Any:
    """The table says it."""
    return None
