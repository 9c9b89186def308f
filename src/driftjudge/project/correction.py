"""What the cheap judge is worth, and the correction that makes most of it (appendix D of the paper).

A correction is a fixed map of [0, 1] into itself, fitted before the stream starts: it can only change the monitor's
power, never its error rate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from driftjudge.lab.isotonic import isotonic_fit

Array = NDArray[np.float64]
Shape = Literal["none", "shift", "affine", "isotonic"]
SHAPES: tuple[Shape, ...] = get_args(Shape)

FOLDS = 5
FEWEST_TO_FIT = 20
"""Below this many pairs a fitted map says more about the sample than about the judge."""


@dataclass(frozen=True)
class Correction:
    """A piecewise linear, non-decreasing map: the identity, a shift, a straight line or steps."""

    shape: Shape
    levels: tuple[float, ...] = (0.0, 1.0)
    values: tuple[float, ...] = (0.0, 1.0)
    slope: float = 1.0
    offset: float = 0.0

    def __call__(self, scores: Array) -> Array:
        """The corrected scores, inside [0, 1]."""
        if self.shape == "isotonic":
            return np.clip(np.interp(scores, self.levels, self.values), 0.0, 1.0)
        return np.clip(self.offset + self.slope * scores, 0.0, 1.0)

    def to_json(self) -> dict[str, Any]:
        """A JSON-able mapping that `from_json` turns back into an equal correction."""
        return {**vars(self), "levels": list(self.levels), "values": list(self.values)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Correction:
        """The correction of a mapping made by `to_json`."""
        return cls(**{**data, "levels": tuple(data["levels"]), "values": tuple(data["values"])})


@dataclass(frozen=True)
class CheapJudge:
    """One rubric: the cheap judge beside the strong one on the calibration items."""

    rubric: str
    bias: float
    """Mean of cheap minus strong."""
    correlation: float
    slope: float
    """Of strong on cheap: near 1 its signal is worth keeping, near 0 it is little more than the base rate."""
    errors: Mapping[str, float]
    """Held-out root mean squared error of each correction (and of none), by cross-validation."""
    chosen: Correction
    pairs: int


def fit(shape: Shape, cheap: Array, strong: Array) -> Correction:
    """The best map of its shape from cheap to strong scores."""
    if shape == "none":
        return Correction("none")
    if shape == "shift":
        return Correction("shift", offset=float(np.mean(strong - cheap)))
    if shape == "affine":
        slope = max(_slope(cheap, strong), 0.0)  # a cheap judge that points the wrong way is not turned round
        return Correction("affine", slope=slope, offset=float(np.mean(strong)) - slope * float(np.mean(cheap)))
    levels = np.unique(cheap)
    return Correction("isotonic", tuple(levels.tolist()), tuple(isotonic_fit(cheap, strong)(levels).tolist()))


def judge_the_cheap_judge(
    rubrics: Sequence[str], cheap: Array, strong: Array, wanted: Shape | Literal["best"] = "best"
) -> tuple[CheapJudge, ...]:
    """Compare both on the same items (n x R, NaN: unscored) and choose a correction per rubric."""
    found = []
    for r, rubric in enumerate(rubrics):
        both = ~np.isnan(cheap[:, r]) & ~np.isnan(strong[:, r])
        x, y = cheap[both, r], strong[both, r]
        errors: dict[str, float] = {shape: _held_out_error(shape, x, y) for shape in SHAPES}
        shape: Shape = "none"
        if len(x) >= FEWEST_TO_FIT:
            shape = min(SHAPES, key=lambda name: errors[name]) if wanted == "best" else wanted
        varied = len(x) > 1 and float(np.ptp(x)) > 0.0 and float(np.ptp(y)) > 0.0
        found.append(
            CheapJudge(
                rubric=rubric,
                bias=float(np.mean(x - y)) if len(x) else math.nan,
                correlation=float(np.corrcoef(x, y)[0, 1]) if varied else math.nan,
                slope=_slope(x, y) if varied else math.nan,
                errors=errors,
                chosen=fit(shape, x, y) if len(x) else Correction("none"),
                pairs=len(x),
            )
        )
    return tuple(found)


def _held_out_error(shape: Shape, cheap: Array, strong: Array) -> float:
    if len(cheap) < FEWEST_TO_FIT:
        return math.nan
    fold = np.arange(len(cheap)) % FOLDS
    squares = np.empty(len(cheap))
    for held in range(FOLDS):
        test = fold == held
        squares[test] = (fit(shape, cheap[~test], strong[~test])(cheap[test]) - strong[test]) ** 2
    return math.sqrt(float(squares.mean()))


def _slope(x: Array, y: Array) -> float:
    spread = float(np.var(x))
    return float(np.mean((x - x.mean()) * (y - y.mean()))) / spread if spread > 0.0 else 0.0
