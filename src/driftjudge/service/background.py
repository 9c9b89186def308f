"""The service in a thread of your own process: for notebooks, examples and tests."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from driftjudge.service.access import Access
from driftjudge.service.api.app import create_app
from driftjudge.service.errors import ServiceError
from driftjudge.service.options import ServiceOptions
from driftjudge.service.serving import GracefulServer, address_of, check_reachable, listen, started, uvicorn_config
from driftjudge.service.settings import ServiceSettings
from driftjudge.store import open_store

START_SECONDS = 60.0


class Background:
    """A service on a free port of this machine, without the pages for people; close it when you are done.

    It answers like `driftjudge serve` and leaves signals and logs alone.
    """

    def __init__(
        self,
        store: str,
        *,
        environment_key: str | None = None,
        options: ServiceOptions | None = None,
        **settings: Any,
    ) -> None:
        """`settings`: those of `ServiceSettings`; the port is any free one unless it is given."""
        self.settings = ServiceSettings(**{"port": 0, "store": store, **settings})
        with ExitStack() as stack:
            opened = open_store(store)
            stack.callback(opened.close)
            self.access = Access(opened, environment_key=environment_key, open_on_loopback=self.settings.loopback)
            check_reachable(self.settings, self.access)
            listener = listen(self.settings)
            stack.callback(listener.close)
            self.url = address_of(self.settings.host, listener)
            self.service = stack.enter_context(started(opened, self.url, options))
            self.app = create_app(self.service, self.settings, self.access)
            ready = threading.Event()
            config = uvicorn_config(self.app, self.settings)
            self.server = GracefulServer(config, self.app.state.context.streams, ready.set)
            self._thread = threading.Thread(
                target=self.server.run, kwargs={"sockets": [listener]}, name="driftjudge-http", daemon=True
            )
            self._thread.start()
            stack.callback(self._stop)
            if not ready.wait(START_SECONDS):
                raise ServiceError(f"the service did not start within {START_SECONDS:.0f} seconds; look at its log")
            self._stack = stack.pop_all()

    def _stop(self) -> None:
        self.server.handle_exit(0, None)
        self._thread.join()

    def close(self) -> None:
        """Finish what was begun, and stop."""
        self._stack.close()

    def __enter__(self) -> Background:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
