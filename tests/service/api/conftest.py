"""A world per test, and one for tests that only read or keep to monitors of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.api.world import World, running


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with running(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with running(tmp_path_factory.mktemp("shared")) as made:
        yield made
