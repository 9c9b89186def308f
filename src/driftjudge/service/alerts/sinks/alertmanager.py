"""Prometheus Alertmanager: `POST /api/v2/alerts`; equal labels are one alert there, so ours never change."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from driftjudge.service.alerts.alert import Alert
from driftjudge.service.alerts.sinks.protocol import HttpMessage

HOLD = timedelta(days=30)
"""Alertmanager forgets an alert without an end after minutes; ours stays until it is closed.

It also forgets what it did not write down before a restart, so open alarms are sent again and again; in good time with
a later end.
"""


@dataclass(frozen=True)
class Alertmanager:
    """One Alertmanager by its base URL."""

    url: str = field(repr=False)
    clock: Callable[[], float] = field(default=time.time, repr=False)

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
            halves = max(0, (datetime.fromtimestamp(self.clock(), UTC) - at) // (HOLD / 2))  # repeats say the same
            entry["endsAt"] = (at + HOLD + halves * HOLD / 2).isoformat()
        if alert.page_url:
            entry["generatorURL"] = alert.page_url
        url = self.url.rstrip("/") + "/api/v2/alerts"
        return HttpMessage(url, json.dumps([entry]).encode(), {"Content-Type": "application/json"})
