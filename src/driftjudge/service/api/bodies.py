"""Requests, read strictly: JSON and nothing else, finite numbers only, no parameter nobody knows."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from driftjudge.service.api.problems import Problem

_WITH_BODY = ("POST", "PUT", "PATCH")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise Problem(
            422, f"the body holds the number {text[:40]}, which is not finite; leave it out or send a failure"
        )
    return value


def _constant(text: str) -> float:
    raise Problem(422, f"the body holds {text}, which is not JSON; send a failure where there is no score")


_decoder = json.JSONDecoder(parse_float=_finite, parse_constant=_constant)


def parse(body: bytes) -> Any:
    """The JSON value of a body."""
    try:
        return _decoder.decode(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Problem(400, f"the body is not UTF-8 at byte {error.start}; send UTF-8") from error
    except RecursionError as error:
        raise Problem(400, "the body is nested too deeply; send it as the API describes it") from error
    except json.JSONDecodeError:
        raise
    except ValueError as error:  # a number of thousands of digits
        raise Problem(400, "the body holds a number that is too long to read; shorten it") from error


class StrictRequest(Request):
    """A request whose JSON is read by `parse`."""

    @classmethod
    def of(cls, request: Request) -> StrictRequest:
        """The same request, with the body where it was read already."""
        made = cls(request.scope, request.receive)
        if hasattr(request, "_body"):
            made._body = request._body
        return made

    async def json(self) -> Any:
        """The body's value."""
        if not hasattr(self, "_json"):
            self._json = parse(await self.body())
        return self._json


class StrictRoute(APIRoute):
    """A route that takes JSON and nothing else where it takes a body, and no unknown query parameter."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The usual handler behind the checks."""
        handler = super().get_route_handler()
        takes_body = self.body_field is not None
        known = [field.alias for field in self.dependant.query_params]

        async def strict(request: Request) -> Response:
            check_query(request, known)
            if takes_body and request.method in _WITH_BODY:
                check_content_type(request)
            return await handler(StrictRequest.of(request))

        return strict


def check_query(request: Request, known: Sequence[str]) -> None:
    """Refuse a parameter nobody reads: a misspelt one would silently do nothing."""
    if not request.scope["query_string"]:
        return
    for name in request.query_params:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(known) or 'none'}"
            raise Problem(422, f"unknown query parameter {name[:40]!r}; {hint}")


def check_content_type(request: Request) -> None:
    """Refuse what is not declared as JSON in UTF-8."""
    given = request.headers.get("content-type", "")
    kind, _, parameters = given.partition(";")
    charset = parameters.strip().lower().removeprefix("charset=").strip('"')
    if kind.strip().lower() != "application/json" or charset not in ("", "utf-8"):
        raise Problem(
            415,
            f"the content type is {given[:80]!r}; send JSON with the header Content-Type: application/json",
            headers={"Accept": "application/json"},
        )
    if request.headers.get("content-encoding", "identity") != "identity":
        raise Problem(415, "the body is compressed; send it plain", headers={"Accept-Encoding": "identity"})
