"""The paper's four propositions, checked on streams."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from driftjudge.lab.exhibits import Claim, Entry, Exhibit, Row, rate_claim
from driftjudge.lab.experiments import Options, make_exhibit
from driftjudge.lab.scenarios import Condition
from driftjudge.lab.setting import Setting
from driftjudge.lab.simulate import NEVER, Outcomes, simulate

GUARDS = (0, 50, 150, 300)


def run(setting: Setting, options: Options) -> Exhibit:
    """Validity and identification as rates, the race and orthogonality as identities of alarm positions."""
    scenario = replace(setting.scenario, judge_change=setting.harshest)
    config = setting.config(options.preset, anchor_every=5, burst=0)

    def streams(condition: Condition, **settings: object) -> Outcomes:
        changed = setting.config(options.preset, **{"anchor_every": 5, "burst": 0, **settings})
        return simulate(setting.table, changed, replace(scenario, condition=condition), options.seeds)

    none, system, judge = streams("none"), streams("system"), streams("judge")
    slower, cheaper = streams("judge", anchor_every=20), streams("judge", budget=0.1)
    alpha = config.alpha_judge
    rows = (
        Row("1 validity", {"anchor alarms, no drift": Entry(none.judge_rate)}),
        Row("2 identification", {"judge verdicts, system drift": Entry(system.verdicts(300)["judge"] / options.seeds)}),
        Row("3 race", {f"spill, guard {g}": Entry(judge.verdicts(g)["system"] / options.seeds) for g in GUARDS}),
        Row(
            "4 orthogonality", {"anchor alarms moved by the main": Entry(_differing(judge.judge_at, cheaper.judge_at))}
        ),
    )
    return make_exhibit(
        setting,
        options,
        experiment="propositions",
        title="The four propositions",
        source="Section 4.5",
        rows=rows,
        claims=(
            _rate_claim("1: without drift the anchors alarm in at most alpha of streams", none.judge_at, alpha),
            _rate_claim("2a: system drift gets a judge verdict in at most alpha of streams", system.judge_at, alpha),
            _rate_claim("2b: without drift the system alarms in at most alpha of streams", none.system_at, alpha),
            _race_claim(judge, slower),
            Claim(
                "4: anchor alarms do not depend on the main, main alarms not on the anchor rate",
                _differing(judge.judge_at, cheaper.judge_at) == 0
                and _differing(judge.system_at, slower.system_at) == 0,
                f"{_differing(judge.judge_at, cheaper.judge_at)} and {_differing(judge.system_at, slower.system_at)} "
                "differ",
            ),
        ),
    )


def _differing(first: Any, second: Any) -> int:
    return int((first != second).sum())


def _rate_claim(name: str, alarms: Any, alpha: float) -> Claim:
    return rate_claim(name, int((alarms < NEVER).sum()), len(alarms), alpha)


def _race_claim(judge: Outcomes, slower: Outcomes) -> Claim:
    """Misattribution is exactly tau_sys + W < tau_anc, falls with W, and falls with the anchor rate."""
    spills = [judge.verdicts(guard)["system"] for guard in GUARDS]
    exact = [int(((judge.system_at < NEVER) & (judge.system_at + guard < judge.judge_at)).sum()) for guard in GUARDS]
    slow = [slower.verdicts(guard)["system"] for guard in GUARDS]
    holds = spills == exact == sorted(spills, reverse=True) and bool(np.all(np.array(slow) >= np.array(spills)))
    return Claim(
        "3: spill is the race, and falls with guard and anchor rate", holds, f"{spills} at 1/5, {slow} at 1/20"
    )


def draw(exhibit: Exhibit) -> None:
    """Nothing to draw: the claims are the figure."""
    del exhibit
