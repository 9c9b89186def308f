"""Bars: how good each cell is when all is well, and how surely that is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.errors import CalibrationError
from driftjudge.monitor.packing import pack, unpack
from driftjudge.monitor.scores import score_matrix
from driftjudge.stats.bounds import lowest_mean

LowBars = Literal["refuse", "skip"]
"""What to do with a cell whose bar leaves no room for a drop."""

_SHUFFLE_KEY = 20_240_917
"""Betting bounds depend on the order of the sample; a fixed shuffle keeps a sorted file from weakening them."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Per stratum x rubric: the bar q0, its possible error, and the null m = q0 - max(slack, error)."""

    bars: NDArray[np.float64]
    """q0: mean strong score of the in-control items, K x R."""
    errors: NDArray[np.float64]
    """How far the true mean may lie below q0, jointly over all cells at `baseline_share` of alpha; 0 in `paper`."""
    nulls: NDArray[np.float64]
    """m, K x R; NaN marks a cell that is not watched because its bar leaves no room below."""
    counts: NDArray[np.int64]
    """Scored calibration items per cell, K x R."""
    ids: frozenset[str]
    """Items used, where they were given: anchors must not be among them."""
    made_for: tuple[object, ...] = ()
    """The settings it depends on; empty for bars that were not estimated here."""

    def fits(self, config: MonitorConfig) -> bool:
        """Whether it was made with the settings of this config that decide bars and nulls."""
        return not self.made_for or self.made_for == _settings(config)

    @classmethod
    def from_scores(
        cls,
        strata: Sequence[str],
        strong_scores: ArrayLike,
        config: MonitorConfig,
        *,
        ids: Sequence[str] | None = None,
        low_bars: LowBars = "refuse",
    ) -> Calibration:
        """Bars from in-control items: one stratum label and one row of strong scores (NaN: unscored) per item.

        `low_bars="skip"` leaves cells whose null would not be above 0 unwatched instead of refusing them.
        """
        scores = score_matrix(strong_scores, len(config.rubrics), "calibration scores", unscored=True)
        if len(strata) != len(scores):
            raise CalibrationError(f"{len(strata)} stratum labels for {len(scores)} rows of scores; give one per item")
        _check_ids(ids, len(scores))
        labels = np.asarray(strata, dtype=object)
        unknown = sorted({str(label) for label in labels} - set(config.strata))
        if unknown:
            raise CalibrationError(
                f"calibration items carry the unknown stratum {unknown[0]!r}; config.strata has {_list(config.strata)}"
            )
        shape = (len(config.strata), len(config.rubrics))
        bars, errors, counts = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=np.int64)
        order = np.random.default_rng(_SHUFFLE_KEY).permutation(len(scores))
        delta = config.alpha_system * config.baseline_share / config.cells
        for t, stratum in enumerate(config.strata):
            rows = scores[order][labels[order] == stratum]
            for r, rubric in enumerate(config.rubrics):
                values = rows[:, r][~np.isnan(rows[:, r])]
                if len(values) == 0:
                    raise CalibrationError(
                        f"no calibration scores for rubric {rubric!r} in stratum {stratum!r}; add items or leave the "
                        "stratum out"
                    )
                bars[t, r], counts[t, r] = float(np.mean(values)), len(values)
                if delta > 0.0:
                    errors[t, r] = bars[t, r] - lowest_mean(values, delta)
        nulls = bars - np.maximum(config.slack, errors)
        nulls = _watchable(nulls, bars, errors, counts, config, low_bars)
        return cls(bars, errors, nulls, counts, frozenset(ids or ()), _settings(config))

    def to_json(self) -> dict[str, Any]:
        """A JSON-able mapping that `from_json` turns back into an equal calibration."""
        arrays = {name: pack(getattr(self, name)) for name in ("bars", "errors", "nulls", "counts")}
        return {**arrays, "ids": sorted(self.ids), "made_for": _plain(self.made_for)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Calibration:
        """The calibration of a mapping made by `to_json`."""
        bars, errors, nulls = (unpack(data[name]) for name in ("bars", "errors", "nulls"))
        counts, made_for = unpack(data["counts"]).astype(np.int64), _tuples(data["made_for"])
        return cls(bars, errors, nulls, counts, frozenset(data["ids"]), made_for)


def _settings(config: MonitorConfig) -> tuple[object, ...]:
    return (config.strata, config.rubrics, config.slack, config.alpha_system, config.baseline_share)


def _plain(settings: tuple[object, ...]) -> list[object]:
    return [list(part) if isinstance(part, tuple) else part for part in settings]


def _tuples(settings: Sequence[object]) -> tuple[object, ...]:
    return tuple(tuple(part) if isinstance(part, list) else part for part in settings)


def _watchable(
    nulls: NDArray[np.float64],
    bars: NDArray[np.float64],
    errors: NDArray[np.float64],
    counts: NDArray[np.int64],
    config: MonitorConfig,
    low_bars: LowBars,
) -> NDArray[np.float64]:
    """Refuse or leave out the cells with m <= 0: no mean can lie below them."""
    low = np.argwhere(nulls <= 0.0)
    if len(low) and low_bars == "refuse":
        t, r = (int(i) for i in low[0])
        cell = f"{config.rubrics[r]} x {config.strata[t]}"
        more = f" (and {len(low) - 1} more)" if len(low) > 1 else ""
        if bars[t, r] <= config.slack:
            raise CalibrationError(
                f"the bar of {cell}{more} is {bars[t, r]:.3f}, so nothing lies more than the slack {config.slack:g} "
                f"below it; lower the slack, drop the cell, or leave such cells unwatched with low_bars='skip'"
            )
        needed = math.ceil(counts[t, r] * (errors[t, r] / bars[t, r]) ** 2 * 1.5)
        raise CalibrationError(
            f"{counts[t, r]} calibration items for {cell}{more} bound its bar of {bars[t, r]:.3f} only to within "
            f"{errors[t, r]:.3f}; collect about {needed}, or leave such cells unwatched with low_bars='skip'"
        )
    watched = np.where(nulls > 0.0, nulls, np.nan)
    if np.isnan(watched).all():
        raise CalibrationError(
            "no cell is left to watch: every bar is too low or too uncertain; collect more calibration items or "
            "lower the slack"
        )
    return watched


def _check_ids(ids: Sequence[str] | None, count: int) -> None:
    if ids is None:
        return
    if len(ids) != count:
        raise CalibrationError(f"{len(ids)} ids for {count} calibration items; give one per item")
    if len(set(ids)) != len(ids):
        seen: set[str] = set()
        twice = next(item for item in ids if item in seen or seen.add(item))  # type: ignore[func-returns-value]
        raise CalibrationError(f"calibration item {twice!r} stands twice; give every item once")


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:8])
    return shown + (", ..." if len(names) > 8 else "")
