"""The inputs of a monitor as values: a log of them, folded in order, gives the same state bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from typing import Any

from driftjudge.monitor.anchors import AnchorSet
from driftjudge.monitor.calibration import Calibration
from driftjudge.monitor.errors import MonitorError
from driftjudge.monitor.scores import Failure


@dataclass(frozen=True)
class Observed:
    """An item and its cheap scores."""

    item_id: str
    stratum: str
    cheap: tuple[float, ...] | Failure


@dataclass(frozen=True)
class StrongScored:
    """The strong judge's answer on an item that was asked about."""

    item_id: str
    scores: tuple[float, ...] | Failure


@dataclass(frozen=True)
class AnchorRescored:
    """The current judge's answer on an anchor that was asked for."""

    anchor_id: str
    scores: tuple[float, ...] | Failure
    draw: int | None = None
    """Number of the request it answers, where the caller kept it."""


@dataclass(frozen=True)
class Acknowledged:
    """Somebody took note of a system verdict; a new epoch starts, with new bars where they are given."""

    calibration: Calibration | None = None


@dataclass(frozen=True)
class Reanchored:
    """Somebody accepted the current judge as the new one."""

    anchors: AnchorSet
    calibration: Calibration


Event = Observed | StrongScored | AnchorRescored | Acknowledged | Reanchored
_KINDS: Mapping[str, type[Any]] = {
    kind.__name__: kind for kind in (Observed, StrongScored, AnchorRescored, Acknowledged, Reanchored)
}


def event_to_json(event: Event) -> dict[str, Any]:
    """A JSON-able mapping.

    >>> event_from_json(event_to_json(StrongScored("i1", (0.5, 1.0))))
    StrongScored(item_id='i1', scores=(0.5, 1.0))
    """
    body: dict[str, Any] = {"event": type(event).__name__}
    for name, value in vars(event).items():
        if name == "draw" and value is None:
            continue
        if isinstance(value, Failure):
            body[name] = {"failure": value.reason, "detail": value.detail}
        else:
            body[name] = value.to_json() if isinstance(value, AnchorSet | Calibration) else value
    return body


def event_from_json(body: Mapping[str, Any]) -> Event:
    """The event of a mapping made by `event_to_json`."""
    fields = dict(body)
    name = fields.pop("event", None)
    if name not in _KINDS:
        raise MonitorError(f"unknown event {name!r}; known events: {', '.join(_KINDS)}")
    kind = _KINDS[name]
    known = [field.name for field in dataclass_fields(kind)]
    for key in fields:
        if key not in known:
            raise MonitorError(f"{name} has no field {key!r}; its fields are {', '.join(known) or 'none'}")
    values = {key: _value(key, value) for key, value in fields.items()}
    try:
        event: Event = kind(**values)
    except TypeError as error:
        missing = [key for key in known if key not in fields]
        raise MonitorError(f"{name} lacks {', '.join(missing)}; the log is damaged there") from error
    return event


def _value(key: str, value: Any) -> Any:
    if key == "anchors":
        return AnchorSet.from_json(value)
    if key == "calibration":
        return Calibration.from_json(value) if value is not None else None
    if isinstance(value, Mapping):
        if "failure" not in value:
            raise MonitorError(f"{key} is a mapping without 'failure'; give scores or a failure with its reason")
        return Failure(value["failure"], value.get("detail", ""))
    return tuple(value) if isinstance(value, list) else value
