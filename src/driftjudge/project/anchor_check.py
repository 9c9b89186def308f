"""What a look at the human labels can tell before anything is paid for."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor.config import MonitorConfig
from driftjudge.project.agreement import weighted_kappa
from driftjudge.project.anchor_file import Anchors
from driftjudge.stats.bounds import highest_rate

FEW_ANCHORS = 100
"""The paper uses 200; below half of that a moderate change of the judge takes long to show."""
CEILING = 0.8
"""Share of labels on one end of the scale from which a rubric can hardly move that way."""
NOISY_KAPPA = 0.6
"""Raters who agree less than this leave little for a judge to agree with."""


@dataclass(frozen=True)
class LabelledRubric:
    """What the human labels of one rubric look like."""

    rubric: str
    mean: float
    at_lowest: float
    at_highest: float
    """Share of anchors whose label lies on that end of the scale."""
    raters_kappa: float
    """Quadratic-weighted kappa over pairs of raters of the same anchor; NaN without second opinions."""
    noise: float
    """Standard deviation of one rater around the anchor's mean, on the scale from 0 to 1; NaN likewise."""


@dataclass(frozen=True)
class AnchorCheck:
    """A look at an anchor set, with plain sentences about what to mend."""

    anchors: int
    several_raters: int
    """Anchors with more than one rater."""
    rubrics: tuple[LabelledRubric, ...]
    per_stratum: dict[str, int]
    warnings: tuple[str, ...]
    freeze_hash: str


def check_anchors(anchors: Anchors, config: MonitorConfig, passes: int) -> AnchorCheck:
    """Look at the labels as `calibrate` with that many passes would use them."""
    human = anchors.human()
    ratings = anchors.ratings
    rubrics = tuple(_look(name, human[:, r], ratings, r) for r, name in enumerate(anchors.rubrics))
    per_stratum = dict.fromkeys(config.strata, 0)
    for anchor in anchors.anchors:
        per_stratum[anchor.item.stratum] = per_stratum.get(anchor.item.stratum, 0) + 1
    several = sum(len(rows) > 1 for rows in ratings)
    warnings = [
        *_about_numbers(len(anchors), per_stratum, config, passes),
        *(sentence for rubric in rubrics for sentence in _about_rubric(rubric)),
    ]
    if several == 0:
        warnings.append(
            "every anchor has a single rater, so label noise is unknown; a second opinion on some of them would tell"
        )
    return AnchorCheck(len(anchors), several, rubrics, per_stratum, tuple(warnings), anchors.freeze_hash)


def lowest_provable_rate(anchors: int, passes: int, config: MonitorConfig) -> float:
    """The bound p0 on a judge that never departed from itself: what a changed judge must exceed to be seen."""
    fresh = passes - passes // 2
    delta = config.alpha_judge * config.baseline_share / (len(config.statistics) * len(config.rubrics) * 3)
    return highest_rate(0, anchors * fresh, delta) if delta > 0.0 else 0.0


def _about_numbers(k: int, per_stratum: dict[str, int], config: MonitorConfig, passes: int) -> list[str]:
    found = []
    if k < FEW_ANCHORS:
        rate = lowest_provable_rate(k, passes, config)
        found.append(
            f"{k} anchors are few for each rubric (the paper uses 200): with {passes} passes even a judge that repeats "
            f"itself exactly is only known to depart from itself in at most {rate:.1%} of re-scores"
        )
    for stratum, count in per_stratum.items():
        if stratum not in config.strata:
            found.append(f"{count} anchors are in {stratum!r}, a stratum driftjudge.toml does not know")
        elif count < config.stratum_anchors and len(config.strata) > 1:
            found.append(
                f"{stratum!r} has {count} anchors; with fewer than {config.stratum_anchors} a judge that changes only "
                "there is seen late"
            )
    return found


def _about_rubric(rubric: LabelledRubric) -> list[str]:
    found = []
    for share, end, way in (
        (rubric.at_highest, "highest", "more lenient"),
        (rubric.at_lowest, "lowest", "harsher"),
    ):
        if share >= CEILING:
            found.append(
                f"{rubric.rubric} is a {'ceiling' if end == 'highest' else 'floor'} rubric: {share:.0%} of its labels "
                f"are the {end} score, so a judge that turns {way} can hardly be told by it"
            )
    if not math.isnan(rubric.raters_kappa) and rubric.raters_kappa < NOISY_KAPPA:
        found.append(
            f"the raters of {rubric.rubric} agree poorly (weighted kappa {rubric.raters_kappa:.2f}): its labels are "
            "noisy, so sharpen the rubric or settle the disagreements"
        )
    return found


def _look(name: str, labels: NDArray[np.float64], ratings: list[NDArray[np.float64]], r: int) -> LabelledRubric:
    given = [rows[:, r][~np.isnan(rows[:, r])] for rows in ratings]
    pairs = [pair for row in given for pair in itertools.permutations(row.tolist(), 2)]
    spare = sum(len(row) - 1 for row in given)
    squares = sum(float(np.sum((row - row.mean()) ** 2)) for row in given)
    return LabelledRubric(
        rubric=name,
        mean=float(labels.mean()),
        at_lowest=float(np.mean(labels == 0.0)),
        at_highest=float(np.mean(labels == 1.0)),
        raters_kappa=weighted_kappa(*np.array(pairs).T) if pairs else math.nan,
        noise=math.sqrt(squares / spare) if spare else math.nan,
    )
