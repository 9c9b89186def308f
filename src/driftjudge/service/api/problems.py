"""One shape for every error (RFC 9457, application/problem+json), with a sentence that says what to do."""

from __future__ import annotations

import json
import logging
import math
import re
import secrets
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from driftjudge.judges.errors import JudgeError
from driftjudge.monitor.errors import (
    BufferFullError,
    DuplicateError,
    EpochError,
    MonitorError,
    StoppedError,
    UnaskedError,
)
from driftjudge.service.access import ForbiddenError, UnauthorisedError, UnknownKeyError
from driftjudge.service.errors import (
    BackPressureError,
    BadRequestError,
    ClosedError,
    ConflictError,
    ElsewhereError,
    ServiceError,
    UnavailableError,
    UnknownAlarmError,
    UnknownMonitorError,
)
from driftjudge.store.errors import KeyReusedError, StoreError
from driftjudge.store.errors import UnavailableError as StoreUnavailableError

MEDIA_TYPE = "application/problem+json"
LONGEST_DETAIL = 1_000
MOST_ERRORS = 20
"""Faults of one request that are told; a thousand of them help nobody."""

_CODES: Sequence[tuple[type[Exception], int]] = (
    (UnauthorisedError, 401),
    (ForbiddenError, 403),
    (UnknownMonitorError, 404),
    (UnknownAlarmError, 404),
    (UnknownKeyError, 404),
    (ConflictError, 409),
    (BadRequestError, 422),
    (BackPressureError, 429),
    (ElsewhereError, 503),
    (UnavailableError, 503),
    (ClosedError, 503),
    (KeyReusedError, 409),
    (StoreUnavailableError, 503),
    (DuplicateError, 409),
    (UnaskedError, 409),
    (EpochError, 409),
    (StoppedError, 409),
    (BufferFullError, 429),
    (MonitorError, 422),
    (JudgeError, 422),
    (ServiceError, 500),
    (StoreError, 500),
)

_KINDS: Mapping[int, tuple[str, str]] = {
    400: ("bad-request", "The request cannot be read"),
    401: ("unauthorised", "An API key is needed"),
    403: ("forbidden", "This API key does not open that"),
    404: ("not-found", "Not found"),
    405: ("method-not-allowed", "Method not allowed"),
    408: ("too-slow", "The request came too slowly"),
    409: ("conflict", "This does not fit what is there"),
    411: ("length-required", "Length required"),
    413: ("too-large", "The request is too large"),
    415: ("not-json", "Unsupported content type"),
    421: ("wrong-host", "This host is not served here"),
    422: ("invalid", "The request is not valid"),
    429: ("busy", "Too many requests"),
    500: ("defect", "Something broke on our side"),
    503: ("unavailable", "Unavailable for now"),
}

_ADVICE: Mapping[int, str] = {
    404: "nothing lives at this address; see /api/v1/openapi.json for what does",
    405: "this address does not take that method; see the Allow header for those it takes",
}

log = logging.getLogger("driftjudge.api")


class Problem(HTTPException):
    """An error that is the transport's own: the size, the type or the shape of a request."""

    def __init__(self, status: int, detail: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, detail, dict(headers) if headers else None)


def problem(
    status: int,
    detail: str,
    *,
    errors: Sequence[Mapping[str, str]] = (),
    incident: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The answer for an error. Its `type` is a URN: an identifier, not an address to visit."""
    kind, title = _KINDS.get(status, ("http-error", HTTPStatus(status).phrase))
    body: dict[str, Any] = {
        "type": f"urn:driftjudge:problem:{kind}",
        "title": title,
        "status": status,
        "detail": detail if len(detail) <= LONGEST_DETAIL else detail[: LONGEST_DETAIL - 3] + "...",
    }
    if errors:
        body["errors"] = list(errors)
    if incident:
        body["incident"] = incident
    # Escaped, because a detail may quote a text that UTF-8 cannot carry.
    return Response(json.dumps(body, ensure_ascii=True), status, dict(headers or {}), MEDIA_TYPE)


def status_of(error: Exception) -> int:
    """The status for an error of the service or of the monitor."""
    return next(code for kind, code in _CODES if isinstance(error, kind))


def defect(error: BaseException, request_id: str | None) -> Response:
    """The answer for a mistake of ours: an incident number that stands in the log too, and nothing of the error."""
    incident = secrets.token_hex(6)
    log.error("request failed", exc_info=error, extra={"incident": incident, "request_id": request_id})
    return problem(
        500, f"the request could not be answered; look for incident {incident} in the service's log", incident=incident
    )


def install(app: FastAPI) -> None:
    """Teach the app to tell every error in this one shape."""
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(ServiceError, _on_refusal)
    app.add_exception_handler(MonitorError, _on_refusal)
    app.add_exception_handler(StoreError, _on_refusal)
    app.add_exception_handler(JudgeError, _on_refusal)


def _on_http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = error.detail if isinstance(error, Problem) else _ADVICE.get(error.status_code, str(error.detail))
    return problem(error.status_code, detail, headers=error.headers)


def _on_refusal(request: Request, error: Exception) -> Response:
    return refusal(error, getattr(request.state, "request_id", None))


def refusal(error: Exception, request_id: str | None) -> Response:
    """The answer for an error of the service or of the monitor."""
    status = status_of(error)
    if status == 500:
        return defect(error, request_id)
    headers = {"WWW-Authenticate": 'Bearer realm="driftjudge"'} if status == 401 else {}
    wait = getattr(error, "retry_after", None)
    if wait is None and status in (429, 503):
        wait = 1.0
    if wait is not None:
        headers["Retry-After"] = str(max(1, math.ceil(wait)))
    return problem(status, str(error), headers=headers)


def _on_invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    if any(fault["type"] == "json_invalid" for fault in found):
        where = found[0]["loc"][-1]
        return problem(
            400, f"the body is not JSON: {_reason(found[0])} at character {where}; mend it and send it again"
        )
    faults = [{"where": _where(fault["loc"]), "what": _reason(fault)} for fault in found[:MOST_ERRORS]]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return problem(422, f"{faults[0]['where']}: {faults[0]['what']}{more}; mend it and send it again", errors=faults)


def _where(loc: Sequence[Any]) -> str:
    """The place of a fault, for example `body.items[3].scores`."""
    path = ""
    for part in loc:
        path += f"[{part}]" if isinstance(part, int) else f".{_shown(str(part))}" if path else _shown(str(part))
    return path or "request"


def _shown(name: str) -> str:
    return re.sub(r"[^\w.-]", "?", name)[:64]


def _reason(fault: Mapping[str, Any]) -> str:
    """What is wrong, without the input: it may be the text of an item."""
    if fault["type"] == "json_invalid":
        return str(fault.get("ctx", {}).get("error", "unreadable"))
    message = str(fault["msg"])
    return message.removeprefix("Value error, ")[:300]
