"""Prometheus Alertmanager: `POST /api/v2/alerts`; equal labels are one alert there, so ours never change."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from driftjudge.service.alerts.alert import Alert
from driftjudge.service.alerts.sinks.protocol import HttpMessage

HOLD = timedelta(days=30)
"""Alertmanager forgets an alert without an end after minutes; ours stays until it is closed."""


@dataclass(frozen=True)
class Alertmanager:
    """One Alertmanager by its base URL."""

    url: str = field(repr=False)

    def render(self, alert: Alert) -> HttpMessage:
        """The alert with labels that identify it and annotations that explain it."""
        entry: dict[str, Any] = {
            "labels": {
                "alertname": "DriftjudgeTest" if alert.phase == "test" else "DriftjudgeAlarm",
                "monitor": alert.monitor,
                "alarm": alert.key,
            },
            "annotations": {
                "summary": alert.sentence,
                "description": " ".join([*alert.facts, alert.advice]),
                "verdict": alert.subject,
                "severity": alert.severity,
                "runbook_url": alert.runbook_url,
            },
        }
        at = datetime.fromisoformat(alert.at)
        if alert.resolved or alert.phase == "test":
            entry["endsAt"] = at.isoformat()
        else:
            entry["startsAt"] = at.isoformat()
            entry["endsAt"] = (at + HOLD).isoformat()
        if alert.page_url:
            entry["generatorURL"] = alert.page_url
        url = self.url.rstrip("/") + "/api/v2/alerts"
        return HttpMessage(url, json.dumps([entry]).encode(), {"Content-Type": "application/json"})
