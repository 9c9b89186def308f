"""Numbered steps from an empty database to the newest schema; each is applied once, in order, and written down."""

from __future__ import annotations

import re
from importlib import resources

from sqlalchemy import Connection, text

from driftjudge.store.errors import SchemaError

_DIALECTS = {
    "sqlite": {
        "id": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "bytes": "BLOB",
        "float": "REAL",
        "clustered": " WITHOUT ROWID",
    },
    "postgresql": {
        "id": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "bytes": "BYTEA",
        "float": "DOUBLE PRECISION",
        "clustered": "",
    },
}
_LOCK = 7_203_551_184
"""Key of the Postgres advisory lock: two processes that start at once must not both migrate."""


def steps() -> dict[int, str]:
    """Number and text of every step."""
    folder = resources.files("driftjudge.store") / "steps"
    found = {}
    for file in folder.iterdir():
        if match := re.fullmatch(r"(\d{4})_\w+\.sql", file.name):
            found[int(match[1])] = file.read_text(encoding="utf-8")
    return dict(sorted(found.items()))


def statements(step: str, dialect: str) -> list[str]:
    """The statements of a step in the words of a database.

    >>> statements("-- why\\nCREATE TABLE a (b {bytes});\\nCREATE INDEX c ON a (b);", "postgresql")
    ['CREATE TABLE a (b BYTEA)', 'CREATE INDEX c ON a (b)']
    """
    code = "\n".join(line for line in step.splitlines() if not line.startswith("--"))
    for name, words in _DIALECTS[dialect].items():
        code = code.replace(f"{{{name}}}", words)
    return [part.strip() for part in code.split(";") if part.strip()]


def migrate(tx: Connection, now: float) -> int:
    """Apply what is missing inside the transaction; returns the version it ends at."""
    dialect = tx.dialect.name
    if dialect == "postgresql":
        tx.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    tx.execute(
        text(
            "CREATE TABLE IF NOT EXISTS driftjudge_schema "
            f"(version INTEGER PRIMARY KEY, applied_at {_DIALECTS[dialect]['float']} NOT NULL)"
        )
    )
    applied = set(tx.execute(text("SELECT version FROM driftjudge_schema")).scalars())
    known = steps()
    newest = max(known)
    if applied and max(applied) > newest:
        raise SchemaError(
            f"the database has schema {max(applied)} but this driftjudge knows {newest}; upgrade driftjudge, or point "
            "it at another database"
        )
    for number in sorted(known.keys() - applied):
        for statement in statements(known[number], dialect):
            tx.execute(text(statement))
        tx.execute(
            text("INSERT INTO driftjudge_schema (version, applied_at) VALUES (:version, :at)"),
            {"version": number, "at": now},
        )
    return newest
