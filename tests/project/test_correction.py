"""What the cheap judge is worth, and its correction."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from driftjudge.project.correction import SHAPES, Correction, fit, judge_the_cheap_judge


def pairs(size: int = 300) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A cheap judge that is generous by 0.2 and tracks the strong one with some noise."""
    rng = np.random.default_rng(5)
    strong = rng.uniform(0.1, 0.7, size=size)
    return np.clip(strong + 0.2 + rng.normal(0, 0.05, size), 0, 1), strong


def test_a_generous_cheap_judge_is_found_out_and_mended() -> None:
    cheap, strong = pairs()
    (found,) = judge_the_cheap_judge(("tone",), cheap[:, None], strong[:, None])
    assert found.bias == pytest.approx(0.2, abs=0.01)
    assert found.correlation > 0.9
    assert found.errors["shift"] < found.errors["none"] / 3
    assert found.chosen.shape != "none"
    assert abs(float(np.mean(found.chosen(cheap) - strong))) < 0.005


def test_a_blind_cheap_judge_is_flattened_not_inverted() -> None:
    rng = np.random.default_rng(6)
    strong = rng.uniform(size=300)
    correction = fit("affine", 1.0 - strong, strong)
    assert correction.slope == 0.0
    assert correction(np.array([0.1, 0.9])) == pytest.approx(strong.mean())


def test_few_pairs_are_left_uncorrected() -> None:
    cheap, strong = pairs(10)
    (found,) = judge_the_cheap_judge(("tone",), cheap[:, None], strong[:, None], "affine")
    assert (found.chosen.shape, found.pairs) == ("none", 10)
    assert all(math.isnan(error) for error in found.errors.values())


@pytest.mark.parametrize("shape", SHAPES)
def test_every_correction_maps_scores_to_scores_and_survives_json(shape: str) -> None:
    cheap, strong = pairs()
    correction = fit(shape, cheap, strong)  # type: ignore[arg-type]
    grid = np.linspace(0, 1, 101)
    mapped = correction(grid)
    assert mapped.min() >= 0.0
    assert mapped.max() <= 1.0
    assert (np.diff(mapped) >= 0.0).all()
    again = Correction.from_json(json.loads(json.dumps(correction.to_json())))
    assert again == correction
    assert (again(grid) == mapped).all()


def test_unscored_items_are_left_out() -> None:
    cheap, strong = pairs()
    cheap[:5], strong[5:10] = np.nan, np.nan
    (found,) = judge_the_cheap_judge(("tone",), cheap[:, None], strong[:, None])
    assert found.pairs == 290
