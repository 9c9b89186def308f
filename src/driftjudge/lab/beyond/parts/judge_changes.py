"""How many anchor re-scores does it take to see that the judge was changed, also where its mean stays put?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from driftjudge.lab.beyond.anchor_trials import WATCHED, Trials, config_for, rescores_to_alarm
from driftjudge.lab.beyond.judges import Noisy
from driftjudge.lab.beyond.options import ALPHA, CONTESTANTS, BeyondOptions, aim, exhibit, share
from driftjudge.lab.beyond.split import REPEAT_NOISE, Upgrade, real_table, replica, upgrades
from driftjudge.lab.exhibits import Claim, Entry, Exhibit, Row
from driftjudge.tables.replicas import REPLICAS

DATASETS = (*REPLICAS, "khan_saq", "hanna", "summeval", "llmbar", "topical_chat")
MOST_RESCORES = {"lenient": 20, "harsh": 10}
UPGRADE, MOST_UPGRADE, ENOUGH = "claude 3.5 to 4.0", 170, 0.95
QUIET = 2_000
"""Re-scores of the unchanged judge in which false alarms are counted here."""


@dataclass(frozen=True)
class Found:
    """What one contestant saw of one change."""

    changed: Trials
    quiet: Trials

    @property
    def enough(self) -> bool:
        """Whether a change was found nearly always, at no more false alarms than promised."""
        return self.changed.found >= ENOUGH * len(self.changed) and self.quiet.false_alarms <= ALPHA * len(self.quiet)


def run(dataset: str, options: BeyondOptions) -> Exhibit:
    """Re-scores to the alarm for every change of judge of a table."""
    rows, results = [], dict[tuple[str, str], Found]()
    for change in _changes(dataset, options):
        entries = {"mean shift": Entry(f"{change.shift:+.3f}")}
        for name in CONTESTANTS:
            found = results[change.name, name] = _found(change, name, options.seeds)
            entries[f"{name}, re-scores"] = Entry(found.changed.rescores)
            entries[f"{name}, found"] = Entry(share(found.changed.found, options.seeds))
            entries[f"{name}, false alarms"] = Entry(share(found.quiet.false_alarms, options.seeds))
        rows.append(Row(change.name, entries))
    noise = REPEAT_NOISE if dataset in REPLICAS else real_table(dataset).noise
    repeats = f"repeat noise {noise:g}" if noise else "the judges' own repeated calls"
    return exhibit(
        part="judge_changes",
        title="Changes of judge",
        question=f"re-scores from the change to the alarm, at most {WATCHED:,}; {repeats}",
        dataset=dataset,
        is_replica=dataset in REPLICAS,
        seeds=options.seeds,
        rows=rows,
        claims=_claims(dataset, results, options.seeds),
    )


def _changes(dataset: str, options: BeyondOptions) -> Sequence[Upgrade]:
    if dataset not in REPLICAS:
        assert options.data is not None
        return upgrades(options.data, dataset)
    setting = replica(dataset)
    before = Noisy(setting.table.judge("strong"), REPEAT_NOISE, 0.25)
    return [
        Upgrade(name, setting.table, before, Noisy(setting.table.judge(name), REPEAT_NOISE, 0.25), shift)
        for name, shift in setting.changes.items()
    ]


def _found(change: Upgrade, preset: str, seeds: int) -> Found:
    config = config_for(change.table, preset)
    return Found(
        rescores_to_alarm(change.table, config, change.before, change.after, range(seeds)),
        rescores_to_alarm(change.table, config, change.before, change.before, range(seeds), change_at=QUIET, watched=0),
    )


def _claims(dataset: str, results: Mapping[tuple[str, str], Found], seeds: int) -> list[Claim]:
    claims = []
    for change, most in MOST_RESCORES.items():
        if (change, "robust") in results:
            soon, late = results[change, "robust"].changed, results[change, "paper"].changed
            claims.append(
                aim(
                    f"the {change} judge of {dataset} is found within {most} re-scores in every stream",
                    soon.rescores is not None and soon.rescores <= most and soon.found == seeds,
                    f"median {_shown(soon)}, {share(soon.found, seeds)}; paper {_shown(late)}, "
                    f"{share(late.found, seeds)}",
                )
            )
    if (UPGRADE, "robust") in results:
        ours, theirs = results[UPGRADE, "robust"], results[UPGRADE, "paper"]
        rescores = ours.changed.rescores
        claims.append(
            aim(
                f"{UPGRADE} on {dataset} is found in at least {ENOUGH:g} of streams within {MOST_UPGRADE} re-scores, "
                f"false alarms at most {ALPHA:g}",
                ours.enough and rescores is not None and rescores <= MOST_UPGRADE,
                f"{ours.changed.found / seeds:.2f} at {_shown(ours.changed)}, false alarms "
                f"{ours.quiet.false_alarms / seeds:.2f}; paper {theirs.changed.found / seeds:.2f} at "
                f"{_shown(theirs.changed)}, {theirs.quiet.false_alarms / seeds:.2f}",
            )
        )
    if dataset in REPLICAS:
        return claims
    names = list(dict.fromkeys(change for change, _ in results))
    better = [n for n in names if results[n, "robust"].changed.found >= results[n, "paper"].changed.found]
    quiet = max(results[n, "robust"].quiet.false_alarms for n in names)
    standing = real_table(dataset).standing
    claims.append(
        Claim(
            f"robust finds every change of {dataset} ({standing}) at least as often as paper, within its alpha",
            better == names and quiet <= ALPHA * seeds,
            f"{len(better)} of {len(names)} changes, worst false alarms {share(quiet, seeds)}",
        )
    )
    return claims


def _shown(trials: Trials) -> str:
    return "never" if trials.rescores is None else f"{trials.rescores:.0f}"


def draw(_: Exhibit) -> Any:
    """The table says it."""
    return None
