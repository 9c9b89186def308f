"""Where the items of a stream come from: a file, a folder that is appended to, or standard input.

A feed hands out rows in order and never the same row twice. It does not remember anything across runs: an item that was
already observed is recognised by its id.
"""

from __future__ import annotations

import itertools
import json
import queue
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple, Protocol

from driftjudge.project.errors import ProjectError
from driftjudge.project.items import read_rows

LINE_SUFFIXES = (".jsonl", ".ndjson")
LONGEST_LINE = 10_000_000
"""Bytes of one line: what is longer is no item but a mistake."""
MOST_WAITING = 1_000
"""Rows read ahead from standard input before its writer has to wait."""
POLL_SECONDS = 0.5


class Row(NamedTuple):
    """One row of the stream and the words that point at it."""

    where: str
    values: Mapping[str, object]


class Feed(Protocol):
    """A source of rows."""

    def take(self, most: int) -> list[Row] | None:
        """Up to `most` rows; an empty list when none came for a moment, None at the end."""


class FileFeed:
    """All rows of a CSV, JSON lines or Parquet file."""

    def __init__(self, path: Path) -> None:
        self.rows = [Row(where, values) for where, values in read_rows(path)]
        self._next = iter(self.rows)

    def take(self, most: int) -> list[Row] | None:
        """The next rows of the file."""
        taken = list(itertools.islice(self._next, most))
        return taken or None


class Tail:
    """The complete lines of a growing JSON lines file, from its start."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0
        self._number = 0

    def rows(self, *, finished: bool) -> Iterator[Row]:
        """What is new; with `finished`, also a last line that nobody ended."""
        with self.path.open("rb") as file:
            file.seek(self._offset)
            while line := file.readline(LONGEST_LINE + 1):
                if not line.endswith(b"\n"):
                    if len(line) > LONGEST_LINE:
                        raise ProjectError(f"'{self.path}' has a line of more than {LONGEST_LINE:,} bytes; split it")
                    if not finished:
                        return
                self._offset += len(line)
                self._number += 1
                if line.strip():
                    yield parsed(line, f"'{self.path}' line {self._number}")


class FolderFeed:
    """Every JSON lines file of a folder in the order of their names, and with `follow` whatever is appended later."""

    def __init__(self, folder: Path, *, follow: bool) -> None:
        self._folder, self._follow = folder, follow
        self._tails: dict[Path, Tail] = {}
        self._rows = self._everything()
        if not follow and not self._files():
            raise ProjectError(f"'{folder}' holds no {' or '.join(LINE_SUFFIXES)} file; put items there")

    def take(self, most: int) -> list[Row] | None:
        """The next rows; with `follow` there is no end."""
        taken = []
        for row in self._rows:
            if row is None:
                break
            taken.append(row)
            if len(taken) == most:
                break
        else:
            return taken or None
        return taken

    def _files(self) -> list[Path]:
        if self._folder.is_file():
            return [self._folder]
        return sorted(path for path in self._folder.iterdir() if path.suffix.lower() in LINE_SUFFIXES)

    def _everything(self) -> Iterator[Row | None]:
        while True:
            found = False
            for path in self._files():
                for row in self._tails.setdefault(path, Tail(path)).rows(finished=not self._follow):
                    found = True
                    yield row
            if not self._follow:
                return
            if not found:
                time.sleep(POLL_SECONDS)
                yield None


class LineFeed:
    """JSON lines from a stream such as standard input, read ahead in a thread so that nobody waits for a full batch."""

    def __init__(self, lines: IO[str]) -> None:
        self._queue: queue.Queue[Row | ProjectError | None] = queue.Queue(MOST_WAITING)
        self._ended = False
        threading.Thread(target=self._read, args=(lines,), daemon=True).start()

    def _read(self, lines: IO[str]) -> None:
        try:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    self._queue.put(parsed(line, f"line {number} of standard input"))
        except ProjectError as error:
            self._queue.put(error)
        except UnicodeDecodeError:
            self._queue.put(ProjectError("standard input is not UTF-8 text; send one JSON object per line"))
        self._queue.put(None)

    def take(self, most: int) -> list[Row] | None:
        """The rows that have come; waits a moment for the first."""
        taken: list[Row] = []
        while len(taken) < most and not self._ended:
            try:
                row = self._queue.get(timeout=POLL_SECONDS)
            except queue.Empty:
                return taken
            if isinstance(row, ProjectError):
                raise row
            if row is None:
                self._ended = True
            else:
                taken.append(row)
        return taken or None


def parsed(line: str | bytes, where: str) -> Row:
    """One JSON object of a line."""
    try:
        values = json.loads(line)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise ProjectError(f"{where} is not valid JSON; write one JSON object per line") from None
    if not isinstance(values, dict):
        raise ProjectError(f"{where} is no JSON object; write one object per line")
    return Row(where, values)


def open_feed(source: str, stdin: IO[str], *, follow: bool) -> Feed:
    """The feed of a path, or of `-` for standard input."""
    if source == "-":
        return LineFeed(stdin)
    path = Path(source)
    if not path.exists():
        raise ProjectError(f"there is no file or folder '{source}'; give the items to watch, or - for standard input")
    if path.is_dir():
        return FolderFeed(path, follow=follow)
    if follow:
        if path.suffix.lower() not in LINE_SUFFIXES:
            raise ProjectError(f"'{source}' cannot be followed; only {' and '.join(LINE_SUFFIXES)} files can grow")
        return FolderFeed(path, follow=True)
    return FileFeed(path)
