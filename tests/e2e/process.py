"""A service in a process that can be killed: forked from one that has everything imported, which makes it cheap."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, Pipe
from typing import Any

from sqlalchemy import event

from driftjudge.service.options import ServiceOptions
from driftjudge.service.runtime import Service
from driftjudge.store import Store, open_store
from driftjudge.store.errors import StoreError
from tests.e2e.streams import steady_judges

RETRIED = ("UnavailableError", "ElsewhereError", "BackPressureError", "ClosedError")


class GoneError(Exception):
    """The process died before it answered."""


class RefusedError(Exception):
    """The service said no."""


class Process:
    """One service process; `die_at` kills it from within at its n-th call of the database."""

    def __init__(self, url: str, options: dict[str, Any], *, die_at: int | None = None) -> None:
        ours, theirs = Pipe()
        self.pid = os.fork()
        if not self.pid:
            ours.close()
            _child(theirs, url, options, die_at)
        theirs.close()
        self._pipe = ours

    def call(self, method: str, *arguments: Any, **named: Any) -> Any:
        """What the service answers; raises GoneError where it died over it."""
        try:
            self._pipe.send((method, arguments, named))
            kind, value = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise GoneError from error
        if kind == "ok":
            return value
        raise RefusedError(*value)

    def kill(self) -> None:
        """As the kernel does it: no warning."""
        os.kill(self.pid, signal.SIGKILL)
        self.reap()

    def reap(self) -> None:
        """Wait for its end."""
        os.waitpid(self.pid, 0)
        self._pipe.close()


def _child(pipe: Connection, url: str, options: dict[str, Any], die_at: int | None) -> None:
    try:
        store = _opened(url)
        if die_at is not None:
            _die(store, die_at)
        service = Service(store, judges=steady_judges, options=ServiceOptions(**options)).start()
        while True:
            try:
                method, arguments, named = pipe.recv()
            except EOFError:
                break
            try:
                answer = ("ok", getattr(service, method)(*arguments, **named))
                pickle.dumps(answer)
            except Exception as error:
                answer = ("error", (type(error).__name__, str(error)))
            pipe.send(answer)
        service.close()
    except BaseException as error:
        print("service process failed:", repr(error), file=sys.stderr)
        os._exit(3)
    os._exit(0)


def _opened(url: str) -> Store:
    while True:
        try:
            return open_store(url)
        except StoreError:  # the file of a process that is just dying, or a server that is away
            time.sleep(0.01)


def _die(store: Store, at: int) -> None:
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1
        if calls == at:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(store.engine, "before_cursor_execute", count)
    event.listen(store.engine, "commit", count)
    commit = store.engine.dialect.do_commit

    def committed(connection: Any) -> None:
        commit(connection)
        count()

    store.engine.dialect.do_commit = committed  # type: ignore[assignment, method-assign]


class Retrying:
    """A client that sends again until it is answered, starting the service anew where it died."""

    def __init__(self, start: Callable[[], Process]) -> None:
        self._start = start
        self.process = start()
        self.deaths = 0

    def call(self, method: str, *arguments: Any, **named: Any) -> Any:
        """What the service answers in the end."""
        deadline = time.monotonic() + 60.0
        while time.monotonic() < deadline:
            try:
                return self.process.call(method, *arguments, **named)
            except GoneError:
                self.process.reap()
                self.deaths += 1
                self.process = self._start()
            except RefusedError as error:
                if error.args[0] not in RETRIED:
                    raise
                time.sleep(0.01)
        raise AssertionError(f"{method} was never answered")
