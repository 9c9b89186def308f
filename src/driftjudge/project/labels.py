"""Human labels as people keep them: one row per anchor and rater, one column per rubric."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from driftjudge.judges.protocol import Item
from driftjudge.project.errors import ProjectError
from driftjudge.project.items import ItemShape, read_items, read_rows

RATER_COLUMNS = ("rater", "annotator", "labeller")
ONLY_RATER = "human"
"""Who labelled where the file does not say."""


@dataclass(frozen=True)
class Labelled:
    """One rater's labels of one item, in the rubrics' own scale; None where the rater left a rubric out."""

    item: Item
    rater: str
    labels: tuple[float | None, ...]


def read_labels(
    path: Path,
    shape: ItemShape,
    rubrics: tuple[str, ...],
    scale: tuple[float, float],
    items: Path | None = None,
) -> tuple[Labelled, ...]:
    """The labels of a CSV, JSON lines or Parquet file.

    The texts stand in the same file or, by id, in `items`; a label for an id that is not there is refused.
    """
    known = {item.id: item for item in read_items(items, shape)} if items is not None else None
    found = []
    for where, row in read_rows(path):
        columns = _label_columns(row, rubrics, where)
        rater = next((str(row[name]) for name in RATER_COLUMNS if row.get(name) is not None), ONLY_RATER)
        labels = tuple(_label(row.get(column), scale, column, where) for column in columns)
        found.append(Labelled(_item(row, shape, known, items, where), rater, labels))
    return tuple(found)


def _item(
    row: Mapping[str, object], shape: ItemShape, known: dict[str, Item] | None, items: Path | None, where: str
) -> Item:
    if known is None:
        if not shape.has_texts(row):
            wanted = ", ".join(shape.fields.values())
            raise ProjectError(f"{where} has labels but no texts ({wanted}); give the file of items with --items")
        return shape.item(row, where)
    item_id = shape.text(row, shape.id, where).strip()
    if item_id not in known:
        raise ProjectError(f"{where} labels {item_id!r}, which is no item of '{items}'; correct the id or add the item")
    return known[item_id]


def _label_columns(row: Mapping[str, object], rubrics: tuple[str, ...], where: str) -> tuple[str, ...]:
    """A rubric's labels stand under its name, or under human_ and its name."""
    columns = []
    for rubric in rubrics:
        column = next((name for name in (rubric, f"human_{rubric}") if name in row), None)
        if column is None:
            raise ProjectError(
                f"{where} has no column for the rubric {rubric!r}; name it {rubric!r} or {'human_' + rubric!r}"
            )
        columns.append(column)
    return tuple(columns)


def _label(value: object, scale: tuple[float, float], column: str, where: str) -> float | None:
    if value is None or (isinstance(value, str) and value.strip().lower() in ("", "na", "nan", "null", "none")):
        return None
    try:
        label = float(value) if isinstance(value, str | int | float) else math.nan
    except ValueError:
        label = math.nan
    low, high = scale
    if not low <= label <= high:
        raise ProjectError(
            f"{where} has {value!r} in column {column!r}; a label is a number from {low:g} to {high:g}, or empty"
        )
    return label
