"""The n-th call of the database, or of the judge, fails: n = 1, 2, ... until a run is clean. Nothing may show of it."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, exc

from driftjudge.judges.protocol import Judge
from driftjudge.monitor import MonitorConfig
from driftjudge.service.errors import BackPressureError, UnavailableError
from driftjudge.service.options import ServiceOptions
from driftjudge.service.runtime import Service
from driftjudge.service.values import Judging
from driftjudge.store import Store, audit, open_store
from tests.e2e.postgres import Postgres, running_postgres
from tests.e2e.streams import NAME, Drive, Mode, SteadyJudge, state_of

OPTIONS = ServiceOptions(
    owner="tests",
    tick_seconds=3_600.0,
    retry_seconds=0.001,
    retry_cap=0.005,
    snapshot_every=20,
    unavailable_after=10**6,
)


class Near:
    """A client in the same process that sends again what was not taken."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.refused = 0

    def call(self, method: str, *arguments: Any, **named: Any) -> Any:
        deadline = time.monotonic() + 60.0
        while time.monotonic() < deadline:
            try:
                return getattr(self.service, method)(*arguments, **named)
            except (UnavailableError, BackPressureError):
                self.refused += 1
                time.sleep(0.001)
        raise AssertionError(f"{method} was never answered")


class Fault:
    """Fails once, at the n-th call."""

    def __init__(self, at: int) -> None:
        self.at, self.calls, self.armed = at, 0, True

    def __call__(self, *_: object) -> None:
        self.calls += self.armed
        if self.calls == self.at and self.armed:
            raise exc.OperationalError("injected", None, sqlite3.OperationalError("disk I/O error"))

    @property
    def clean(self) -> bool:
        return self.calls < self.at


@contextmanager
def _service(file: Path, judge: Callable[[], None] | None = None) -> Iterator[tuple[Service, Store]]:
    def judges(_kind: str, _config: MonitorConfig, _judging: Judging) -> Judge:
        return SteadyJudge(judge, pause=0.0)

    store = open_store(file)
    service = Service(store, judges=judges, options=OPTIONS)
    yield service, store
    service.close()
    store.close()


def _drive(mode: Mode, items: int = 6) -> Drive:
    return Drive(mode, seed=2, items=items, anchors=2, request=3, calibration=100)


def _inject(store: Store, fault: Fault, where: str) -> None:
    if where == "statement":
        event.listen(store.engine, "before_cursor_execute", fault)
        return
    commit = store.engine.dialect.do_commit

    def faulty(connection: Any) -> None:
        if where == "before commit":
            fault()
        commit(connection)
        if where == "after commit":
            fault()

    store.engine.dialect.do_commit = faulty  # type: ignore[assignment, method-assign]


def _prepared(file: Path, mode: Mode) -> Path:
    """A database with a running monitor in it."""
    with _service(file) as (service, _):
        _drive(mode).set_up(Near(service.start()))
    return file


def _run(
    file: Path, mode: Mode, fault: Fault | None = None, where: str = "", drive: Drive | None = None
) -> dict[str, Any]:
    with _service(file) as (service, store):
        if fault is not None:
            _inject(store, fault, where)
        client = Near(service.start())
        (drive or _drive(mode)).go_on(client)
        return state_of(client, mode)


def _until_clean(run: Callable[[int], bool]) -> int:
    """The first n whose fault was never reached."""
    n = 1
    while not run(n):
        n += 1
        assert n < 2_000
    return n


@pytest.mark.parametrize("where", ["statement", "before commit", "after commit"])
@pytest.mark.parametrize("mode", ["client", "raw"])
def test_no_failing_call_of_the_database_leaves_a_trace(tmp_path: Path, mode: Mode, where: str) -> None:
    start = _prepared(tmp_path / "start.db", mode)
    expected = _run(Path(shutil.copy(start, tmp_path / "clean.db")), mode)
    assert len(expected["observed"]) == 6

    def run(n: int) -> bool:
        fault = Fault(n)
        state = _run(Path(shutil.copy(start, tmp_path / f"{n}.db")), mode, fault, where)
        assert state == expected, f"call {n} failed ({where})"
        return fault.clean

    assert _until_clean(run) > 5


@pytest.mark.parametrize("where", ["statement", "before commit", "after commit"])
def test_no_failing_call_during_set_up_leaves_a_trace(tmp_path: Path, where: str) -> None:
    def set_up(file: Path, fault: Fault | None) -> tuple[Any, Any]:
        with _service(file) as (service, store):
            if fault is not None:
                _inject(store, fault, where)
            client = Near(service.start())
            _drive("client").set_up(client)
            if fault is not None:
                fault.armed = False
            with store.read() as tx:
                acts = [act.action for act in audit.page(tx)]
            return client.call("snapshot", NAME), acts

    expected = set_up(tmp_path / "clean.db", None)

    def run(n: int) -> bool:
        fault = Fault(n)
        assert set_up(tmp_path / f"{n}.db", fault) == expected, f"call {n} failed ({where})"
        return fault.clean

    assert _until_clean(run) > 4


@pytest.mark.parametrize("mode", ["strong", "raw"])
def test_no_failing_call_of_the_judge_leaves_a_trace(tmp_path: Path, mode: Mode) -> None:
    start = _prepared(tmp_path / "start.db", mode)

    def judged(n: int) -> tuple[dict[str, Any], bool]:
        calls = 0

        def judge() -> None:
            nonlocal calls
            calls += 1
            if calls == n:
                raise ConnectionError("injected")

        with _service(Path(shutil.copy(start, tmp_path / f"{n}.db")), judge) as (service, _):
            client = Near(service.start())
            _drive(mode, items=16).go_on(client)
            return state_of(client, mode), calls < n

    expected, _ = judged(0)

    def run(n: int) -> bool:
        state, clean = judged(n)
        assert state == expected, f"call {n} failed"
        return clean

    assert _until_clean(run) > 5


def test_a_full_disk_is_a_clear_error_and_over_when_there_is_room(tmp_path: Path) -> None:
    start = _prepared(tmp_path / "start.db", "client")
    expected = _run(Path(shutil.copy(start, tmp_path / "clean.db")), "client", drive=_drive("client", 60))
    pages = start.stat().st_size // 4_096 + 1

    def limited(connection: Any, _record: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages}")

    with _service(Path(shutil.copy(start, tmp_path / "full.db"))) as (service, store):
        event.listen(store.engine, "connect", limited)
        store.engine.dispose()
        service.start()
        drive = _drive("client", 60)
        told = ""

        class Filling(Near):
            def call(self, method: str, *arguments: Any, **named: Any) -> Any:
                nonlocal told, pages
                try:
                    return getattr(self.service, method)(*arguments, **named)
                except UnavailableError as error:
                    told, pages = str(error), 100_000
                    store.engine.dispose()
                    return super().call(method, *arguments, **named)

        client = Filling(service)
        drive.go_on(client)
        assert "no room left" in told
        assert "nothing of this was taken" in told
        assert state_of(client, "client") == expected


class Interrupted(Near):
    """Connections break before every tenth call, as when a server is restarted."""

    def __init__(self, service: Service, postgres: Postgres, url: str) -> None:
        super().__init__(service)
        self._postgres, self._database, self._calls = postgres, url.split("?")[0].rsplit("/", 1)[1], 0

    def call(self, method: str, *arguments: Any, **named: Any) -> Any:
        self._calls += 1
        if self._calls % 10 == 5 and self._calls < 40:
            whose = f"datname = '{self._database}'"
            self._postgres.psql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {whose}")
        return super().call(method, *arguments, **named)


def _steady(_kind: str, _config: MonitorConfig, _judging: Judging) -> Judge:
    return SteadyJudge(None, pause=0.0)


@pytest.mark.parametrize("mode", ["client", "raw"])
def test_connections_that_break_are_made_again(tmp_path: Path, postgres: Postgres, mode: Mode) -> None:
    expected = _run(_prepared(tmp_path / "clean.db", mode), mode)
    url = postgres.database()
    store = open_store(url)
    with Service(store, judges=_steady, options=OPTIONS) as service:
        client = Interrupted(service, postgres, url)
        _drive(mode).run(client)
        assert state_of(client, mode) == expected
    store.close()


def test_a_server_that_goes_away_is_waited_for_and_what_was_judged_meanwhile_is_kept(tmp_path: Path) -> None:
    expected = _run(_prepared(tmp_path / "clean.db", "raw"), "raw")
    with running_postgres() as postgres:
        store = open_store(postgres.database())
        judging, away = threading.Event(), threading.Event()

        def judge() -> None:
            judging.set()
            away.wait()

        def judges(_kind: str, _config: MonitorConfig, _judging: Judging) -> Judge:
            return SteadyJudge(judge, pause=0.0)

        with Service(store, judges=judges, options=OPTIONS) as service:
            client = Near(service)
            drive = _drive("raw")
            drive.set_up(client)
            given = list(drive.stream())
            client.call("ingest", NAME, given[:3], idempotency=drive._key("request 0"))
            judging.wait()
            postgres.stop()
            away.set()  # the answers come while nobody can take them
            with pytest.raises(UnavailableError, match="does not answer"):
                service.ingest(NAME, given[3:])
            with pytest.raises(UnavailableError):
                service.verdict(NAME)
            assert not service.health().ready
            postgres.start()
            drive.go_on(client)
            assert service.health().ready
            assert state_of(client, "raw") == expected
        store.close()
