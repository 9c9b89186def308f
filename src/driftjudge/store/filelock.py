"""One process per database file: the operating system says so, and knows at once when that process has died."""

from __future__ import annotations

import os
from pathlib import Path

from driftjudge.store.engine import Store
from driftjudge.store.errors import UnavailableError


class FileLock:
    """Held as long as the process lives, or until it is let go."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def take(self) -> FileLock:
        """Take it, or say that another process has it."""
        import fcntl

        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            raise UnavailableError(
                f"another process serves {self._path.with_suffix('').name}; stop it first, or use Postgres to share a "
                "database"
            ) from error
        self._handle = handle
        return self

    def release(self) -> None:
        """Let it go."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def lock_of(store: Store) -> FileLock | None:
    """The lock of a database file; None for a server, which several processes may share by leases."""
    database = store.engine.url.database
    if store.dialect != "sqlite" or not database or os.name == "nt":
        return None
    return FileLock(Path(database).with_name(Path(database).name + ".lock")).take()
