"""Times, ages and states as people say them."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from driftjudge.monitor.verdict import Verdict
from driftjudge.report._advice import BADGES, badge
from driftjudge.service.values import MonitorInfo

STATES = {
    "draft": "Not started",
    "scoring": "Judges at work",
    "archived": "Archived",
}
CONDITIONS = {
    "judge_unavailable": "The judge does not answer",
    "no_data": "No items arrive",
    "budget_exhausted": "The judging budget is spent",
}


def age(seconds: float) -> str:
    """How long ago.

    >>> age(3), age(75), age(7_300), age(200_000)
    ('3 s', '1 min', '2 h', '2 days')
    """
    for size, unit in ((86_400.0, "days"), (3_600.0, "h"), (60.0, "min")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {'day' if unit == 'days' and count == 1 else unit}"
    return f"{max(0, int(seconds))} s"


def moment(at: float | None) -> str:
    """A moment, in UTC so that two people on call read the same.

    >>> moment(0.0), moment(None)
    ('1970-01-01 00:00:00 UTC', '–')
    """
    return "–" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def tone(info: MonitorInfo) -> str:
    """The colour class of a monitor: its verdict, or its trouble."""
    if info.verdict is not None and info.verdict.kind != "none":
        return info.verdict.kind
    return "unattributed" if info.conditions else "none"


def standing(info: MonitorInfo) -> str:
    """A monitor in two or three words."""
    if info.verdict is None:
        return STATES.get(info.state, info.state)
    if info.verdict.kind == "none" and info.conditions:
        return CONDITIONS[info.conditions[0]]
    return BADGES[info.verdict.kind] if info.verdict.status == "final" else badge(info.verdict)


def progress(log_e: float | None, threshold: float) -> int:
    """Evidence as per cent of the way to its alarm, on the log scale the race is drawn in.

    >>> progress(0.0, 10.0), progress(1.1512925, 10.0), progress(9.9, 10.0), progress(None, 10.0)
    (0, 50, 100, 0)
    """
    if log_e is None or math.isnan(log_e):
        return 0
    return round(100 * min(max(log_e / math.log(threshold), 0.0), 1.0))


def urgency(info: MonitorInfo) -> tuple[int, str]:
    """What comes first on the list: alarms, then trouble, then silence; by name within each."""
    verdict: Verdict | None = info.verdict
    if verdict is not None and verdict.kind != "none":
        return (0 if verdict.status == "final" else 1), info.name
    return (2 if info.conditions else 3 if info.state == "running" else 4), info.name
