"""A short way for the requests that come by the thousand: the same checks, without the framework's price for them.

Whatever is not plainly right goes the usual way, so that there is one place where requests are refused.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from pydantic import BaseModel, ValidationError

from driftjudge.service.access import Principal
from driftjudge.service.api.bodies import StrictRoute
from driftjudge.service.api.context import Context, bound
from driftjudge.service.values import Idempotency

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
KEY = re.compile(r"[!-~]{1,255}")

Take = Callable[[Context, str, Any, Idempotency | None], Awaitable[Response]]

_ways: dict[Callable[..., Any], tuple[type[BaseModel], Take]] = {}


def quickly(shape: type[BaseModel], take: Take) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark an endpoint that only needs the monitor's name, a body of this shape and the role ingest."""

    def mark(endpoint: Callable[..., Any]) -> Callable[..., Any]:
        _ways[endpoint] = shape, take
        return endpoint

    return mark


class QuickRoute(StrictRoute):
    """A route whose marked endpoints take the short way."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The short way, and behind it the usual one."""
        usual = super().get_route_handler()
        if self.endpoint not in _ways:
            return usual
        shape, take = _ways[self.endpoint]
        read = shape.__pydantic_validator__.validate_json

        async def quick(request: Request) -> Response:
            headers, name = request.headers, request.path_params["name"]
            principal: Principal = request.state.principal
            key = headers.get("idempotency-key")
            plain = (
                headers.get("content-type") == "application/json"
                and not request.scope["query_string"]
                and "content-encoding" not in headers
                and NAME.fullmatch(name) is not None
                and principal.may("ingest", name)
                and (key is None or KEY.fullmatch(key) is not None)
            )
            if not plain:
                return await usual(request)
            body = await request.body()
            try:
                taken = read(body)
            except ValidationError:
                return await usual(request)
            idempotency = None if key is None else bound(request, principal, key, body)
            return await take(request.app.state.context, name, taken, idempotency)

        return quick
