"""One process of the service: store, runtime, API, page and alerts, from start to graceful end."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from driftjudge.service import logs
from driftjudge.service.access import Access
from driftjudge.service.alerts.desk import AlertDesk
from driftjudge.service.alerts.settings import read_alerts
from driftjudge.service.api.app import create_app
from driftjudge.service.api.gate import HEADERS
from driftjudge.service.api.problems import MEDIA_TYPE, problem
from driftjudge.service.api.streams import Streams
from driftjudge.service.options import ServiceOptions
from driftjudge.service.runtime import Service
from driftjudge.service.settings import ADMIN_KEY, ServiceSettings, SettingsError, admin_key
from driftjudge.store import Store, open_store

log = logging.getLogger("driftjudge.serve")

SESSION_SECRET = "DRIFTJUDGE_SESSION_SECRET"
"""Signs the page's cookies; without it a restart ends every session."""

KEEP_ALIVE_SECONDS = 75


def serve(
    settings: ServiceSettings,
    *,
    alerts: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
    announce: Callable[[str], None] = print,
) -> None:
    """Run until told to stop (SIGTERM or SIGINT); then finish what was begun and release the leases."""
    environment = os.environ if environment is None else environment
    logs.set_up(settings.log_level)
    with ExitStack() as stack:
        store = open_store(settings.store)
        stack.callback(store.close)
        access = Access(store, environment_key=admin_key(environment), open_on_loopback=settings.loopback)
        check_reachable(settings, access)
        listener = listen(settings)
        stack.callback(listener.close)
        url = address_of(settings.host, listener)
        service = stack.enter_context(started(store, url))
        desk = AlertDesk(store, read_alerts(alerts or {}, environment), base_url=settings.public_url or reachable(url))
        stack.callback(desk.close)
        app = create_app(service, settings, access, desk=desk, session_secret=environment.get(SESSION_SECRET))
        desk.start()

        def ready() -> None:
            announce(f"driftjudge listens on {url} and stores in {logs.redacted(settings.store)}")
            if not access.locked:
                announce("No API key exists: this machine may do everything, others nothing. Stop with Ctrl+C.")
            log.info("listening", extra={"route": url})

        GracefulServer(uvicorn_config(app, settings), app.state.context.streams, ready).run(sockets=[listener])
    log.info("stopped")


@contextmanager
def started(store: Store, url: str, options: ServiceOptions | None = None) -> Iterator[Service]:
    """A running service that is closed in any case: requests finished, snapshots written, leases released."""
    service = Service(store, options=replace(options or ServiceOptions(), address=url))
    service.start()
    try:
        yield service
    finally:
        service.close()


def check_reachable(settings: ServiceSettings, access: Access) -> None:
    """Refuse to be reachable from elsewhere while anybody could come in."""
    if settings.loopback:
        return
    if not access.has_key:
        raise SettingsError(
            f"nobody listens on {settings.host} without an API key; set {ADMIN_KEY} to a long random text, for example "
            "from: openssl rand -hex 32, or start on 127.0.0.1 and create a key first"
        )


def listen(settings: ServiceSettings) -> socket.socket:
    """The listening socket, bound before anything starts, so that a taken port is told at once."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host.strip("[]"), settings.port))
    except OSError as error:
        listener.close()
        raise SettingsError(
            f"cannot listen on {settings.host} port {settings.port} ({(error.strerror or str(error)).lower()}); choose "
            "another with --port, or 0 for any free one"
        ) from error
    return listener


def address_of(host: str, listener: socket.socket) -> str:
    """Where to point a browser."""
    port = listener.getsockname()[1]
    name = host.strip("[]")
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def reachable(url: str) -> str:
    """The address for links that others follow: nobody can follow one to 0.0.0.0.

    >>> reachable("http://127.0.0.1:8321")
    'http://127.0.0.1:8321'
    """
    for everywhere in ("http://0.0.0.0:", "http://[::]:"):
        if url.startswith(everywhere):
            return f"http://{socket.getfqdn()}:{url.removeprefix(everywhere)}"
    return url


def read_alert_section(path: Path | None) -> Mapping[str, Any]:
    """The section [alerts] of the config file, if there is one."""
    if path is None:
        return {}
    section = tomllib.loads(path.read_text(encoding="utf-8")).get("alerts", {})
    if not isinstance(section, dict):
        raise SettingsError(f"{path}: alerts is {section!r}; write sections [[alerts.sinks]] and [[alerts.routes]]")
    return section


class GracefulServer(uvicorn.Server):
    """Uvicorn that ends the open streams first, and returns after the last answer instead of dying of the signal."""

    def __init__(self, config: uvicorn.Config, streams: Streams, ready: Callable[[], None] = lambda: None) -> None:
        """`ready` is called once connections are taken."""
        super().__init__(config)
        self._streams, self._ready = streams, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to take connections, and say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take SIGTERM and SIGINT for ours while we run, and do not raise them again at the end."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; at a second Ctrl+C, without waiting for anybody."""
        self._streams.end()
        super().handle_exit(sig, frame)


class ProblemProtocol(H11Protocol):
    """HTTP that answers even an unreadable request in the one shape of every error."""

    def send_400_response(self, msg: str) -> None:
        """The answer to what is not HTTP."""
        del msg
        response = problem(400, "this is not a readable HTTP request; check the headers, which may be too large")
        headers = [(b"content-type", MEDIA_TYPE.encode()), (b"connection", b"close")]
        headers += [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
        body = bytes(response.body)
        headers.append((b"content-length", str(len(body)).encode()))
        for event in (h11.Response(status_code=400, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def uvicorn_config(app: Any, settings: ServiceSettings) -> uvicorn.Config:
    """How uvicorn runs the app."""
    return uvicorn.Config(
        app,
        http=ProblemProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # who asks is decided by the connection, never by a header anybody can send
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=max(1, round(settings.shutdown_seconds)),
        backlog=1_024,
    )
