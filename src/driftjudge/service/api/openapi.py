"""The OpenAPI document: generated from routes and shapes, with access and errors told once for all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from driftjudge.service.api.gate import is_guarded
from driftjudge.service.api.problems import MEDIA_TYPE
from driftjudge.service.wire.shapes import ProblemShape

DESCRIPTION = """Find out, with a stated error rate, whether your system or its LLM judge drifted.

Create a monitor, give it anchors and a calibration, then send every item. Whatever was answered with a 2xx is durable.
Send an item again and you get the same answer; send another body under the same id or Idempotency-Key and you get a
409. Every error is `application/problem+json` (RFC 9457) with a sentence that says what to do; a 429 or 503 carries
Retry-After. Scores lie in [0, 1]; a judge that gave none is a failure, never a score.
"""

_ERRORS = {
    "400": "The body is not JSON.",
    "401": "No API key, or one that opens nothing.",
    "403": "The API key does not open this.",
    "404": "Nobody knows it.",
    "405": "This address does not take that method.",
    "408": "The body came too slowly.",
    "409": "It does not fit what is there: another body under the same id or key, or the wrong moment.",
    "413": "The body is too large.",
    "415": "The body is not declared as JSON.",
    "421": "The service listens on this machine only.",
    "422": "A value cannot be right.",
    "429": "Too much at once; come back after Retry-After seconds.",
    "500": "A defect of the service; the log holds the incident.",
    "503": "The database or another process is in the way; come back after Retry-After seconds.",
}
_ABOUT_BODIES = ("400", "408", "413", "415")
_RETRY = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}}}
_EXAMPLE = {
    "type": "urn:driftjudge:problem:conflict",
    "title": "This does not fit what is there",
    "status": 409,
    "detail": "item 'i-1' was accepted before with another body; give every item an id of its own",
}


def described(app: FastAPI) -> Callable[[], dict[str, Any]]:
    """The function that makes the document, once."""
    made: dict[str, Any] = {}

    def document() -> dict[str, Any]:
        if not made:
            made.update(_document(app))
        return made

    return document


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(title=app.title, version=app.version, description=DESCRIPTION, routes=app.routes)
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemas["Problem"] = {**ProblemShape.model_json_schema(), "title": "Problem", "examples": [_EXAMPLE]}
    components["securitySchemes"] = {
        "key": {
            "type": "http",
            "scheme": "bearer",
            "description": "An API key. On loopback none is needed until the first one is created.",
        }
    }
    for path, operations in document["paths"].items():
        for operation in operations.values():
            if is_guarded(path):
                operation["security"] = [{"key": []}]
            _add_errors(operation, is_guarded(path))
    return document


def _add_errors(operation: dict[str, Any], guarded: bool) -> None:
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for code, description in _ERRORS.items():
        if code in _ABOUT_BODIES and "requestBody" not in operation:
            continue
        if not guarded and code not in ("405", "421", "429", "500"):
            continue
        told: dict[str, Any] = {"description": description, "content": content}
        if code in ("429", "503"):
            told["headers"] = _RETRY
        operation["responses"][code] = told
