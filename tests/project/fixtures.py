"""A judge on loopback for the tests of projects and their commands."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.judges.misbehaving import MisbehavingServer, answer_by
from tests.project.folders import Ruler


@pytest.fixture
def ruler() -> Ruler:
    """The rule by which the server scores."""
    return Ruler()


@pytest.fixture
def server(ruler: Ruler) -> Iterator[MisbehavingServer]:
    """A server that scores by the ruler."""
    with MisbehavingServer(default=answer_by(ruler)) as running:
        yield running
