"""Databases for the tests: SQLite in a file of its own, Postgres from a server that all tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from driftjudge.store import Store, open_store
from tests.e2e.postgres import Postgres, shared_postgres


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    with shared_postgres(tmp_path_factory) as server:
        yield server


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "store.db", now=0.0)
    yield opened
    opened.close()


@pytest.fixture(params=["sqlite", "postgres"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "sqlite":
        opened = open_store(tmp_path / "store.db", now=0.0)
        yield opened
        opened.close()
        return
    server: Postgres = request.getfixturevalue("postgres")
    url = server.database()
    opened = open_store(url, now=0.0)
    yield opened
    opened.close()
    server.drop(url)
