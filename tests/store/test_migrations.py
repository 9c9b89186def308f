"""Released schemas stay as files in `released/` (see `release.py`); the newest version must open every one of them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import inspect, text

from driftjudge.store import Store, open_log, open_store
from driftjudge.store.errors import SchemaError
from driftjudge.store.migrations import statements, steps
from driftjudge.store.tables import metadata

RELEASED = sorted((Path(__file__).parent / "released").glob("*.sql"))


def test_every_step_has_a_release() -> None:
    assert [int(path.stem.split("_")[1]) for path in RELEASED] == list(steps())


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.stem)
def test_a_released_database_opens_and_its_monitors_go_on(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "old.db"
    with sqlite3.connect(file) as old:
        old.executescript(path.read_text(encoding="utf-8"))
    old.close()
    store = open_store(file)
    log = open_log(store, "stream")
    assert log is not None
    monitor, seq = log.load()
    assert (seq, monitor.position) == (log.head(), 30)
    cached = log.load_snapshot()
    assert cached is not None
    assert monitor.fold([]).observe("next", stratum="coding", cheap=(0.5, 0.5)).probability > 0.0
    store.close()


def test_the_tables_are_what_the_steps_make(either: Store) -> None:
    found = inspect(either.engine)
    for table in metadata.sorted_tables:
        columns = {column["name"] for column in found.get_columns(table.name)}
        assert columns == {column.name for column in table.columns}, table.name
        keys = found.get_pk_constraint(table.name)["constrained_columns"]
        assert keys == [column.name for column in table.primary_key], table.name
    assert set(found.get_table_names()) == {table.name for table in metadata.sorted_tables} | {"driftjudge_schema"}


def test_opening_twice_applies_nothing_twice(store: Store) -> None:
    with store.read() as tx:
        before = tx.execute(text("SELECT * FROM driftjudge_schema")).all()
    assert store.engine.url.database is not None
    again = open_store(store.engine.url.database, now=99.0)
    with again.read() as tx:
        assert tx.execute(text("SELECT * FROM driftjudge_schema")).all() == before
    again.close()


def test_a_database_of_a_newer_version_is_refused(store: Store) -> None:
    with store.begin() as tx:
        tx.execute(text("INSERT INTO driftjudge_schema VALUES (99, 0.0)"))
    assert store.engine.url.database is not None
    with pytest.raises(SchemaError, match=r"schema 99 .* upgrade"):
        open_store(store.engine.url.database)


def test_steps_leave_no_placeholder_behind() -> None:
    for dialect in ("sqlite", "postgresql"):
        for step in steps().values():
            assert not [one for one in statements(step, dialect) if "{" in one or "}" in one]
