"""Keys, the audit trail, and who you are."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from driftjudge.service.api.bodies import StrictRoute
from driftjudge.service.api.context import ADMINISTERS, Administers, Asks, Context, Ctx, Limit, in_thread, reply
from driftjudge.service.wire.access import AuditPage, AuditShape, CreatedKey, KeyList, KeyShape, Me, NewKey
from driftjudge.service.wire.shapes import moment
from driftjudge.store import audit
from driftjudge.store.keys import ApiKey

router = APIRouter(prefix="/api/v1", tags=["access"], route_class=StrictRoute)


@router.get("/me", response_model=Me)
async def me(principal: Asks) -> Response:
    """Who you are to the service, and what you may do."""
    monitors = None if principal.monitors is None else list(principal.monitors)
    return reply(Me(actor=principal.actor, role=principal.role, monitors=monitors))


@router.post("/keys", status_code=201, response_model=CreatedKey)
async def create_key(body: NewKey, context: Ctx, principal: Administers) -> Response:
    """Create an API key. Its text is shown this once; from the first key on, nothing works without one."""
    row, text = await in_thread(
        context.access.create, label=body.label, role=body.role, monitors=body.monitors, by=principal.actor
    )
    return reply(CreatedKey(**vars(_shape(row)), key=text), 201)


@router.get("/keys", response_model=KeyList, dependencies=[ADMINISTERS])
async def list_keys(context: Ctx) -> Response:
    """Every key, revoked ones too, without its text."""
    return reply(KeyList(keys=[_shape(row) for row in await in_thread(context.access.rows)]))


@router.delete("/keys/{key_id}", status_code=204, response_class=Response)
async def revoke_key(
    key_id: Annotated[str, Path(pattern=r"^[0-9a-f]{1,32}$", max_length=32, description="The key's id.")],
    context: Ctx,
    principal: Administers,
) -> Response:
    """Revoke a key; other processes on the same store notice within seconds."""
    await in_thread(context.access.revoke, key_id, by=principal.actor)
    return Response(status_code=204)


@router.get("/audit", response_model=AuditPage, dependencies=[ADMINISTERS])
async def audit_trail(
    context: Ctx,
    before: Annotated[int | None, Query(ge=1, le=2**53, description="Go on before this act.")] = None,
    limit: Limit = 100,
) -> Response:
    """Who did which administrative act, newest first."""
    page = await in_thread(_acts, context, before, limit)
    following = page[-1].id if len(page) == limit else None
    return reply(AuditPage(acts=page, next=following))


def _acts(context: Context, before: int | None, limit: int) -> list[AuditShape]:
    with context.service.store.read() as tx:
        return [
            AuditShape(
                id=act.id,
                at=moment(act.at),
                by=act.actor,
                act=act.action,
                monitor=act.monitor,
                detail=json.loads(json.dumps(dict(act.detail))),
            )
            for act in audit.page(tx, before=before, limit=limit)
        ]


def _shape(row: ApiKey) -> KeyShape:
    return KeyShape(
        id=row.id,
        label=row.name,
        role="admin" if "admin" in row.roles else "read" if "read" in row.roles else "ingest",
        monitors=None if row.monitors is None else list(row.monitors),
        created_at=moment(row.created_at),
        revoked_at=moment(row.revoked_at),
    )
