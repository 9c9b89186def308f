"""What a look at the labels tells."""

from __future__ import annotations

import math

import pytest

from driftjudge.judges.protocol import Item
from driftjudge.monitor.config import MonitorConfig
from driftjudge.project.anchor_check import AnchorCheck, check_anchors, lowest_provable_rate
from driftjudge.project.anchor_file import Anchors
from driftjudge.project.labels import Labelled

CONFIG = MonitorConfig(rubrics=("tone",), strata=("x", "y"))


def look(labels: list[list[float]], strata: list[str] | None = None) -> AnchorCheck:
    rows = [
        Labelled(Item(f"a{n}", {"p": "t"}, strata[n] if strata else "xy"[n % 2]), f"r{rater}", (label,))
        for n, ratings in enumerate(labels)
        for rater, label in enumerate(ratings)
    ]
    return check_anchors(Anchors((), ("tone",), (0.0, 4.0)).with_labels(rows), CONFIG, 6)


def warned(found: AnchorCheck, what: str) -> bool:
    return any(what in warning for warning in found.warnings)


def test_a_good_set_passes_without_a_word() -> None:
    found = look([[n % 5, n % 5] for n in range(200)])
    assert found.warnings == ()
    assert found.rubrics[0].raters_kappa == pytest.approx(1.0)
    assert found.rubrics[0].noise == 0.0


def test_noisy_labels_are_warned_about() -> None:
    found = look([[n % 5, (n * 3 + 1) % 5] for n in range(200)])
    assert warned(found, "the raters of tone agree poorly")
    assert found.rubrics[0].noise > 0.2


def test_a_single_rater_leaves_the_noise_unknown() -> None:
    found = look([[n % 5] for n in range(200)])
    assert warned(found, "label noise is unknown")
    assert math.isnan(found.rubrics[0].raters_kappa)


def test_few_anchors_are_warned_about_with_what_they_can_prove() -> None:
    found = look([[n % 5, n % 5] for n in range(20)])
    assert warned(found, f"at most {lowest_provable_rate(20, 6, CONFIG):.1%} of re-scores")
    assert lowest_provable_rate(200, 6, CONFIG) < lowest_provable_rate(20, 6, CONFIG)


@pytest.mark.parametrize(("label", "kind", "way"), [(4, "ceiling", "more lenient"), (0, "floor", "harsher")])
def test_a_rubric_at_the_end_of_its_scale_is_warned_about(label: int, kind: str, way: str) -> None:
    found = look([[label if n % 10 else 2, label if n % 10 else 2] for n in range(200)])
    assert warned(found, f"tone is a {kind} rubric: 90% of its labels")
    assert warned(found, way)


def test_thin_and_unknown_strata_are_warned_about() -> None:
    found = look([[n % 5, n % 5] for n in range(200)], ["x"] * 190 + ["y"] * 5 + ["z"] * 5)
    assert warned(found, "'y' has 5 anchors")
    assert warned(found, "5 anchors are in 'z'")
