"""For machines that watch the watcher: liveness, readiness, metrics."""

from __future__ import annotations

import json

from fastapi import APIRouter
from starlette.responses import Response

from driftjudge.service.access import ForbiddenError
from driftjudge.service.api.context import Asks, Ctx, in_thread
from driftjudge.service.metrics import MEDIA_TYPE

router = APIRouter(tags=["probes"])


@router.get("/healthz", response_class=Response)
async def healthz() -> Response:
    """The process lives."""
    return Response('{"status":"alive"}', media_type="application/json")


@router.get("/readyz", response_class=Response)
async def readyz(context: Ctx) -> Response:
    """The service can take items: 200, or 503 with the reason."""
    health = await in_thread(context.service.health)
    body = {"ready": health.ready, "detail": health.detail}
    return Response(json.dumps(body), 200 if health.ready else 503, media_type="application/json")


@router.get("/metrics", response_class=Response)
async def metrics(context: Ctx, principal: Asks) -> Response:
    """Metrics in the Prometheus text format; needs a key with the role read for all monitors, where keys are in use."""
    if not principal.may("read"):
        raise ForbiddenError("metrics need the role read for all monitors; give Prometheus such a key")
    return Response(await in_thread(context.metrics.text), media_type=MEDIA_TYPE)
