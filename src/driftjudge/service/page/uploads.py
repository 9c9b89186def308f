"""Scores pasted into a form as CSV: what re-anchoring needs from somebody who judges outside the service."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from driftjudge.service.errors import BadRequestError
from driftjudge.service.values import MOST_CALIBRATION, CalibrationIn

LONGEST = 4_000_000
"""Characters of one pasted table."""


def calibration_rows(text: str, rubrics: Sequence[str]) -> list[CalibrationIn]:
    """In-control items scored by the current judge: columns id, stratum and one per rubric.

    >>> calibration_rows("id,stratum,tone\\na,coding,0.5\\n", ["tone"])[0].scores
    (0.5,)
    """
    rows = _rows(text, ["id", "stratum", *rubrics], "the calibration table")
    return [
        CalibrationIn(row["id"], row["stratum"], scores=_scores(row, rubrics, f"item {row['id']!r}")) for row in rows
    ]


def pass_rows(text: str, rubrics: Sequence[str], ids: Sequence[str]) -> list[list[list[float | None]]]:
    """Baseline passes over the anchors: columns anchor, pass and one per rubric; an empty cell is unscored."""
    passes: dict[str, dict[str, list[float | None]]] = {}
    for row in _rows(text, ["anchor", "pass", *rubrics], "the table of passes"):
        if row["anchor"] not in ids:
            raise BadRequestError(f"the table of passes has the unknown anchor {row['anchor']!r}; use the anchors' ids")
        what = f"anchor {row['anchor']!r} in pass {row['pass']!r}"
        scores = [None if not row[rubric] else _score(row[rubric], what) for rubric in rubrics]
        if passes.setdefault(row["pass"], {}).setdefault(row["anchor"], scores) is not scores:
            raise BadRequestError(f"{what} stands twice in the table of passes; keep one line of it")
    for number, found in passes.items():
        lacking = [anchor for anchor in ids if anchor not in found]
        if lacking:
            raise BadRequestError(f"pass {number!r} lacks {len(lacking)} anchors, for example {lacking[0]!r}")
    return [[found[anchor] for anchor in ids] for found in passes.values()]


def _rows(text: str, columns: Sequence[str], what: str) -> list[dict[str, str]]:
    if len(text) > LONGEST:
        raise BadRequestError(f"{what} is longer than {LONGEST:,} characters; send it through the API in parts")
    reader = csv.DictReader(io.StringIO(text.strip()), strict=True, skipinitialspace=True)
    try:
        missing = [column for column in columns if column not in (reader.fieldnames or ())]
        if missing:
            raise BadRequestError(f"{what} lacks the column {missing[0]!r}; its first line is {','.join(columns)}")
        rows = []
        for row in reader:
            if any(row[column] is None for column in columns):
                raise BadRequestError(f"line {reader.line_num} of {what} is too short; give {len(columns)} values")
            rows.append({column: row[column].strip() for column in columns})
            if len(rows) > MOST_CALIBRATION:
                raise BadRequestError(f"{what} has more than {MOST_CALIBRATION:,} lines; a sample is enough")
    except csv.Error as error:
        raise BadRequestError(f"line {reader.line_num} of {what} is not CSV ({error})") from error
    if not rows:
        raise BadRequestError(f"{what} has no lines below its header; paste the scores too")
    return rows


def _scores(row: dict[str, str], rubrics: Sequence[str], what: str) -> tuple[float, ...]:
    return tuple(_score(row[rubric], what) for rubric in rubrics)


def _score(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise BadRequestError(f"{what}: {text[:40]!r} is not a number; scores lie in [0, 1]") from error
    if not 0.0 <= value <= 1.0:
        raise BadRequestError(f"{what}: {value:g} lies outside [0, 1]; map your scale to [0, 1] first")
    return value
