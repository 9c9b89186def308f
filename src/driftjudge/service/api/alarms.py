"""Alarms: look at them, take note, close them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from driftjudge.service.api.bodies import StrictRoute
from driftjudge.service.api.context import READS, Administers, Ctx, Limit, Once, in_thread, reply
from driftjudge.service.api.given import alarm_shape
from driftjudge.service.api.monitors import Named
from driftjudge.service.api.taken import calibration_of
from driftjudge.service.wire.monitors import Acknowledgement, Closing
from driftjudge.service.wire.reading import AlarmPage, AlarmShape

router = APIRouter(prefix="/api/v1/monitors/{name}", tags=["alarms"], route_class=StrictRoute)


@router.get("/alarms", response_model=AlarmPage, dependencies=[READS])
async def alarms(
    name: Named,
    context: Ctx,
    before: Annotated[int | None, Query(ge=1, le=2**53, description="Go on before this alarm.")] = None,
    open_only: Annotated[bool, Query(description="Leave out those that are over.")] = False,
    limit: Limit = 100,
) -> Response:
    """Alarms with their stories, newest first."""
    await in_thread(context.service.monitor, name)
    page = await in_thread(context.service.alarms, name, open_only=open_only, before=before, limit=limit)
    following = page[-1].id if len(page) == limit else None
    return reply(AlarmPage(alarms=[alarm_shape(alarm) for alarm in page], next=following))


@router.post("/acknowledge", response_model=AlarmShape)
async def acknowledge(
    name: Named, body: Acknowledgement, context: Ctx, principal: Administers, idempotency: Once
) -> Response:
    """Take note of a final system verdict: the main family starts a new epoch, with new bars where items are given."""
    alarm = await in_thread(
        context.service.acknowledge,
        name,
        note=body.note,
        calibration=calibration_of(body.items, await context.rubrics(name)),
        by=principal.actor,
        idempotency=idempotency,
    )
    return reply(alarm_shape(alarm))


@router.post("/alarms/{alarm}/close", response_model=AlarmShape)
async def close_alarm(
    name: Named,
    alarm: Annotated[int, Path(ge=1, le=2**53, description="The alarm's number.")],
    body: Closing,
    context: Ctx,
    principal: Administers,
    idempotency: Once,
) -> Response:
    """Close an alarm that was acknowledged: the incident is over, and the alert sinks are told so."""
    closed = await in_thread(
        context.service.close_alarm, name, alarm, note=body.note, by=principal.actor, idempotency=idempotency
    )
    return reply(alarm_shape(closed))
