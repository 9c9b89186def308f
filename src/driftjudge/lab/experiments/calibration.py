"""Appendix D: what the cheap judge is worth, and what a fitted correction removes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftjudge.lab.exhibits import Claim, Entry, Exhibit, Row
from driftjudge.lab.experiments import Options, make_exhibit
from driftjudge.lab.isotonic import isotonic_fit
from driftjudge.lab.published import published
from driftjudge.lab.setting import Setting
from driftjudge.report.figures import grid

FITTED = 600
"""Items to fit on and items to test on (40 % each of shorter tables)."""


def run(setting: Setting, options: Options) -> Exhibit:
    """Fit shift, affine and isotonic corrections on one part of the table, measure them on another."""
    table = setting.table
    order = np.random.default_rng(0).permutation(len(table))
    size = min(FITTED, int(0.4 * len(table)))
    fit, test = order[:size], order[size : 2 * size]
    rows, data, facts = [], [], []
    for r, rubric in enumerate(table.rubrics):
        cheap, strong = table.judge("cheap")[:, r], table.judge("strong")[:, r]
        corrections = _corrections(cheap[fit], strong[fit])
        raw = _rmse(cheap[test], strong[test])
        errors = {name: _rmse(correct(cheap[test]), strong[test]) for name, correct in corrections.items()}
        residual = float(np.mean(corrections["affine"](cheap[test]) - strong[test]))
        bias, slope = float(np.mean(cheap[test] - strong[test])), _slope(cheap[fit], strong[fit])
        corr = float(np.corrcoef(cheap[test], strong[test])[0, 1])
        paper = published(setting.name, "calibration", rubric) or (None,) * 4
        entries = {
            "bias": Entry(bias, paper[0]),
            "corr": Entry(corr, paper[1]),
            "slope": Entry(slope, paper[2]),
            "shift RMSE": Entry(errors["shift"] / raw - 1),
            "affine RMSE": Entry(errors["affine"] / raw - 1, paper[3]),
            "isotonic RMSE": Entry(errors["isotonic"] / raw - 1),
            "residual bias": Entry(residual),
        }
        rows.append(Row(rubric, entries))
        facts.append((bias, corr, slope, errors["affine"] / raw - 1, errors["isotonic"] / raw - 1, residual))
        data += [{"rubric": rubric, "correction": name, "change of RMSE": e / raw - 1} for name, e in errors.items()]
    return make_exhibit(
        setting,
        options,
        experiment="calibration",
        title="What the cheap judge is worth",
        source="Appendix D",
        rows=rows,
        claims=_claims(np.array(facts)),
        data={"errors": data},
    )


def _slope(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    return float(np.cov(x, y)[0, 1] / np.var(x, ddof=1))


def _rmse(predicted: NDArray[np.float64], truth: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean((predicted - truth) ** 2)))


def _corrections(cheap: NDArray[np.float64], strong: NDArray[np.float64]) -> dict[str, Any]:
    shift, slope = float(np.mean(strong - cheap)), _slope(cheap, strong)
    start = float(np.mean(strong)) - slope * float(np.mean(cheap))
    return {
        "shift": lambda x: np.clip(x + shift, 0.0, 1.0),
        "affine": lambda x: np.clip(start + slope * x, 0.0, 1.0),
        "isotonic": isotonic_fit(cheap, strong),
    }


def _claims(facts: NDArray[np.float64]) -> tuple[Claim, ...]:
    affine, isotonic, residual = facts[:, 3], facts[:, 4], facts[:, 5]
    return (
        Claim(
            "corrections transfer: residual bias is near 0",
            bool(np.abs(residual).max() < 0.03),
            f"{np.abs(residual).max():.3f}",
        ),
        Claim(
            "affine and isotonic corrections are worth the same",
            bool(np.abs(affine - isotonic).max() < 0.05),
            f"{np.abs(affine - isotonic).max():.3f}",
        ),
        Claim("an affine correction never makes things worse", bool(affine.max() < 0.01), f"{affine.max():+.3f}"),
    )


def draw(exhibit: Exhibit) -> Any:
    """Change of held-out error per rubric and correction."""
    return grid(
        exhibit.data["errors"],
        x="correction",
        y="rubric",
        value="change of RMSE",
        number="+.0%",
        title=exhibit.title,
        subtitle=exhibit.dataset,
    )
