"""From rows of a file to items a judge can take; whatever a judge could not take is refused here, before it costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from driftjudge.judges.protocol import Item
from driftjudge.project.errors import ProjectError
from driftjudge.tables.files import load_sheet

ONE_STRATUM = "all"
"""The stratum of every item where the settings name no column for it."""
LONGEST_ID = 255
MOST_ITEMS = 1_000_000
"""Items of one file; a stream has no end, but a file that is read at once has."""


class RowError(ProjectError):
    """A row that cannot become an item."""


@dataclass(frozen=True)
class ItemShape:
    """Which columns of a row hold what."""

    fields: Mapping[str, str]
    """Field of the prompt to column of the file."""
    strata: tuple[str, ...]
    id: str = "id"
    stratum: str | None = None
    """The column of strata; without one every item is in the stratum "all"."""
    longest: int = 20_000
    """Most characters in all fields of an item together."""

    def item(self, row: Mapping[str, object], where: str) -> Item:
        """The item of a row, or one sentence about what it lacks."""
        item_id = self.text(row, self.id, where).strip()
        if not item_id:
            raise RowError(f"{where} has an empty id in column {self.id!r}; give every item an id of its own")
        if len(item_id) > LONGEST_ID:
            raise RowError(f"{where} has an id of {len(item_id)} characters; ids have at most {LONGEST_ID}")
        return Item(item_id, self._fields(row, where, item_id), self._stratum(row, where, item_id))

    def text(self, row: Mapping[str, object], column: str, where: str) -> str:
        """A cell as text."""
        value = row.get(column)
        if value is None:
            have = ", ".join(list(row)[:8]) or "nothing"
            raise RowError(f"{where} has nothing in column {column!r} (it has {have}); see [items] in driftjudge.toml")
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise RowError(f"{where} has {type(value).__name__} in column {column!r}; give a text")
        return str(value)

    def has_texts(self, row: Mapping[str, object]) -> bool:
        """Whether the row carries all fields of an item."""
        return all(row.get(column) is not None for column in self.fields.values())

    def _fields(self, row: Mapping[str, object], where: str, item_id: str) -> dict[str, str]:
        fields = {name: self.text(row, column, where) for name, column in self.fields.items()}
        length = sum(map(len, fields.values()))
        if length > self.longest:
            raise RowError(
                f"{where}: item {item_id!r} has {length:,} characters, more than the {self.longest:,} allowed; shorten "
                "it, or raise longest in [items] if your judge can take it"
            )
        return fields

    def _stratum(self, row: Mapping[str, object], where: str, item_id: str) -> str:
        if self.stratum is None:
            return self.strata[0]
        stratum = self.text(row, self.stratum, where).strip()
        if stratum not in self.strata:
            raise RowError(
                f"{where}: item {item_id!r} has the unknown stratum {stratum!r}; add it to strata in driftjudge.toml "
                f"(known: {', '.join(self.strata[:8])})"
            )
        return stratum


def read_rows(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """The rows of a CSV, JSON lines or Parquet file, each with the words that point at it."""
    sheet = load_sheet(path)
    if len(sheet.row_numbers) > MOST_ITEMS:
        raise ProjectError(f"{sheet.where} has {len(sheet.row_numbers):,} rows; split it (at most {MOST_ITEMS:,})")
    for i, number in enumerate(sheet.row_numbers):
        yield f"{sheet.where} row {number}", {name: cells[i] for name, cells in sheet.columns.items()}


def read_items(path: Path, shape: ItemShape) -> tuple[Item, ...]:
    """Every item of a file; an id that stands twice is refused."""
    items = tuple(shape.item(row, where) for where, row in read_rows(path))
    name, count = Counter(item.id for item in items).most_common(1)[0]
    if count > 1:
        raise RowError(f"'{path}' has the item {name!r} {count} times; give every item an id of its own")
    return items
