"""A misbehaving server and what most tests of judges need."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from driftjudge.judges import ScoreCache
from tests.judges.misbehaving import MisbehavingServer


@pytest.fixture
def server() -> Iterator[MisbehavingServer]:
    with MisbehavingServer() as running:
        yield running


@pytest.fixture
def open_cache(tmp_path: Path) -> Iterator[Callable[[], ScoreCache]]:
    """Opens the test's cache, as often as it likes; closes all of them."""
    with ExitStack() as opened:
        yield lambda: opened.enter_context(ScoreCache(tmp_path / "scores.db"))
