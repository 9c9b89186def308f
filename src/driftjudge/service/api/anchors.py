"""Anchors and calibration: what a monitor starts from, and starts anew from."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from driftjudge.service.api.bodies import StrictRoute
from driftjudge.service.api.context import READS, Administers, Ctx, Limit, Once, in_thread, reply
from driftjudge.service.api.given import anchors_shape, monitor_shape
from driftjudge.service.api.monitors import Named
from driftjudge.service.api.taken import anchors_of, calibration_of
from driftjudge.service.wire.monitors import AnchorUpload, CalibrationUpload, MonitorShape, Reanchoring
from driftjudge.service.wire.reading import AnchorsShape

router = APIRouter(prefix="/api/v1/monitors/{name}", tags=["anchors and calibration"], route_class=StrictRoute)


@router.put("/anchors", response_model=MonitorShape)
async def upload_anchors(
    name: Named, body: AnchorUpload, context: Ctx, principal: Administers, idempotency: Once
) -> Response:
    """Upload the anchor set of a draft, or the next one of a running monitor before it is re-anchored."""
    anchors, passes = anchors_of(body.anchors)
    info = await in_thread(
        context.service.set_anchors,
        name,
        anchors,
        passes,
        resolution=body.resolution,
        by=principal.actor,
        idempotency=idempotency,
    )
    return reply(monitor_shape(info))


@router.post("/anchors/freeze", response_model=MonitorShape)
async def freeze_anchors(name: Named, context: Ctx, principal: Administers, idempotency: Once) -> Response:
    """Freeze items and labels: from here on nobody can change them, and `frozen` identifies them."""
    info = await in_thread(context.service.freeze_anchors, name, by=principal.actor, idempotency=idempotency)
    return reply(monitor_shape(info))


@router.get("/anchors", response_model=AnchorsShape, dependencies=[READS])
async def anchors_report(
    name: Named,
    context: Ctx,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    limit: Limit = 100,
    texts: Annotated[bool, Query(description="With the anchors' texts.")] = False,
) -> Response:
    """How the judge stands to the humans and to itself, anchor by anchor, largest disagreement first."""
    report = await in_thread(context.service.anchors_report, name, offset=offset, limit=limit)
    return reply(anchors_shape(report, texts=texts))


@router.post("/calibration", response_model=MonitorShape)
async def calibrate(
    name: Named, body: CalibrationUpload, context: Ctx, principal: Administers, idempotency: Once
) -> Response:
    """Give a draft its bars from items of a healthy time, and start it; freeze its anchors before."""
    info = await in_thread(
        context.service.calibrate,
        name,
        calibration_of(body.items, await context.rubrics(name)),
        skip_low_bars=body.skip_low_bars,
        by=principal.actor,
        idempotency=idempotency,
    )
    return reply(monitor_shape(info))


@router.post("/reanchor", response_model=MonitorShape)
async def reanchor(name: Named, body: Reanchoring, context: Ctx, principal: Administers, idempotency: Once) -> Response:
    """Accept the current judge: new baseline passes and new bars, a new epoch for both families, open alarms close."""
    info = await in_thread(
        context.service.reanchor,
        name,
        calibration_of(body.items, await context.rubrics(name)),
        skip_low_bars=body.skip_low_bars,
        by=principal.actor,
        idempotency=idempotency,
    )
    return reply(monitor_shape(info))
