"""The app: routes, gate and OpenAPI document put together around a service."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI

from driftjudge import __version__
from driftjudge.service.access import Access
from driftjudge.service.alerts.desk import AlertDesk
from driftjudge.service.api import alarms, anchors, changes, items, keys, monitors, openapi, probes, problems, reading
from driftjudge.service.api.context import Context
from driftjudge.service.api.gate import Gate
from driftjudge.service.api.streams import Streams
from driftjudge.service.metrics import Metrics
from driftjudge.service.runtime import Service
from driftjudge.service.settings import ServiceSettings

ROUTERS = (items, monitors, anchors, reading, alarms, changes, keys, probes)
"""Asked in this order, so what is asked for most stands first."""


def create_app(
    service: Service,
    settings: ServiceSettings | None = None,
    access: Access | None = None,
    *,
    desk: AlertDesk | None = None,
    session_secret: str | None = None,
) -> FastAPI:
    """An ASGI app around a started service; whoever started the service closes it after the app.

    With an alert desk the pages for people are served too; `session_secret` signs their cookies.
    """
    settings = settings or ServiceSettings()
    access = access or Access(service.store, open_on_loopback=settings.loopback)
    attempts = None if desk is None else lambda: desk.attempts
    metrics = Metrics(service, monitors=settings.metrics_monitors, attempts=attempts)
    streams = Streams(service, most=settings.max_streams, heartbeat_seconds=settings.heartbeat_seconds)
    streams.on_count = metrics.streams.set
    context = Context(service, access, settings, metrics, streams)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        streams.start()
        yield
        streams.close()

    app = FastAPI(
        title="driftjudge",
        version=__version__,
        lifespan=life,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # the usual pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.context = context
    for module in ROUTERS:
        app.include_router(module.router)
    if desk is not None:
        from driftjudge.service.page.routes import page_router

        pages = page_router(
            service, access, alerts=desk, streams=streams, clock=service.clock.now, session_secret=session_secret,
            secure=urlsplit(settings.public_url).scheme == "https",
        )  # fmt: skip
        app.include_router(pages)
    problems.install(app)
    app.add_middleware(_middleware(context))
    app.openapi = openapi.described(app)  # type: ignore[method-assign]
    return app


def _middleware(context: Context) -> Any:
    def gate(app: Any) -> Gate:
        return Gate(app, context)

    made: Callable[[Any], Gate] = gate
    return made
