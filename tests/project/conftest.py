"""A judge on loopback for the tests of projects."""

from tests.project.fixtures import ruler, server

__all__ = ["ruler", "server"]
