"""Reads a file of scores, in any of three forms, into a `ScoreTable`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from driftjudge.tables.columns import (
    SINGLE_RUBRIC,
    Columns,
    chosen_rubrics,
    detect_form,
    find_column,
    listed,
    long_judges,
    require_column,
    wide_judges,
)
from driftjudge.tables.errors import TableError
from driftjudge.tables.files import Sheet, load_sheet
from driftjudge.tables.schema import ScoreTable

ONE_STRATUM = "all"
"""The stratum of every item of a table that has no strata."""

REPLICA_COLUMN = "replica"
"""A written replica keeps this column, so that it is still called one when it is read again."""

_NOWHERE = -1


@dataclass(frozen=True)
class _Part:
    """One judge's scores in the file: for each row of the file, its item, its rubric and its score there."""

    judge: str
    items: NDArray[np.intp]
    rubrics: NDArray[np.intp]
    scores: NDArray[np.float64]


def read_table(path: str | Path, columns: Columns | None = None, *, name: str | None = None) -> ScoreTable:
    """Read a CSV, JSON lines or Parquet file of scores.

    The form (wide, long or tidy) and the usual column names are detected; `columns` says what they do not. Scores
    are mapped to [0, 1] by their declared range. Null, an empty cell and nan mean unscored. Items keep the order in
    which they first appear.
    """
    path = Path(path)
    sheet = load_sheet(path)
    columns = columns or Columns()
    form = detect_form(columns, sheet.names, sheet.where)
    read = {"wide": _read_wide, "long": _read_long, "tidy": _read_tidy}[form]
    ids, items = _codes(sheet.texts(require_column("id", columns.id, sheet.names, sheet.where)))
    rubrics, parts = read(sheet, columns, items)
    scores = {judge: np.full((len(ids), len(rubrics)), np.nan) for judge in dict.fromkeys(part.judge for part in parts)}
    for part in parts:
        _fill(scores[part.judge], part, columns, ids, rubrics, sheet.where)
    unknown = [judge for judge in columns.judge_scale if judge not in scores]
    if unknown:
        raise TableError(
            f"{sheet.where} has no judge '{unknown[0]}'; set 'judge_scale' to judges among: {listed([*scores])}."
        )
    return ScoreTable(
        name=name or path.stem,
        ids=ids,
        strata=_strata(sheet, columns, ids, items),
        rubrics=rubrics,
        scores=scores,
        replica=_is_replica(sheet),
    )


def _codes(labels: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """The distinct labels in order of first appearance, and the number of each row's label among them."""
    known: dict[str, int] = {}
    codes = np.fromiter((known.setdefault(label, len(known)) for label in labels), dtype=np.intp, count=len(labels))
    return tuple(known), codes


def _choose(labels: Sequence[str], chosen: Sequence[str]) -> NDArray[np.intp]:
    """The number of each row's label among the chosen ones, or _NOWHERE."""
    place = {label: number for number, label in enumerate(chosen)}
    return np.fromiter((place.get(label, _NOWHERE) for label in labels), dtype=np.intp, count=len(labels))


def _read_wide(sheet: Sheet, columns: Columns, items: NDArray[np.intp]) -> tuple[tuple[str, ...], list[_Part]]:
    used = {
        find_column("id", columns.id, sheet.names, sheet.where),
        find_column("stratum", columns.stratum, sheet.names, sheet.where),
    }
    cells = wide_judges(columns, [name for name in sheet.names if name not in used], sheet.where)
    rubrics = chosen_rubrics(columns, tuple(dict.fromkeys(rubric for _, rubric in cells)), sheet.where)
    parts = [
        _Part(judge, items, np.full(len(items), rubrics.index(rubric)), sheet.numbers(column))
        for (judge, rubric), column in cells.items()
        if rubric in rubrics
    ]
    return rubrics, parts


def _rubric_rows(sheet: Sheet, columns: Columns, column: str | None) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    labels = sheet.texts(column) if column is not None else [SINGLE_RUBRIC] * len(sheet.row_numbers)
    rubrics = chosen_rubrics(columns, tuple(dict.fromkeys(labels)), sheet.where)
    return rubrics, _choose(labels, rubrics)


def _read_long(sheet: Sheet, columns: Columns, items: NDArray[np.intp]) -> tuple[tuple[str, ...], list[_Part]]:
    judges = long_judges(columns, sheet.names, sheet.where)
    rubrics, rows = _rubric_rows(sheet, columns, require_column("rubric", columns.rubric, sheet.names, sheet.where))
    return rubrics, [_Part(judge, items, rows, sheet.numbers(column)) for judge, column in judges.items()]


def _read_tidy(sheet: Sheet, columns: Columns, items: NDArray[np.intp]) -> tuple[tuple[str, ...], list[_Part]]:
    labels = sheet.texts(require_column("judge", columns.judge, sheet.names, sheet.where))
    scores = sheet.numbers(require_column("score", columns.score, sheet.names, sheet.where))
    rubrics, rows = _rubric_rows(sheet, columns, find_column("rubric", columns.rubric, sheet.names, sheet.where))
    present, codes = _codes(labels)
    wanted = columns.judges if columns.judges is not None else {label: label for label in present}
    parts = []
    for judge, label in wanted.items():
        if label not in present:
            raise TableError(
                f"{sheet.where} has no judge '{label}' for '{judge}'; set 'judges' to names among: {listed(present)}."
            )
        own = codes == present.index(label)
        parts.append(_Part(judge, items[own], rows[own], scores[own]))
    return rubrics, parts


def _fill(
    table: NDArray[np.float64],
    part: _Part,
    columns: Columns,
    ids: Sequence[str],
    rubrics: Sequence[str],
    where: str,
) -> None:
    """Put one judge's scores in their places, mapped from their declared range to [0, 1]."""
    kept = part.rubrics != _NOWHERE
    items, rows, scores = part.items[kept], part.rubrics[kept], part.scores[kept]
    cells = items * len(rubrics) + rows
    order = np.argsort(cells, kind="stable")
    repeated = order[1:][cells[order[1:]] == cells[order[:-1]]]
    if len(repeated):
        first = repeated.min()
        raise TableError(
            f"{where} scores item '{ids[items[first]]}' on rubric '{rubrics[rows[first]]}' by judge '{part.judge}' "
            f"more than once; keep one row of them."
        )
    scales = np.array([columns.scale_of(part.judge, rubric) for rubric in rubrics])
    low, high = scales[rows, 0], scales[rows, 1]
    outside = np.flatnonzero((scores < low) | (scores > high))
    if len(outside):
        i = outside[0]
        raise TableError(
            f"{where} has the score {scores[i]:g} for item '{ids[items[i]]}' on rubric '{rubrics[rows[i]]}' by judge "
            f"'{part.judge}', outside the declared range {low[i]:g} to {high[i]:g}; "
            f"declare the range of the scores with --scale, e.g. --scale 1,5 (or scale in [columns])."
        )
    table[items, rows] = (scores - low) / (high - low)


def _strata(sheet: Sheet, columns: Columns, ids: Sequence[str], items: NDArray[np.intp]) -> tuple[str, ...]:
    column = find_column("stratum", columns.stratum, sheet.names, sheet.where)
    if column is None:
        return (ONE_STRATUM,) * len(ids)
    strata: list[str | None] = [None] * len(ids)
    for item, label in zip(items, sheet.texts(column), strict=True):
        before = strata[item]
        if before is not None and before != label:
            raise TableError(
                f"{sheet.where} puts item '{ids[item]}' in stratum '{before}' and in stratum '{label}'; "
                f"give each item one stratum."
            )
        strata[item] = label
    return tuple(label for label in strata if label is not None)


def _is_replica(sheet: Sheet) -> bool:
    marks = sheet.columns.get(REPLICA_COLUMN)
    return marks is not None and all(str(mark).lower() == "true" for mark in marks)
