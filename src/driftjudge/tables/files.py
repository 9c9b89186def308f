"""Files of rows and columns: CSV and JSON lines with the standard library, Parquet with polars."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from driftjudge.tables.errors import TableError

SUFFIXES: tuple[str, ...] = (".csv", ".jsonl", ".ndjson", ".parquet")
"""The file types that can be read and written."""

_UNSCORED_TEXT = frozenset({"", "nan", "null", "na", "n/a", "none"})


@dataclass(frozen=True)
class Sheet:
    """The columns of a file, as they stand there."""

    where: str
    """The file, as error messages call it."""

    columns: Mapping[str, Sequence[object]]
    row_numbers: Sequence[int]
    """Where each row stands in the file: the line of a CSV or JSON lines file, the row of a Parquet file."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self.columns)

    def texts(self, name: str) -> list[str]:
        """A column of labels; every row must have one."""
        labels = ["" if value is None else str(value).strip() for value in self.columns[name]]
        for label, row in zip(labels, self.row_numbers, strict=True):
            if not label:
                raise TableError(f"{self.where} has nothing in column '{name}' at row {row}; give every row a value.")
        return labels

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column of scores; null, an empty cell and nan stay NaN, which means unscored."""
        values = self.columns[name]
        result = np.empty(len(values))
        for i, value in enumerate(values):
            number = _number(value)
            if number is None:
                raise TableError(
                    f"{self.where} has {value!r} in column '{name}' at row {self.row_numbers[i]}, which is no number; "
                    f"correct it, or leave it empty if the item was not scored."
                )
            result[i] = number
        return result


def _number(value: object) -> float | None:
    """The score in a cell, NaN for an unscored one, None for what is neither."""
    if value is None:
        return math.nan
    if isinstance(value, (bool, int, float)):
        return float(value)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if text.lower() in _UNSCORED_TEXT:
        return math.nan
    try:
        return float(text)
    except ValueError:
        return None


def polars() -> ModuleType:
    """The polars library, or one sentence that says how to get it."""
    try:
        import polars as module
    except ImportError:
        raise TableError(
            'Parquet files need polars, which is not installed; run: pip install "driftjudge[tables]".'
        ) from None
    return module


def load_sheet(path: Path) -> Sheet:
    """Read a file by its suffix."""
    suffix = checked_suffix(path)
    if not path.is_file():
        raise TableError(f"There is no file '{path}'; check the path of the table.")
    if path.stat().st_size == 0:
        raise TableError(f"'{path}' is empty; give a file with scores in it.")
    try:
        if suffix == ".parquet":
            sheet = _load_parquet(path)
        else:
            with path.open(encoding="utf-8-sig", newline="") as lines:
                sheet = _load_csv(path, lines) if suffix == ".csv" else _load_json_lines(path, lines)
    except UnicodeDecodeError:
        raise TableError(f"'{path}' is not UTF-8 text; save it as UTF-8.") from None
    except OSError as error:
        raise TableError(f"'{path}' could not be read ({error.strerror or error}); check the file.") from None
    if not sheet.row_numbers:
        raise TableError(f"'{path}' has no rows; give a file with scores in it.")
    return sheet


def checked_suffix(path: Path) -> str:
    """The suffix of a supported file type."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise TableError(f"'{path}' is not a table this package reads; use one of: {', '.join(SUFFIXES)}.")
    return suffix


def _load_csv(path: Path, lines: Iterable[str]) -> Sheet:
    reader = csv.reader(lines, strict=True)
    rows: list[list[str]] = []
    numbers: list[int] = []
    try:
        header = next(reader, [])
        for row in reader:
            if not row:
                continue
            if len(row) != len(header):
                raise TableError(
                    f"'{path}' has {len(row)} fields at row {reader.line_num} but {len(header)} in its header; "
                    f"correct that row (the file may be cut off)."
                )
            rows.append(row)
            numbers.append(reader.line_num)
    except csv.Error as error:
        raise TableError(f"'{path}' is not valid CSV at row {reader.line_num} ({error}); correct that row.") from None
    doubled = next((name for name in header if header.count(name) > 1), None)
    if doubled is not None:
        raise TableError(f"'{path}' has the column '{doubled}' more than once; rename one of them.")
    columns = zip(*rows, strict=True) if rows else ([] for _ in header)
    return Sheet(f"'{path}'", dict(zip(header, columns, strict=True)), numbers)


def _load_json_lines(path: Path, lines: Iterable[str]) -> Sheet:
    rows: list[dict[str, object]] = []
    numbers: list[int] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            raise TableError(
                f"'{path}' is not valid JSON at line {number} (the file may be cut off); correct or remove that line."
            ) from None
        if not isinstance(row, dict):
            raise TableError(f"'{path}' has no JSON object at line {number}; write one object per line.")
        rows.append(row)
        numbers.append(number)
    names = dict.fromkeys(name for row in rows for name in row)
    return Sheet(f"'{path}'", {name: [row.get(name) for row in rows] for name in names}, numbers)


def _load_parquet(path: Path) -> Sheet:
    pl = polars()
    try:
        frame = pl.read_parquet(path, glob=False)
    except pl.exceptions.PolarsError:
        raise TableError(
            f"'{path}' could not be read as Parquet (it may be truncated); write the file again."
        ) from None
    return Sheet(f"'{path}'", {name: frame[name].to_list() for name in frame.columns}, range(1, frame.height + 1))
