"""Slack incoming webhooks: `text` for notifications, blocks for the channel."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from driftjudge.service.alerts.alert import Alert
from driftjudge.service.alerts.sinks.protocol import HttpMessage

MOST_HEADER = 150
MOST_SECTION = 3_000


@dataclass(frozen=True)
class Slack:
    """One channel's incoming webhook."""

    url: str = field(repr=False)

    def render(self, alert: Alert) -> HttpMessage:
        """Header, sentence, facts, what to do, links."""
        body = {"text": f"{alert.title}: {alert.sentence}"[:MOST_SECTION], "blocks": _blocks(alert)}
        return HttpMessage(self.url, json.dumps(body).encode(), {"Content-Type": "application/json"})


def _blocks(alert: Alert) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": {"type": "plain_text", "text": _cut(alert.title, MOST_HEADER)}},
        _section(_escaped(alert.sentence)),
    ]
    if alert.facts:
        blocks.append(_section("\n".join(f"• {_escaped(fact)}" for fact in alert.facts)))
    if alert.advice:
        blocks.append(_section(f"*Now:* {_escaped(alert.advice)}"))
    links = [
        f"<{url}|{name}>" for url, name in ((alert.page_url, "Open the page"), (alert.runbook_url, "Runbook")) if url
    ]
    if links:
        blocks.append({"type": "context", "elements": [{"type": "mrkdwn", "text": " · ".join(links)}]})
    return blocks


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": _cut(text, MOST_SECTION)}}


def _escaped(text: str) -> str:
    """Slack's three control characters, so that a rubric's name cannot mention a channel."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
