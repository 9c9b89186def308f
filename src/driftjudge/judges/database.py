"""The SQLite file behind the score cache and the ledger."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from driftjudge.judges.errors import CacheError

BUSY_SECONDS = 30.0


def _m0001_scores_and_spending(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE scores (item TEXT NOT NULL, judge TEXT NOT NULL, pass INTEGER NOT NULL, model TEXT NOT NULL, "
        "answer TEXT NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, dollars REAL, "
        "at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (item, judge, pass, model)) WITHOUT ROWID"
    )
    connection.execute("CREATE TABLE models (judge TEXT PRIMARY KEY, model TEXT NOT NULL) WITHOUT ROWID")
    connection.execute(
        "CREATE TABLE spending (day TEXT NOT NULL, role TEXT NOT NULL, judge TEXT NOT NULL, model TEXT NOT NULL, "
        "calls INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, dollars REAL NOT NULL, "
        "assumed REAL NOT NULL, unpriced INTEGER NOT NULL, PRIMARY KEY (day, role, judge, model)) WITHOUT ROWID"
    )


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_m0001_scores_and_spending,)
"""Applied once each, in order; the file's `user_version` counts them."""


class Database:
    """One file, one connection, used from any thread; other processes may use the same file.

    WAL with `synchronous = NORMAL`: what was written survives a killed process; a power cut may lose the last answers,
    never the file.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.RLock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = NORMAL")
                self._migrate()
            except BaseException:
                self._connection.close()
                raise
        except (sqlite3.Error, OSError) as error:
            raise CacheError(f"'{path}' cannot be used as a score cache ({error}); name another file.") from None

    def __repr__(self) -> str:
        return f"Database({str(self.path)!r})"

    def _migrate(self) -> None:
        with self.write() as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version > len(MIGRATIONS):
                raise CacheError(f"'{self.path}' was written by a newer driftjudge; update driftjudge to use it.")
            for number in range(version, len(MIGRATIONS)):
                MIGRATIONS[number](connection)
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def read(self, query: str, values: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
        """The rows of a query."""
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()
