"""What does a judge do that fails more often on bad items: hide drops, invent them, or give itself away?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from driftjudge.lab.beyond.judges import Failing, Judge, Noisy
from driftjudge.lab.beyond.options import ALPHA, CONTESTANTS, BeyondOptions, aim, exhibit, share
from driftjudge.lab.beyond.split import REPEAT_NOISE, replica
from driftjudge.lab.exhibits import Claim, Entry, Exhibit, Row
from driftjudge.lab.scenarios import SCORES, Condition, cast, stage
from driftjudge.lab.setting import Setting
from driftjudge.monitor import AnchorSet, Block, Calibration, Monitor, MonitorConfig
from driftjudge.tables.replicas import REPLICAS

DATASETS = REPLICAS
LOW, ON_BAD, OTHERWISE = 0.25, 0.20, 0.01
"""An item whose first rubric scores LOW or less is bad; the judge then fails 20 times as often."""
ITEMS = 6_000
REPEATS = 32
CASES: tuple[tuple[str, Condition, bool, bool], ...] = (
    ("fails as ever, nothing drifts", "none", True, True),
    ("fails as ever, the system drifts", "system", True, True),
    ("begins to fail", "none", False, True),
)
"""What happens, the truth about the system, and whether the judge fails before and after the change."""
RIGHT = ("none", "system", "judge")


def run(dataset: str, options: BeyondOptions) -> Exhibit:
    """Verdicts with a judge that fails on 20 % of bad items and on 1 % of the others."""
    setting = replica(dataset)
    counts: dict[tuple[str, str], dict[str, int]] = {}
    rows = []
    for label, condition, before, after in CASES:
        for name in CONTESTANTS:
            kinds = [
                _verdict(setting, setting.config(name, seed=seed), condition, before, after)
                for seed in range(options.seeds)
            ]
            counts[label, name] = {kind: kinds.count(kind) for kind in ("none", "system", "judge")}
        entries: dict[str, Entry] = {
            name: Entry("/".join(map(str, counts[label, name].values()))) for name in CONTESTANTS
        }
        rows.append(Row(label, entries))
    (quiet, *_), (drop, *_), (change, *_) = CASES
    false, blamed = (options.seeds - counts[quiet, name]["none"] for name in ("robust", "paper"))
    return exhibit(
        part="failing_judge",
        title="A judge that fails more often on bad items",
        question=(
            f"verdicts none/system/judge after {ITEMS:,} items; fails on {ON_BAD:.0%} of items scored {LOW:g} or less, "
            f"{OTHERWISE:.0%} of others"
        ),
        dataset=dataset,
        is_replica=True,
        seeds=options.seeds,
        rows=rows,
        claims=(
            aim(
                f"failures that were always there raise at most {2 * ALPHA:g} false alarms of either kind on {dataset}",
                false <= 2 * ALPHA * options.seeds,
                f"{share(false, options.seeds)}, paper {share(blamed, options.seeds)}",
            ),
            Claim(
                f"failures on bad items cost robust less of its power than paper ({dataset})",
                counts[drop, "robust"]["system"] >= counts[drop, "paper"]["system"],
                f"{share(counts[drop, 'robust']['system'], options.seeds)} and "
                f"{share(counts[drop, 'paper']['system'], options.seeds)} drops found",
            ),
            Claim(
                f"a judge that begins to fail is found out by robust and not by paper ({dataset})",
                counts[change, "robust"]["judge"] > counts[change, "paper"]["judge"],
                f"{share(counts[change, 'robust']['judge'], options.seeds)} and "
                f"{share(counts[change, 'paper']['judge'], options.seeds)}",
            ),
        ),
    )


def _verdict(setting: Setting, config: MonitorConfig, condition: Condition, before: bool, after: bool) -> str:
    """One stream; whoever fails does so in passes, calibration, stream and re-scores alike."""
    table, scenario = setting.table, replace(setting.scenario, condition=condition, items=ITEMS)
    people = cast(table, scenario.anchors, config.seed)
    rng = people.generator(SCORES)
    steady: Judge = Noisy(table.judge("strong"), REPEAT_NOISE, 0.25)
    failing = Failing(steady, LOW, ON_BAD, OTHERWISE)
    first, then = failing if before else steady, failing if after else steady
    anchors = AnchorSet(
        ids=[table.ids[row] for row in people.anchor_rows],
        human=table.judge("human")[people.anchor_rows],
        passes=np.array([first.answers(people.anchor_rows, rng) for _ in range(scenario.passes)]),
        strata=[table.strata[row] for row in people.anchor_rows],
    )
    labels = [table.strata[row] for row in people.pool]
    calibration = Calibration.from_scores(labels, first.answers(people.pool, rng), config, low_bars="skip")
    monitor = Monitor(config, calibration=calibration, anchors=anchors)
    assert monitor.baseline is not None
    staged, kept = stage(table, config, scenario), people.anchor_rows[monitor.baseline.kept]
    moved = np.arange(scenario.items) >= scenario.change_at
    scored = Failing(Noisy(staged.block.strong, REPEAT_NOISE, 0.25), LOW, ON_BAD, OTHERWISE)
    plain = Noisy(staged.block.strong, REPEAT_NOISE, 0.25)
    rows = np.arange(scenario.items)
    strong = np.where(
        moved[:, None],
        (scored if after else plain).answers(rows, rng),
        (scored if before else plain).answers(rows, rng),
    )
    rescored = np.array([[judge.answers(kept, rng) for _ in range(REPEATS)] for judge in (first, then)])
    monitor.observe_block(Block(staged.block.strata, staged.block.cheap, strong, moved.astype(np.int64), rescored))
    return monitor.verdict.kind


def draw(_: Exhibit) -> Any:
    """The table says it."""
    return None
