"""A database, opened and brought to the newest schema: SQLite in a file without configuration, Postgres by URL."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, exc, text
from sqlalchemy.engine import URL, make_url

from driftjudge.store.errors import FullError, SchemaError, StoreError, UnavailableError
from driftjudge.store.migrations import migrate

logger = logging.getLogger(__name__)

BUSY_SECONDS = 10.0
"""How long a writer waits for another before it gives up."""
CONNECT_SECONDS = 5


class Store:
    """One database. `begin` is a transaction that writes, `read` one that only reads."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.dialect = engine.dialect.name
        self._reading = engine.execution_options(driftjudge_reads=True)

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A writing transaction: committed at the end, rolled back on any error. Errors are of this layer's family."""
        with _translated(), self.engine.begin() as tx:
            yield tx

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A reading transaction; on SQLite it never waits for a writer."""
        with _translated(), self._reading.connect() as tx:
            yield tx

    def now(self, tx: Connection, fallback: float) -> float:
        """The time all processes on this database agree on: the server's, or the machine's for a file."""
        if self.dialect == "postgresql":
            return float(tx.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())
        return fallback

    def close(self) -> None:
        """Give up all connections."""
        self.engine.dispose()


def open_store(url: str | Path, *, now: float | None = None) -> Store:
    """Open a database and bring it to the newest schema.

    A path or `sqlite:///path` opens or creates a file; `postgresql://user@host/name` needs the extra `postgres`, and
    takes its password from the URL or from PGPASSWORD and the like.
    """
    engine = _engine(_parsed(url))
    store = Store(engine)
    try:
        with store.begin() as tx:
            migrate(tx, time.time() if now is None else now)
    except StoreError:
        store.close()
        raise
    return store


def _parsed(url: str | Path) -> URL:
    if isinstance(url, Path) or "://" not in url:
        return URL.create("sqlite", database=str(url))
    parsed = make_url(url)
    backend = parsed.get_backend_name()
    if backend in ("postgresql", "postgres"):
        return parsed.set(drivername="postgresql+psycopg")
    if backend == "sqlite":
        if parsed.database in (None, "", ":memory:"):
            raise SchemaError("a database in memory is lost with the process; give a file, sqlite:///driftjudge.db")
        return parsed
    raise SchemaError(f"databases of the kind {backend!r} are not supported; use sqlite:///file or postgresql://")


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "sqlite":
        engine = create_engine(
            url,
            connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
            pool_timeout=30,
            pool_size=10,
            max_overflow=40,
        )
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        return create_engine(
            url,
            pool_pre_ping=True,
            pool_timeout=30,
            pool_size=10,
            max_overflow=40,
            connect_args={"connect_timeout": CONNECT_SECONDS},
        )
    except ModuleNotFoundError as error:
        raise SchemaError("Postgres needs psycopg; install driftjudge[postgres]") from error


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # the driver must not begin transactions of its own
    for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "wal_autocheckpoint=4000"):
        connection.execute(f"PRAGMA {setting}")


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that will write says so at once: one that reads first and writes later can fail half way.
    reads = connection.get_execution_options().get("driftjudge_reads", False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


@contextmanager
def _translated() -> Iterator[None]:
    """Turn the driver's errors into ours, without the statement and its values: those are the user's data."""
    try:
        yield
    except (exc.OperationalError, exc.InterfaceError, exc.InternalError, exc.TimeoutError) as error:
        raise _sentence(error) from error
    except exc.DatabaseError as error:
        if isinstance(error, exc.IntegrityError | exc.DataError | exc.ProgrammingError):
            raise
        raise SchemaError(
            f"this is not a database that driftjudge can use ({_first_line(error)}); give the path of another file"
        ) from error


def _sentence(error: exc.SQLAlchemyError) -> UnavailableError:
    reason = _first_line(error)
    low = reason.lower()
    if "is full" in low or "no space left" in low or "could not extend" in low:
        return FullError(f"the database has no room left ({reason}); free space on its disk, then send it again")
    if "unable to open" in low or "readonly" in low:
        return UnavailableError(f"the database file cannot be written ({reason}); check its folder and permissions")
    if "locked" in low or isinstance(error, exc.TimeoutError):
        return UnavailableError(f"the database is busy ({reason}); send it again in a moment")
    # The driver's own words name hosts, users and paths: they are for the log of who runs the service.
    logger.info("the database does not answer: %s", reason)
    return UnavailableError("the database does not answer; send it again in a moment")


def _first_line(error: exc.SQLAlchemyError) -> str:
    cause = getattr(error, "orig", None) or error
    return str(cause).strip().splitlines()[0][:200] if str(cause).strip() else type(cause).__name__
