"""What a sink is: it turns an alert into one message for one receiver, and says whether the receiver took it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from driftjudge.service.alerts.alert import Alert


@dataclass(frozen=True)
class HttpMessage:
    """One HTTP request, ready to send. It holds secrets and is never logged or stored."""

    url: str
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Without the address and the headers, which may carry secrets."""
        return f"HttpMessage({len(self.body)} bytes)"


class HttpSink(Protocol):
    """A sink that speaks HTTP: rendering is pure, sending is the same for all (`delivery.py`)."""

    def render(self, alert: Alert) -> HttpMessage:
        """The request for this alert."""
