"""Monitors: create, configure, look at, archive."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from driftjudge.service.access import ForbiddenError, Principal
from driftjudge.service.api.bodies import StrictRoute
from driftjudge.service.api.context import READS, Administers, Asks, Ctx, Limit, Once, in_thread, reply
from driftjudge.service.api.given import detail_shape, monitor_shape
from driftjudge.service.api.taken import config_of, settings_of
from driftjudge.service.errors import BadRequestError, UnknownMonitorError
from driftjudge.service.runtime import Service
from driftjudge.service.values import LONGEST_NAME, MonitorInfo
from driftjudge.service.wire.monitors import (
    MonitorDetailShape,
    MonitorPage,
    MonitorShape,
    NewMonitor,
    SettingsShape,
)
from driftjudge.service.wire.shapes import MonitorName

router = APIRouter(prefix="/api/v1/monitors", tags=["monitors"], route_class=StrictRoute)

Named = Annotated[MonitorName, Path(description="The monitor's name.")]

NEEDS_READ = "this needs the role read; ask an administrator for such a key"

KEY_VARIABLE = re.compile(r"(?!DRIFTJUDGE_)[A-Z][A-Z0-9_]*_API_KEY")
"""Variables a judge may take its key from: nobody gets to send our other secrets to an address of theirs."""


@router.post("", status_code=201, response_model=MonitorShape)
async def create_monitor(body: NewMonitor, context: Ctx, principal: Administers, idempotency: Once) -> Response:
    """Create a monitor. It is a draft until it is calibrated."""
    check_judges(body.settings, principal)
    info = await in_thread(
        context.service.create_monitor,
        body.name,
        config_of(body.config),
        settings_of(body.settings),
        by=principal.actor,
        idempotency=idempotency,
    )
    return reply(monitor_shape(info), 201, {"Location": f"/api/v1/monitors/{info.name}"})


@router.get("", response_model=MonitorPage)
async def list_monitors(
    context: Ctx,
    principal: Asks,
    after: Annotated[
        str, Query(max_length=LONGEST_NAME, pattern=r"^[A-Za-z0-9._-]*$", description="Go on after this name.")
    ] = "",
    limit: Limit = 100,
    archived: Annotated[bool, Query(description="Show archived ones too.")] = False,
) -> Response:
    """All monitors this key may read, by name."""
    if principal.monitors is None:
        if not principal.may("read"):
            raise ForbiddenError(NEEDS_READ)
        page = await in_thread(context.service.monitors, after=after, limit=limit, archived=archived)
        following = page[-1].name if len(page) == limit else None
        return reply(MonitorPage(monitors=[monitor_shape(info) for info in page], next=following))
    names = sorted(name for name in principal.monitors if name > after)
    if not principal.may("read", principal.monitors[0]):
        raise ForbiddenError(NEEDS_READ)
    known = await in_thread(_some, context.service, names[:limit])
    shown = [monitor_shape(info) for info in known if archived or info.state != "archived"]
    return reply(MonitorPage(monitors=shown, next=names[limit - 1] if len(names) > limit else None))


@router.get("/{name}", response_model=MonitorDetailShape, dependencies=[READS])
async def get_monitor(name: Named, context: Ctx) -> Response:
    """One monitor with its configuration."""
    return reply(detail_shape(await in_thread(context.service.monitor, name)))


@router.put("/{name}/settings", response_model=MonitorDetailShape)
async def change_settings(
    name: Named, body: SettingsShape, context: Ctx, principal: Administers, idempotency: Once
) -> Response:
    """Replace what belongs to a monitor besides its statistics: judges, ceilings, retention."""
    check_judges(body, principal)
    detail = await in_thread(
        context.service.change_settings, name, settings_of(body), by=principal.actor, idempotency=idempotency
    )
    return reply(detail_shape(detail))


@router.delete("/{name}", response_model=MonitorShape)
async def archive_monitor(name: Named, context: Ctx, principal: Administers, idempotency: Once) -> Response:
    """Archive a monitor: it takes in nothing more, and what it knew stays readable."""
    info = await in_thread(context.service.archive_monitor, name, by=principal.actor, idempotency=idempotency)
    return reply(monitor_shape(info))


def check_judges(settings: SettingsShape, principal: Principal) -> None:
    """Judges spend money and are given keys: only administrators of everything name them, and only proper keys."""
    for role, judge in (("cheap", settings.judging.cheap), ("strong", settings.judging.strong)):
        if judge is None:
            continue
        if principal.monitors is not None:
            raise ForbiddenError("only an admin key for all monitors may configure judges; ask for such a key")
        variable = judge.get("api_key_env")
        if variable is not None and not (isinstance(variable, str) and KEY_VARIABLE.fullmatch(variable)):
            raise BadRequestError(
                f"api_key_env of the {role} judge is not a name like OPENAI_API_KEY; name the environment variable "
                "of the service that holds the key, ending in _API_KEY"
            )


def _some(service: Service, names: Sequence[str]) -> list[MonitorInfo]:
    """The monitors of these names that exist."""
    found = []
    for name in names:
        with suppress(UnknownMonitorError):
            found.append(service.monitor(name).info)
    return found
