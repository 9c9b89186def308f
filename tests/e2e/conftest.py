"""A Postgres server that all tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.postgres import Postgres, shared_postgres


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    with shared_postgres(tmp_path_factory) as server:
        yield server
