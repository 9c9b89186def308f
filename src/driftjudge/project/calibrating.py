"""`calibrate` and `reanchor`: what the judges say when all is well, asked afresh, and what follows from it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from driftjudge.judges.cache import content_hash
from driftjudge.judges.protocol import Item
from driftjudge.monitor.anchors import AnchorSet
from driftjudge.monitor.baseline import baseline_of
from driftjudge.monitor.calibration import Calibration
from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.fitting import check_fit
from driftjudge.monitor.scores import Failure
from driftjudge.project.agreement import agreement, repeat_noise, worst_disagreements
from driftjudge.project.anchor_file import Anchors, frozen_anchors
from driftjudge.project.bench import PASSES_PER_ROUND, Bench
from driftjudge.project.config import ProjectConfig
from driftjudge.project.correction import judge_the_cheap_judge
from driftjudge.project.errors import ProjectError
from driftjudge.project.items import read_items
from driftjudge.project.progress import Meter, counted
from driftjudge.project.record import Bar, Findings, Record
from driftjudge.stats.anchors import resolution_of

FINEST_RESOLUTION = 0.01
"""Expected scores that differ by less are the same score, told with other rounding."""
NOISE_WIDTHS = 3.0
"""Expected scores that differ by less than so many deviations of a judge around itself are the same score."""


@dataclass(frozen=True)
class Inputs:
    """What a round of calibration starts from, read and checked."""

    anchors: Anchors
    items: tuple[Item, ...]

    def hashes(self, config: ProjectConfig) -> dict[str, str]:
        """What the outcome depends on, besides the judges."""
        items = [[item.id, item.stratum, content_hash(item)] for item in self.items]
        settings = [config.monitor.to_json(), vars(config.calibration), list(config.score_range)]
        return {
            "anchors": self.anchors.freeze_hash,
            "calibration items": _hash(items),
            "settings": _hash(settings),
        }


def read_inputs(config: ProjectConfig) -> Inputs:
    """Anchors and calibration items; whatever could be known to fail after paying is refused here."""
    anchors = frozen_anchors(config.anchors_file, config.rubric_names, config.score_range)
    path = config.calibration_file
    if not path.exists():
        raise ProjectError(f"there is no '{path}'; put items there from a time when all was well, or set [calibration]")
    items = read_items(path, config.items)
    both = sorted({item.id for item in items} & set(anchors.ids))
    if both:
        raise ProjectError(
            f"{both[0]!r} is an anchor and a calibration item ({len(both)} in all); hold anchors out of {path.name}"
        )
    _rehearse(config, anchors, items)
    return Inputs(anchors, items)


def _rehearse(config: ProjectConfig, anchors: Anchors, items: Sequence[Item]) -> None:
    """Too few items or anchors to ever carry the promise are found out with perfect scores, which cost nothing."""
    human, monitor = anchors.human(), config.monitor
    perfect = np.ones((len(items), len(config.rubrics)))
    strata = [item.stratum for item in items]
    bars = Calibration.from_scores(strata, perfect, monitor, low_bars=config.calibration.low_bars)
    rehearsed = _anchor_set(anchors, [human] * config.calibration.passes, FINEST_RESOLUTION)
    check_fit(monitor, bars, rehearsed)
    baseline_of(rehearsed, monitor)


def _anchor_set(
    anchors: Anchors, passes: Sequence[NDArray[np.float64]] | NDArray[np.float64], resolution: float | None
) -> AnchorSet:
    strata = [anchor.item.stratum for anchor in anchors.anchors]
    return AnchorSet(ids=anchors.ids, human=anchors.human(), passes=passes, resolution=resolution, strata=strata)


async def take_baseline(
    config: ProjectConfig,
    bench: Bench,
    inputs: Inputs,
    meter: Meter,
    *,
    round_number: int,
    monitor: str,
    after: int = 0,
    founding: MonitorConfig | None = None,
) -> Record:
    """Ask the judges, afresh in every round, and put together what the watch stands on.

    Every answer is kept under its round and pass: an interrupted round goes on where it stopped. `founding` is the
    config of a watch that is under way, which it keeps for life.
    """
    first, passes = round_number * PASSES_PER_ROUND, config.calibration.passes
    anchors = tuple(anchor.item for anchor in inputs.anchors.anchors)
    roles = tuple(bench.judges)
    _check_ceilings(bench, inputs.items, anchors, first, passes)
    unscored: Counter[str] = Counter()
    meter.begin("calibrating", len(roles) * len(inputs.items) + passes * len(anchors))
    scores = {role: await _pass(bench, role, inputs.items, meter, first, unscored, booked_as=role) for role in roles}
    stack = np.stack(
        [
            await _pass(bench, "strong", anchors, meter, first + 1 + number, unscored, booked_as="anchor")
            for number in range(passes)
        ]
    )
    meter.end()
    strong, cheap = scores["strong"], scores.get("cheap")
    priced = _with_prices(config.monitor, bench) if founding is None else founding
    strata = [item.stratum for item in inputs.items]
    calibration = Calibration.from_scores(
        strata,
        strong,
        priced,
        ids=[item.id for item in inputs.items],
        low_bars=config.calibration.low_bars,
    )
    human = inputs.anchors.human()
    anchor_set = _anchor_set(inputs.anchors, stack, _resolution(config, stack))
    check_fit(priced, calibration, anchor_set)
    baseline = baseline_of(anchor_set, priced)
    mean = _mean_over_passes(stack)
    names = config.rubric_names
    wanted = config.calibration.correction
    findings = Findings(
        bars=_bars(calibration, priced),
        agreement=agreement(names, mean, human),
        worst=worst_disagreements(inputs.anchors.ids, names, mean, human),
        noise=repeat_noise(names, stack, baseline.resolution),
        cheap=() if cheap is None else judge_the_cheap_judge(names, cheap, strong, wanted),
        unscored=dict(unscored),
        notes=baseline.notes,
    )
    return Record(
        round=round_number,
        monitor=monitor,
        after=after,
        inputs=inputs.hashes(config),
        config=priced,
        anchors=anchor_set,
        calibration=calibration,
        strong=bench.judges["strong"].identity,
        cheap=bench.judges["cheap"].identity if "cheap" in bench.judges else None,
        findings=findings,
    )


def _check_ceilings(bench: Bench, items: Sequence[Item], anchors: Sequence[Item], first: int, passes: int) -> None:
    """Every item is looked at and every call counted before the first is made; answers already kept cost nothing."""
    work = [runner.forecast(items, pass_number=first) for runner in bench.runners.values()]
    strong = bench.runners["strong"]
    work += [strong.forecast(anchors, pass_number=first + 1 + number) for number in range(passes)]
    advice = (
        f"the baseline is {counted(len(items), 'calibration item')} by {counted(len(bench.runners), 'judge')} and "
        f"{counted(passes, 'pass', ['passes'])} over {counted(len(anchors), 'anchor')}"
    )
    bench.require(work, "the baseline", advice)


async def _pass(
    bench: Bench,
    role: str,
    items: Sequence[Item],
    meter: Meter,
    number: int,
    unscored: Counter[str],
    *,
    booked_as: str,
) -> NDArray[np.float64]:
    """One scoring of all items (n x R); NaN where the judge answered without scores."""
    rows = {item.id: row for row, item in enumerate(items)}
    table = np.full((len(items), len(bench.config.rubrics)), np.nan)
    lost: list[str] = []
    async for item, judgement in bench.score(role, items, meter, pass_number=number, booked_as=booked_as):
        if isinstance(judgement.scores, Failure):
            if judgement.scores.reason == "transport":
                lost.append(judgement.scores.detail)
            unscored[judgement.scores.reason] += 1
        else:
            table[rows[item.id]] = judgement.scores
    if lost:
        raise ProjectError(
            f"{counted(len(lost), 'call')} to the {role} judge did not come through ({lost[0]}); run the same command "
            "again: what was answered is kept"
        )
    return table


def _resolution(config: ProjectConfig, stack: NDArray[np.float64]) -> float | None:
    """Scores on a grid have the grid's; expected scores get one from how the judge repeats itself.

    From the defining passes alone: the others must stay fresh.
    """
    if config.calibration.resolution is not None or not config.strong.expected_scores:
        return config.calibration.resolution
    defining = stack[: max(1, len(stack) // 2)]
    widest = float(np.max(resolution_of(defining, most_levels=0)))  # twice the deviation
    return min(max(widest * NOISE_WIDTHS / 2.0, FINEST_RESOLUTION), 0.5)


def _with_prices(monitor: MonitorConfig, bench: Bench) -> MonitorConfig:
    """What calls really cost here, where that is known, so that the cost fraction is this project's."""
    means = {}
    for role, spent in bench.cache.ledger.by_role().items():
        if spent.calls and not spent.unpriced:
            means[role] = spent.dollars / spent.calls
    default = MonitorConfig(rubrics=("any",), strata=("any",))
    if means.get("strong", 0.0) > 0.0 and monitor.strong_price == default.strong_price:
        cheap = means.get("cheap", 0.0)
        return replace(monitor, strong_price=means["strong"], cheap_price=cheap)
    return monitor


def _mean_over_passes(stack: NDArray[np.float64]) -> NDArray[np.float64]:
    """The judge's mean score per anchor and rubric; NaN where it never scored."""
    counts = (~np.isnan(stack)).sum(axis=0)
    mean: NDArray[np.float64] = np.where(counts > 0, np.nansum(stack, axis=0) / np.maximum(counts, 1), np.nan)
    return mean


def _bars(calibration: Calibration, config: MonitorConfig) -> tuple[Bar, ...]:
    return tuple(
        Bar(
            rubric,
            stratum,
            float(calibration.bars[t, r]),
            float(calibration.errors[t, r]),
            float(calibration.nulls[t, r]),
            int(calibration.counts[t, r]),
        )
        for t, stratum in enumerate(config.strata)
        for r, rubric in enumerate(config.rubrics)
    )


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
