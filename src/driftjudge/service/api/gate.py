"""What every request passes before a route sees it, and every answer before it leaves."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import secrets
import time
from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from driftjudge.service.access import LOOPBACK, Access, Principal, UnauthorisedError
from driftjudge.service.api.context import Context
from driftjudge.service.api.problems import Problem, defect, problem, refusal
from driftjudge.service.errors import BackPressureError, ServiceError
from driftjudge.service.settings import HOSTS_OF_THIS_MACHINE
from driftjudge.store.errors import StoreError

log = logging.getLogger("driftjudge.requests")

GUARDED = ("/api/", "/metrics")
"""Nothing below these without a key (or, where there is none, from this machine)."""
OPEN = ("/api/v1/openapi.json",)
LONGEST_PATH = 1_000
LONGEST_PAUSE = 20.0
"""Seconds a body may stand still: a sender who never ends must not hold a place for ever."""

HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
"""Set where an answer does not set its own."""


class Gate:
    """The outermost layer: size, host, key, room for one more; then headers, log line and metrics."""

    def __init__(self, app: ASGIApp, context: Context) -> None:
        self._app, self._context = app, context
        self._loopback = context.settings.loopback
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        state = scope.setdefault("state", {})
        request_id = state["request_id"] = secrets.token_hex(8)
        answered = _Answered(send, request_id)
        counted = False
        try:
            headers = Headers(scope=scope)
            self._check_room(scope)
            self._running += 1
            counted = True
            check_path(scope)
            check_host(headers, scope, self._loopback)
            check_length(headers, self._context.settings.max_body_bytes)
            if is_guarded(scope["path"]):
                state["principal"] = await identify(self._context, scope, headers)
            await self._app(scope, _bounded(receive, self._context.settings.max_body_bytes), answered)
        except HTTPException as error:
            await self._refuse(
                problem(error.status_code, error.detail, headers=error.headers), scope, receive, answered
            )
        except (ServiceError, StoreError) as error:
            await self._refuse(refusal(error, request_id), scope, receive, answered)
        except Exception as error:  # whatever it is, the answer holds nothing of it
            await self._refuse(defect(error, request_id), scope, receive, answered)
        finally:
            self._running -= counted
            self._tell(scope, answered, time.perf_counter() - began)

    def _check_room(self, scope: Scope) -> None:
        most = self._context.settings.max_requests
        if self._running >= most and scope["path"] not in ("/healthz", "/readyz"):
            raise BackPressureError(f"{most} requests are being answered already; send this one again in a second", 1.0)

    async def _refuse(self, response: Response, scope: Scope, receive: Receive, answered: _Answered) -> None:
        if answered.status == 0:
            await response(scope, receive, answered)
        else:  # too late to say anything: cut the answer short, so that nobody takes it for whole
            raise ConnectionAbortedError("the answer broke off after it had begun")

    def _tell(self, scope: Scope, answered: _Answered, seconds: float) -> None:
        route = getattr(scope.get("route"), "path_format", "other")
        principal: Principal | None = scope["state"].get("principal")
        self._context.metrics.observe(_method(scope), route, answered.status, seconds)
        level = logging.WARNING if answered.status >= 500 else logging.DEBUG if route == "/healthz" else logging.INFO
        if log.isEnabledFor(level):
            extra: dict[str, Any] = {
                "request_id": answered.request_id,
                "method": _method(scope),
                "route": route,
                "status": answered.status,
                "milliseconds": round(1_000 * seconds, 1),
                "actor": principal.actor if principal else None,
                "monitor": scope.get("path_params", {}).get("name") if answered.status < 400 else None,
            }
            log.log(level, "answered", extra=extra)


def _method(scope: Scope) -> str:
    method: str = scope["method"]
    return method if method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS") else "other"


class _Answered:
    """The way out: adds the headers, and remembers the status."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send, self.request_id, self.status = send, request_id, 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers["X-Request-ID"] = self.request_id
        await self._send(message)


def is_guarded(path: str) -> bool:
    """Whether a key is needed there."""
    return path.startswith(GUARDED) and path not in OPEN


def check_path(scope: Scope) -> None:
    """No address of ours is that long, and none holds what is no text."""
    path: str = scope["path"]
    if len(path) > LONGEST_PATH or "\x00" in path or len(scope["query_string"]) > 4 * LONGEST_PATH:
        raise Problem(404, "nothing lives at this address; see /api/v1/openapi.json for what does")


def check_length(headers: Headers, most: int) -> None:
    """Refuse a body by its announced size, before any of it is read."""
    length = headers.get("content-length")
    if length is not None and length.isdecimal() and int(length[:20]) > most:
        raise _too_large(most)


def _too_large(most: int) -> Problem:
    return Problem(413, f"the body is larger than {most} bytes; send smaller batches", headers={"Connection": "close"})


def _bounded(receive: Receive, most: int) -> Receive:
    """The way in, cut off at `most` bytes (a body may come without announcing its size) and after a while."""
    left, whole = most, False

    async def bounded() -> Message:
        nonlocal left, whole
        if whole:  # what comes now is only news of a closed connection, for which one may wait for hours
            return await receive()
        try:
            async with asyncio.timeout(LONGEST_PAUSE):
                message = await receive()
        except TimeoutError as error:
            raise Problem(
                408,
                f"the body paused for more than {LONGEST_PAUSE:.0f} seconds; send it again in one go",
                headers={"Connection": "close"},
            ) from error
        if message["type"] == "http.request":
            left -= len(message.get("body", b""))
            whole = not message.get("more_body", False)
            if left < 0:
                raise _too_large(most)
        return message

    return bounded


def check_host(headers: Headers, scope: Scope, loopback: bool) -> None:
    """On loopback, answer only under this machine's own names: a page elsewhere may point its name at us."""
    if not loopback:
        return
    host = headers.get("host", "").rpartition("@")[2]
    name = host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]
    if name.lower() not in HOSTS_OF_THIS_MACHINE and not _is_loopback_address(name):
        raise Problem(421, "the service listens on this machine only; ask it under http://127.0.0.1")
    origin = headers.get("origin")
    if origin is not None and scope["method"] not in ("GET", "HEAD", "OPTIONS") and not _same(origin, host):
        raise Problem(403, "this request comes from another site's page; send it from a program or from our own page")


def _is_loopback_address(name: str) -> bool:
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def _same(origin: str, host: str) -> bool:
    return origin.partition("://")[2] == host


async def identify(context: Context, scope: Scope, headers: Headers) -> Principal:
    """Who asks: by key, by the page's session, or this machine itself where no key exists."""
    access: Access = context.access
    token = bearer(headers)
    if token is None and context.session is not None:
        session = await run_in_threadpool(context.session, HTTPConnection(scope))
        if session is not None:
            return session
    principal = access.recall(token)
    if principal is None:
        client = scope.get("client")
        principal = await run_in_threadpool(access.authenticate, token, client[0] if client else "")
    if principal == LOOPBACK and ("x-forwarded-for" in headers or "forwarded" in headers):
        raise UnauthorisedError("requests through a proxy need an API key; create one with POST /api/v1/keys")
    return principal


def bearer(headers: Headers) -> str | None:
    """The key of the request, if it brings one."""
    given = headers.get("authorization")
    if given is None:
        return None
    scheme, _, token = given.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise UnauthorisedError("the Authorization header is not of the form: Bearer dj_...")
    return token.strip()
