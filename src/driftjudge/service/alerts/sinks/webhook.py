"""A generic webhook: CloudEvents 1.0 in structured mode, signed so that the receiver can tell it is ours.

The header `Driftjudge-Signature: t=<unix seconds>,v1=<hex>` carries HMAC-SHA256 over `<t>.<body>`; a receiver
recomputes it with the shared secret, compares in constant time and refuses old times. `source` and `id` together
identify a notification, so a repeated delivery can be recognised.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from driftjudge.service.alerts.alert import Alert
from driftjudge.service.alerts.sinks.protocol import HttpMessage

SIGNATURE = "Driftjudge-Signature"
TYPES = {
    "opened": "dev.driftjudge.alarm.opened.v1",
    "attributed": "dev.driftjudge.alarm.attributed.v1",
    "closed": "dev.driftjudge.alarm.closed.v1",
    "test": "dev.driftjudge.test.v1",
}


@dataclass(frozen=True)
class Webhook:
    """One receiver; without a secret the message is not signed."""

    url: str = field(repr=False)
    clock: Callable[[], float]
    secret: str = field(default="", repr=False)

    def render(self, alert: Alert) -> HttpMessage:
        """The event with its signature."""
        event = {
            "specversion": "1.0",
            "id": alert.id,
            "source": f"/driftjudge/monitors/{alert.monitor}",
            "type": TYPES[alert.phase],
            "subject": alert.subject,
            "time": alert.at,
            "datacontenttype": "application/json",
            "data": {**alert.to_json(), "severity": alert.severity},
        }
        body = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
        headers = {"Content-Type": "application/cloudevents+json; charset=utf-8"}
        if self.secret:
            headers[SIGNATURE] = signature(body, self.secret, int(self.clock()))
        return HttpMessage(self.url, body, headers)


def signature(body: bytes, secret: str, at: int) -> str:
    """The header's value.

    >>> signature(b"{}", "key", 0)
    't=0,v1=7314351dd949aa7ec06f50fc2c96e618291447672c9b7f10b49d1ce46dad00b3'
    """
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def verify(body: bytes, header: str, secret: str, now: float, tolerance: float = 300.0) -> bool:
    """True for a message that was signed with this secret within the last `tolerance` seconds; for receivers."""
    parts = dict(part.partition("=")[::2] for part in header.split(","))
    if not parts.get("t", "").isdigit() or abs(now - int(parts["t"])) > tolerance:
        return False
    return hmac.compare_digest(signature(body, secret, int(parts["t"])), header)
