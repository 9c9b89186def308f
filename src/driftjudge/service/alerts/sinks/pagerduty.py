"""PagerDuty Events API v2: one incident per dedup key, resolved by the closing message."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from driftjudge.service.alerts.alert import Alert
from driftjudge.service.alerts.sinks.protocol import HttpMessage

EVENTS_URL = "https://events.pagerduty.com/v2/enqueue"
MOST_SUMMARY = 1_024


@dataclass(frozen=True)
class PagerDuty:
    """One service's integration."""

    routing_key: str = field(repr=False)
    url: str = EVENTS_URL

    def render(self, alert: Alert) -> HttpMessage:
        """Trigger while the alarm is open, resolve when it closes."""
        body: dict[str, Any] = {
            "routing_key": self.routing_key,
            "event_action": "resolve" if alert.resolved else "trigger",
            "dedup_key": alert.key,
            "payload": {
                "summary": f"{alert.title}: {alert.sentence}"[:MOST_SUMMARY],
                "source": alert.monitor,
                "severity": alert.severity,
                "timestamp": alert.at,
                "component": alert.rubric or alert.subject,
                "group": alert.stratum or alert.monitor,
                "class": alert.subject,
                "custom_details": {"facts": list(alert.facts), "what_to_do": alert.advice, "alert_id": alert.id},
            },
            "links": [
                {"href": url, "text": text}
                for url, text in ((alert.page_url, "The monitor's page"), (alert.runbook_url, "Runbook"))
                if url
            ],
            "client": "driftjudge",
        }
        if alert.page_url:
            body["client_url"] = alert.page_url
        return HttpMessage(self.url, json.dumps(body).encode(), {"Content-Type": "application/json"})
