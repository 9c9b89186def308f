"""Keys and the audit trail, as they travel."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from driftjudge.service.access import LONGEST_LABEL
from driftjudge.service.wire.shapes import Given, MonitorName, Taken

RoleName = Literal["ingest", "read", "admin"]


class NewKey(Taken):
    """A key to create."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"label": "ci", "role": "ingest", "monitors": ["support-bot"]}]}
    )

    label: Annotated[str, Field(min_length=1, max_length=LONGEST_LABEL, pattern=r"^[ -~]+$")]
    role: RoleName = Field(description="ingest sends, read reads, admin does everything.")
    monitors: Annotated[list[MonitorName], Field(min_length=1, max_length=100)] | None = Field(
        default=None, description="The monitors it opens; all where left out."
    )


class KeyShape(Given):
    """A key as it is kept: only a hash of it exists."""

    id: str
    label: str
    role: RoleName
    monitors: list[str] | None = None
    created_at: datetime
    revoked_at: datetime | None = None


class CreatedKey(KeyShape):
    """A new key with its text, which is shown this once."""

    key: str = Field(description="Keep it safe: it cannot be shown again.")


class KeyList(Given):
    """Every key, newest first."""

    keys: list[KeyShape]


class Me(Given):
    """Who you are to the service."""

    actor: str
    role: RoleName
    monitors: list[str] | None = None


class AuditShape(Given):
    """One administrative act."""

    id: int
    at: datetime
    by: str
    act: str
    monitor: str = Field(description="Empty for an act on the service itself.")
    detail: dict[str, Any]


class AuditPage(Given):
    """Acts, newest first."""

    acts: list[AuditShape]
    next: int | None = Field(default=None, description="Give it as `before` to go on; absent at the end.")
