"""From the shapes that come in to the values the service works with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.scores import Failure
from driftjudge.service import values
from driftjudge.service.errors import BadRequestError
from driftjudge.service.wire import items, monitors
from driftjudge.service.wire.config import ConfigShape
from driftjudge.service.wire.shapes import FailureShape

MOST_WAITING = 100_000
"""A service holds many monitors: one may not claim all its memory."""


def scores_of(shape: Any, rubrics: Sequence[str], whose: str) -> values.ScoresIn:
    """Scores in rubric order, whether they came in order or by name; or the failure."""
    if isinstance(shape, FailureShape):
        return Failure(shape.failure, shape.detail)
    if isinstance(shape, list):
        return tuple(map(float, shape))
    missing = [rubric for rubric in rubrics if rubric not in shape]
    unknown = [rubric for rubric in shape if rubric not in rubrics]
    if missing or unknown:
        fault = f"lack the rubric {missing[0]!r}" if missing else f"name the unknown rubric {unknown[0]!r}"
        raise BadRequestError(f"scores of {whose!r} {fault}; give one score for each of {', '.join(rubrics)}")
    return tuple(float(shape[rubric]) for rubric in rubrics)


def item_of(shape: items.NewItem, rubrics: Sequence[str]) -> values.ItemIn:
    """One item."""
    return values.ItemIn(
        shape.id,
        shape.stratum,
        None if shape.cheap is None else scores_of(shape.cheap, rubrics, shape.id),
        shape.texts,
        None if shape.strong is None else scores_of(shape.strong, rubrics, shape.id),
    )


def settings_of(shape: monitors.SettingsShape) -> values.MonitorSettings:
    """What belongs to a monitor besides its statistics."""
    judging = shape.judging
    return values.MonitorSettings(
        judging=values.Judging(
            cheap=judging.cheap,
            strong=judging.strong,
            rubrics=judging.rubrics,
            scale=(judging.scale[0], judging.scale[1]),
            concurrency=judging.concurrency,
            calls_per_second=judging.calls_per_second,
            daily_dollars=judging.daily_dollars,
            passes=judging.passes,
        ),
        no_data_after=shape.no_data_after,
        keep_texts_days=shape.keep_texts_days,
        description=shape.description,
    )


def config_of(shape: ConfigShape) -> MonitorConfig:
    """The monitor's statistics."""
    config = MonitorConfig.from_json(shape.settings())
    for name in ("max_pending", "id_memory"):
        if getattr(config, name) > MOST_WAITING:
            raise BadRequestError(f"{name} is {getattr(config, name)}; a service takes at most {MOST_WAITING}")
    return config


def anchors_of(
    shapes: Sequence[monitors.AnchorShape],
) -> tuple[list[values.AnchorIn], list[list[list[float | None]]]]:
    """The anchors, and their baseline passes as passes x anchors x rubrics."""
    anchors = [values.AnchorIn(shape.id, tuple(shape.human), shape.texts, shape.stratum) for shape in shapes]
    counts = {len(shape.passes) for shape in shapes}
    if len(counts) > 1:
        fewest = min(shapes, key=lambda shape: len(shape.passes))
        raise BadRequestError(
            f"anchor {fewest.id!r} has {len(fewest.passes)} baseline passes and others have {max(counts)}; every pass "
            "scores every anchor (null: the judge refused)"
        )
    passes: list[list[list[float | None]]] = []
    for number in range(counts.pop()):
        rows = [(shape.passes[number], len(shape.human)) for shape in shapes]
        passes.append([[None] * width if row is None else list(row) for row, width in rows])
    return anchors, passes


def calibration_of(shapes: Iterable[monitors.CalibrationItem], rubrics: Sequence[str]) -> list[values.CalibrationIn]:
    """In-control items."""
    return [
        values.CalibrationIn(
            shape.id,
            shape.stratum,
            None if shape.scores is None else scores_of(shape.scores, rubrics, shape.id),
            shape.texts,
        )
        for shape in shapes
    ]
