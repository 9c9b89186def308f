"""What one notification says, whoever receives it: one plain sentence, three facts, what to do next, two links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Phase = Literal["opened", "attributed", "closed", "test"]
"""`opened`: an alarm or condition began. `attributed`: who drifted is now final. `closed`: it is over."""

Severity = Literal["critical", "error", "warning", "info"]
"""PagerDuty's four words, used everywhere."""

SEVERITIES: Mapping[str, Severity] = {
    "system": "critical",
    "judge": "error",
    "unattributed": "error",
    "judge_unavailable": "error",
    "no_data": "warning",
    "budget_exhausted": "warning",
    "test": "info",
}
MOST_KEY = 255
"""PagerDuty's limit for a dedup key, and the longest any receiver must take."""
MOST_TEXT = 500


@dataclass(frozen=True)
class Alert:
    """One notification; the same for every sink, which only chooses its words' order."""

    id: str
    """Unique per notification: with it a receiver recognises a repeated delivery."""
    key: str
    """One per alarm: opened, attributed and closed carry the same."""
    phase: Phase
    monitor: str
    subject: str
    """The verdict (`system`, `judge`, `unattributed`) or the condition (`judge_unavailable`, `no_data`, ...)."""
    sentence: str
    facts: tuple[str, ...]
    advice: str
    at: str
    """When it happened: RFC 3339, UTC."""
    page_url: str = ""
    runbook_url: str = ""
    rubric: str = ""
    stratum: str = ""
    epoch: int = 0

    @property
    def severity(self) -> Severity:
        """How loud it is."""
        return SEVERITIES.get(self.subject, "warning")

    @property
    def resolved(self) -> bool:
        """True for the message that ends the alarm."""
        return self.phase == "closed"

    @property
    def title(self) -> str:
        """The first words, for headers and mail subjects."""
        what = _TITLES.get(self.subject, self.subject.replace("_", " "))
        return f"Resolved: {what} · {self.monitor}" if self.resolved else f"{what} · {self.monitor}"

    def to_json(self) -> dict[str, Any]:
        """A JSON-able mapping that `from_json` turns back into an equal alert."""
        return {**asdict(self), "facts": list(self.facts)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Alert:
        """The alert of a mapping made by `to_json`."""
        return cls(**{**data, "facts": tuple(data["facts"])})


_TITLES = {
    "system": "The system drifted",
    "judge": "The judge drifted",
    "unattributed": "Scores dropped, cause unknown",
    "judge_unavailable": "The judge does not answer",
    "no_data": "No items arrive",
    "budget_exhausted": "The judging budget is spent",
    "test": "Test message",
}


def bounded_key(key: str) -> str:
    """The key itself, or its beginning and a hash where it is too long to be taken by every receiver."""
    if len(key.encode()) <= MOST_KEY:
        return key
    from hashlib import sha256

    digest = sha256(key.encode()).hexdigest()[:32]
    start = key.encode()[: MOST_KEY - len(digest) - 1].decode(errors="ignore")
    return f"{start}:{digest}"
