"""What every route needs: the service, who asks, and how to run what blocks."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Query, Request
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.responses import Response

from driftjudge.service.access import Access, ForbiddenError, Principal, Role
from driftjudge.service.api.streams import Streams
from driftjudge.service.errors import UnavailableError
from driftjudge.service.metrics import Metrics
from driftjudge.service.runtime import Service
from driftjudge.service.settings import ServiceSettings
from driftjudge.service.values import MOST_LISTED, Idempotency
from driftjudge.service.wire.shapes import dumped

T = TypeVar("T")

LONGEST_WAIT = 30.0
"""Seconds a request waits for the writer; the items may still be taken in, so the sender asks again."""

MOST_RUBRICS_REMEMBERED = 10_000


@dataclass
class Context:
    """One per app; routes get it from `request.app.state.context`."""

    service: Service
    access: Access
    settings: ServiceSettings
    metrics: Metrics
    streams: Streams
    session: Callable[[HTTPConnection], Principal | None] | None = None
    """How the page tells who is logged in by its cookie (and that the request is its own); None without a page."""
    _rubrics: OrderedDict[str, tuple[str, ...]] = field(default_factory=OrderedDict)

    async def rubrics(self, name: str) -> tuple[str, ...]:
        """A monitor's rubrics, remembered: they never change."""
        found = self._rubrics.get(name)
        if found is None:
            found = (await run_in_threadpool(self.service.monitor, name)).config.rubrics
            self._rubrics[name] = found
            while len(self._rubrics) > MOST_RUBRICS_REMEMBERED:
                self._rubrics.popitem(last=False)
        return found


def _context(request: Request) -> Context:
    context: Context = request.app.state.context
    return context


async def _get_context(request: Request) -> Context:
    return _context(request)


Ctx = Annotated[Context, Depends(_get_context)]


def needs(role: Role) -> Callable[[Request], Coroutine[Any, Any, Principal]]:
    """Let only those pass who may act in that role on the monitor in the path."""

    async def check(request: Request) -> Principal:
        principal: Principal = request.state.principal
        name = request.path_params.get("name")
        if not principal.may(role, name):
            on = "every monitor" if name is None else f"the monitor {name!r}"
            raise ForbiddenError(f"this needs the role {role} on {on}; ask an administrator for such a key")
        return principal

    return check


INGESTS = Depends(needs("ingest"))
READS = Depends(needs("read"))
Reads = Annotated[Principal, READS]
ADMINISTERS = Depends(needs("admin"))
Administers = Annotated[Principal, ADMINISTERS]


async def who(request: Request) -> Principal:
    """Who asks, whatever their role."""
    principal: Principal = request.state.principal
    return principal


Asks = Annotated[Principal, Depends(who)]


async def once(
    request: Request,
    idempotency_key: Annotated[
        str | None,
        Header(
            min_length=1,
            max_length=255,
            pattern=r"^[!-~]+$",
            description="The same key with the same body gets the same answer; with another body a 409.",
            examples=["5f0c8a52-7d41-4b36-8f9e-0a1c3f1f9b77"],
        ),
    ] = None,
) -> Idempotency | None:
    """The request's Idempotency-Key, bound to who sent it and to everything it says."""
    if idempotency_key is None:
        return None
    return bound(request, request.state.principal, idempotency_key, await request.body())


def bound(request: Request, principal: Principal, key: str, body: bytes) -> Idempotency:
    """A key together with who sent it and everything that was said."""
    said = hashlib.sha256(f"{request.method} {request.scope['path']}\n".encode("utf-8", "replace"))
    said.update(body)
    return Idempotency(principal.actor, key, said.hexdigest())


Once = Annotated[Idempotency | None, Depends(once)]

Limit = Annotated[int, Query(ge=1, le=MOST_LISTED, description="Most rows of this page.")]
AfterSeq = Annotated[int, Query(ge=0, le=2**53, description="Go on after this number.")]


async def settled(future: Future[T]) -> T:
    """The result of what the writer will do, without holding a thread meanwhile."""
    try:
        async with asyncio.timeout(LONGEST_WAIT):
            return await asyncio.wrap_future(future)
    except TimeoutError as error:
        raise UnavailableError(
            f"the writer did not answer within {LONGEST_WAIT:.0f} seconds; send the same request again"
        ) from error


def reply(shape: BaseModel, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """The shape as an answer."""
    return Response(dumped(shape), status, headers, "application/json")


in_thread = run_in_threadpool
