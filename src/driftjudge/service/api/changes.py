"""Changes as they happen: server-sent events, resumed by Last-Event-ID."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header
from starlette.responses import Response, StreamingResponse

from driftjudge.service.access import ForbiddenError, Principal
from driftjudge.service.api.bodies import StrictRoute
from driftjudge.service.api.context import Asks, Context, Ctx, Reads, in_thread
from driftjudge.service.api.monitors import NEEDS_READ, Named
from driftjudge.service.values import Change

router = APIRouter(prefix="/api/v1", tags=["changes"], route_class=StrictRoute)

_EXAMPLE = 'retry: 2000\n\nid: 17\nevent: attributed\ndata: {"id":17,"monitor":"support-bot","kind":"attributed"}\n\n'
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events whose data is a Change, comments as heartbeats.",
        "content": {"text/event-stream": {"schema": {"type": "string"}, "example": _EXAMPLE}},
    }
}

LastEventId = Annotated[
    int | None,
    Header(ge=0, le=2**53, description="Go on after this event; browsers send it by themselves."),
]


@router.get("/changes", response_class=StreamingResponse, responses=_RESPONSES)
async def all_changes(context: Ctx, principal: Asks, last_event_id: LastEventId = None) -> Response:
    """Verdicts, alarms and conditions of all monitors this key may read, as they change."""
    if not principal.may("read", principal.monitors[0] if principal.monitors else None):
        raise ForbiddenError(NEEDS_READ)
    return _stream(context, principal, None, last_event_id)


@router.get("/monitors/{name}/changes", response_class=StreamingResponse, responses=_RESPONSES)
async def changes(name: Named, context: Ctx, principal: Reads, last_event_id: LastEventId = None) -> Response:
    """Verdicts, alarms and conditions of one monitor, as they change."""
    await in_thread(context.service.monitor, name)
    return _stream(context, principal, name, last_event_id)


def _stream(context: Context, principal: Principal, name: str | None, last: int | None) -> Response:
    def wants(change: Change) -> bool:
        return (name is None or change.monitor == name) and principal.may("read", change.monitor)

    lines = context.streams.open(wants, last, lambda: context.access.renewed(principal))
    return StreamingResponse(lines, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
