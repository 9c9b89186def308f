"""What happened when, read off the evidence: alarms, the guard window, epochs. Nothing is drawn here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from driftjudge.monitor.evidence import Evidence, Trace

Family = Literal["system", "judge"]
FAMILIES: tuple[Family, ...] = ("judge", "system")
EPOCH_KINDS = ("acknowledged", "reanchored")


@dataclass(frozen=True)
class Timeline:
    """The events of a race, in stream positions."""

    last: int
    """The newest position of the trace."""
    alarms: dict[Family, tuple[int, ...]]
    """Of all epochs, ascending."""
    guard: tuple[int, int] | None
    """The newest guard window; None when it took no stream items, as when a burst settled it at once."""
    epochs: tuple[int, ...]
    """Positions after which a new epoch began."""


def timeline(trace: Trace, evidence: Evidence) -> Timeline:
    """The events of the race in `trace`, up to where it ends."""
    last = int(trace.position[-1])
    verdict = evidence.verdict
    newest: dict[Family, int | None] = {"system": verdict.system_alarm_at, "judge": verdict.judge_alarm_at}
    alarms: dict[Family, tuple[int, ...]] = {}
    for family in FAMILIES:
        told = {event.position for event in evidence.story if event.kind == f"{family}_alarm"}
        at = newest[family]
        alarms[family] = tuple(sorted(told if at is None else told | {at}))
    epochs = sorted({event.position for event in evidence.story if event.kind in EPOCH_KINDS})
    return Timeline(last, alarms, _guard(evidence, alarms["system"], last), tuple(epochs))


def _guard(evidence: Evidence, system_alarms: tuple[int, ...], last: int) -> tuple[int, int] | None:
    if not system_alarms or evidence.verdict.kind == "unattributed":
        return None
    start = system_alarms[-1]
    closed = [event.position for event in evidence.story if event.kind == "guard_closed" and event.position >= start]
    if closed:
        end = min(closed)
    elif evidence.verdict.status == "pending":
        end = last
    else:  # claimed by the anchors before it closed: in the paper's rule, the window they had
        end = min(last, start if evidence.config.burst else start + (evidence.config.guard or 0))
    return (start, end) if end > start else None


def has_anchors(trace: Trace) -> bool:
    """False when the trace was made without anchors, so that the judge's line is all NaN."""
    return bool(np.isfinite(trace.judge).any())
