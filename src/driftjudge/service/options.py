"""How a service process behaves; what belongs to one monitor is in its own settings."""

from __future__ import annotations

import os
import socket
import uuid
from dataclasses import dataclass, field


def _somebody() -> str:
    return f"{socket.gethostname()[:60]}:{os.getpid()}:{uuid.uuid4().hex[:12]}"


@dataclass(frozen=True)
class ServiceOptions:
    """Limits and times of one process."""

    owner: str = field(default_factory=_somebody)
    """Who holds the leases. A name that survives a restart (a pod's) takes its monitors back at once."""
    address: str = ""
    """Where this process can be reached, for those who ask another one."""
    lease_seconds: float = 10.0
    """After how long without a sign of life others take over."""
    max_loaded: int = 2_000
    """Monitors in memory; the longest unused make room and come back from their snapshots."""
    max_ids: int = 2_000_000
    """Item ids remembered by all monitors in memory together, about 200 bytes each; beyond it, likewise."""
    max_queued: int = 20_000
    """Items waiting for the writer; beyond it, callers are told to come back."""
    max_group: int = 5_000
    """Items of one transaction."""
    max_waiting: int = 10_000
    """Accepted items per monitor that wait for the cheap judge."""
    snapshot_every: int = 5_000
    """Events between snapshots."""
    tick_seconds: float = 1.0
    """How often the housekeeping looks around."""
    retry_seconds: float = 0.5
    """First pause after a failed judge call or a failed write of its answer; doubles up to `retry_cap`."""
    retry_cap: float = 30.0
    unavailable_after: int = 3
    """Failed judge calls in a row that open `judge_unavailable`."""
    judge_seconds: float = 300.0
    """Longest a judge call may take, whatever the judge itself allows."""
    max_subscribers: int = 1_000
    subscriber_queue: int = 1_000
    """Changes a slow subscriber may fall behind before it is dropped."""
