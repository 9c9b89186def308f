"""What a monitor knows: verdict, evidence, its course over time, the log, costs and conditions."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from driftjudge.service.api.bodies import StrictRoute
from driftjudge.service.api.context import READS, AfterSeq, Ctx, Limit, in_thread, reply
from driftjudge.service.api.given import (
    condition_shape,
    costs_shape,
    event_shape,
    evidence_shape,
    trace_shape,
    verdict_shape,
)
from driftjudge.service.api.monitors import Named
from driftjudge.service.wire.reading import (
    ConditionList,
    CostsShape,
    EventPage,
    EvidenceShape,
    TraceShape,
    VerdictShape,
)

router = APIRouter(prefix="/api/v1/monitors/{name}", tags=["reading"], route_class=StrictRoute, dependencies=[READS])


@router.get("/verdict", response_model=VerdictShape)
async def verdict(name: Named, context: Ctx) -> Response:
    """Who drifted, as far as the evidence goes, with the error rate in force."""
    return reply(verdict_shape(await in_thread(context.service.verdict, name)))


@router.get("/evidence", response_model=EvidenceShape)
async def evidence(name: Named, context: Ctx) -> Response:
    """Everything behind the verdict, at the current position."""
    return reply(evidence_shape(await in_thread(context.service.evidence, name)))


@router.get("/trace", response_model=TraceShape)
async def trace(name: Named, context: Ctx) -> Response:
    """The evidence over time, at a bounded number of positions."""
    return reply(trace_shape(await in_thread(context.service.trace, name)))


@router.get("/events", response_model=EventPage)
async def events(name: Named, context: Ctx, after: AfterSeq = 0, limit: Limit = 100) -> Response:
    """The append-only log, page by page: folding it gives the monitor's state."""
    page = await in_thread(context.service.events, name, after=after, limit=limit)
    following = page[-1].seq if len(page) == limit else None
    return reply(EventPage(events=[event_shape(event) for event in page], next=following))


@router.get("/costs", response_model=CostsShape)
async def costs(
    name: Named,
    context: Ctx,
    days: Annotated[int, Query(ge=1, le=366, description="How far back.")] = 31,
) -> Response:
    """Calls and dollars."""
    return reply(costs_shape(await in_thread(context.service.costs, name, days=days)))


@router.get("/conditions", response_model=ConditionList)
async def conditions(
    name: Named,
    context: Ctx,
    open_only: Annotated[bool, Query(description="Leave out those that are over.")] = True,
    limit: Limit = 100,
) -> Response:
    """What keeps the monitor from seeing: a dead judge, a silent stream, a spent budget; newest first."""
    found = await in_thread(context.service.conditions, name, open_only=open_only, limit=limit)
    return reply(ConditionList(conditions=[condition_shape(condition) for condition in found]))
