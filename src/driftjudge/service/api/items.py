"""The stream: items in, singly and in batches, and the scores of clients that judge themselves."""

from __future__ import annotations

import json
from collections.abc import Sequence

from fastapi import APIRouter
from starlette.responses import Response

from driftjudge.service.api.context import INGESTS, Context, Ctx, Once, in_thread, reply, settled
from driftjudge.service.api.given import item_answer, recorded_shape
from driftjudge.service.api.monitors import Named
from driftjudge.service.api.quick import QuickRoute, quickly
from driftjudge.service.api.taken import item_of, scores_of
from driftjudge.service.values import AnchorScoreIn, Idempotency, ItemOut, StrongIn
from driftjudge.service.wire.items import (
    ItemShape,
    ItemsShape,
    NewItem,
    NewItems,
    NewRescores,
    NewScores,
    RecordedShape,
    WantedShape,
)

router = APIRouter(prefix="/api/v1/monitors/{name}", tags=["stream"], route_class=QuickRoute, dependencies=[INGESTS])

MOST_WANTED = 1_000


def _answer(answer: object, outs: Sequence[ItemOut]) -> Response:
    """The answer is the same whether an item came for the first time or again; a header tells."""
    known = sum(out.duplicate for out in outs)
    headers = {"Driftjudge-Duplicates": str(known)} if known else None
    return Response(json.dumps(answer, separators=(",", ":")), 200, headers, "application/json")


async def take_item(context: Context, name: str, body: NewItem, idempotency: Idempotency | None) -> Response:
    """One item into the writer's queue; answered when it is durable."""
    item = item_of(body, await context.rubrics(name))
    outs = await settled(context.service.ingest_soon(name, [item], idempotency=idempotency))
    return _answer(item_answer(outs[0]), outs)


async def take_items(context: Context, name: str, body: NewItems, idempotency: Idempotency | None) -> Response:
    """The same for a batch."""
    rubrics = await context.rubrics(name)
    items = [item_of(item, rubrics) for item in body.items]
    outs = await settled(context.service.ingest_soon(name, items, idempotency=idempotency))
    return _answer({"items": [item_answer(out) for out in outs]}, outs)


@router.post("/items", response_model=ItemShape)
@quickly(NewItem, take_item)
async def post_item(name: Named, body: NewItem, context: Ctx, idempotency: Once) -> Response:
    """Take in one item; it is durable when this answers. The same item again gets the same answer."""
    return await take_item(context, name, body, idempotency)


@router.post("/items/batch", response_model=ItemsShape)
@quickly(NewItems, take_items)
async def post_items(name: Named, body: NewItems, context: Ctx, idempotency: Once) -> Response:
    """Take in up to 1,000 items, all or none, in the order given; they are durable when this answers."""
    return await take_items(context, name, body, idempotency)


@router.post("/scores", response_model=RecordedShape)
async def post_scores(name: Named, body: NewScores, context: Ctx, idempotency: Once) -> Response:
    """Strong scores of items that were asked for, where you call the strong judge yourself."""
    rubrics = await context.rubrics(name)
    scores = [StrongIn(s.id, scores_of(s.scores, rubrics, s.id), s.fingerprint) for s in body.scores]
    recorded = await in_thread(context.service.record_strong, name, scores, idempotency=idempotency)
    return reply(recorded_shape(recorded))


@router.post("/rescores", response_model=RecordedShape)
async def post_rescores(name: Named, body: NewRescores, context: Ctx, idempotency: Once) -> Response:
    """Re-scores of anchors that were asked for, where you call the strong judge yourself."""
    rubrics = await context.rubrics(name)
    scores = [AnchorScoreIn(s.id, scores_of(s.scores, rubrics, s.id), s.answer_id, s.fingerprint) for s in body.scores]
    recorded = await in_thread(context.service.record_anchors, name, scores, idempotency=idempotency)
    return reply(recorded_shape(recorded))


@router.get("/wanted", response_model=WantedShape)
async def wanted(name: Named, context: Ctx) -> Response:
    """What the monitor waits for now: items for the strong judge, and anchors to be re-scored."""
    items = await in_thread(context.service.wanted_strong, name, limit=MOST_WANTED)
    anchors = await in_thread(context.service.wanted_anchors, name)
    return reply(WantedShape(items=list(items), anchors=list(anchors[:MOST_WANTED])))
