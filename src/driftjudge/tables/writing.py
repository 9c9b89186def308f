"""Writes a `ScoreTable` in the tidy form, from which it reads back without settings."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator
from pathlib import Path

from driftjudge.tables.errors import TableError
from driftjudge.tables.files import checked_suffix, polars
from driftjudge.tables.reading import REPLICA_COLUMN
from driftjudge.tables.schema import ScoreTable

_HEADER = ("item_id", "stratum", "rubric", "judge", "score")


def _rows(table: ScoreTable) -> Iterator[dict[str, object]]:
    mark: dict[str, object] = {REPLICA_COLUMN: True} if table.replica else {}
    for i, (item, stratum) in enumerate(zip(table.ids, table.strata, strict=True)):
        for r, rubric in enumerate(table.rubrics):
            for judge, scores in table.scores.items():
                score = float(scores[i, r])
                cells = (item, stratum, rubric, judge, None if math.isnan(score) else score)
                yield dict(zip(_HEADER, cells, strict=True)) | mark


def write_table(table: ScoreTable, path: str | Path) -> None:
    """Write a table to a CSV, JSON lines or Parquet file, by its suffix; unscored cells are left empty.

    A replica gets a column that says so, and is still a replica when it is read again.
    """
    path = Path(path)
    suffix = checked_suffix(path)
    header = [*_HEADER, REPLICA_COLUMN] if table.replica else [*_HEADER]
    try:
        if suffix == ".parquet":
            polars().DataFrame(list(_rows(table))).write_parquet(path)
            return
        with path.open("w", encoding="utf-8", newline="") as file:
            if suffix == ".csv":
                writer = csv.DictWriter(file, header)
                writer.writeheader()
                writer.writerows(_rows(table))
            else:
                file.writelines(json.dumps(row) + "\n" for row in _rows(table))
    except OSError as error:
        raise TableError(f"'{path}' could not be written ({error.strerror or error}); choose another path.") from None
