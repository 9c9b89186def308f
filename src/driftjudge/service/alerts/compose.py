"""Alerts from what happened: the sentence of the verdict, the three facts that support it, what to do next."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from driftjudge.monitor.evidence import CellEvidence, Evidence
from driftjudge.report._advice import advice
from driftjudge.report._words import count, figure, interval, says_nothing, signed, strength
from driftjudge.service.alerts.alert import Alert, Phase, bounded_key
from driftjudge.store.outbox import Message

CONDITION_ADVICE = {
    "judge_unavailable": "Check the judge's endpoint, key and quota; nothing is lost, and the asked-for scores are "
    "fetched when it answers again.",
    "no_data": "Check that your product still sends items to the monitor; an empty stream is not a healthy one.",
    "budget_exhausted": "Raise the ceiling or wait for the next period; until then no strong scores are bought and the "
    "monitor sees less.",
}


def rfc3339(at: float) -> str:
    """Seconds since the epoch as receivers want them.

    >>> rfc3339(0.0)
    '1970-01-01T00:00:00+00:00'
    """
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def alert_of(message: Message) -> Alert | None:
    """What a change in the outbox says to people; None for one that only programs follow."""
    if message.kind == "condition":
        return _condition(message)
    if message.kind == "acknowledged":
        return None
    payload = message.payload
    verdict = payload["verdict"]
    rubric, stratum = _place(verdict)
    closed = message.kind == "closed"
    phase: Phase = "closed" if closed else "attributed" if verdict["status"] == "final" else "opened"
    return Alert(
        id=f"{message.monitor}-{message.id}",
        key=bounded_key(message.dedup_key),
        phase=phase,
        monitor=message.monitor,
        subject=verdict["kind"],
        sentence=f"The alarm was closed: {payload['note'] or 'no note'}." if closed else payload["sentence"],
        facts=(f"It had been: {payload['sentence']}",) if closed else tuple(payload["facts"]),
        advice="" if closed else payload["advice"],
        at=rfc3339(message.at),
        rubric=rubric,
        stratum=stratum,
        epoch=verdict["epoch"],
    )


def _condition(message: Message) -> Alert:
    payload = message.payload
    closed = payload["state"] == "closed"
    detail = payload["detail"]
    return Alert(
        id=f"{message.monitor}-{message.id}",
        key=bounded_key(message.dedup_key),
        phase="closed" if closed else "opened",
        monitor=message.monitor,
        subject=payload["condition"],
        sentence=f"{detail[:1].upper()}{detail[1:]}.",
        facts=("This says nothing about your system or your judge: it is about the watching itself.",),
        advice="" if closed else CONDITION_ADVICE.get(payload["condition"], ""),
        at=rfc3339(message.at),
    )


def trial_alert(alert_id: str, sink: str, *, at: float) -> Alert:
    """What the test button sends."""
    return Alert(
        id=alert_id,
        key=f"driftjudge:test:{sink}:{alert_id}",
        phase="test",
        monitor="test",
        subject="test",
        sentence=f"This is a test of the alert sink {sink!r}: nothing drifted, and there is nothing to do.",
        facts=("If you can read this, alarms will reach you here.",),
        advice="",
        at=rfc3339(at),
    )


def _place(verdict: Mapping[str, Any]) -> tuple[str, str]:
    """The rubric and stratum an alarm is filed under."""
    if verdict["cells"]:
        rubric, stratum = verdict["cells"][0]
        return rubric, stratum
    return (verdict["rubrics"][0][0], "") if verdict["rubrics"] else ("", "")


def what_to_do(evidence: Evidence) -> str:
    """The next steps, in two sentences at most."""
    return " ".join(advice(evidence)[:2])


def facts(evidence: Evidence) -> tuple[str, ...]:
    """The three facts that support a verdict, as they stood when it was reached."""
    verdict = evidence.verdict
    found = [_alarm_fact(evidence)]
    if verdict.kind == "judge":
        found += [_shift_fact(evidence), _system_fact(evidence)]
    else:
        found += [_cell_fact(evidence), _judge_fact(evidence)]
    return tuple(fact for fact in found if fact)


def _alarm_fact(evidence: Evidence) -> str:
    verdict = evidence.verdict
    at = verdict.judge_alarm_at if verdict.kind == "judge" else verdict.system_alarm_at
    rate = evidence.config.alpha_judge if verdict.kind == "judge" else evidence.config.alpha_system
    family = "judge" if verdict.kind == "judge" else "system"
    where = f"The alarm rose at item {at:,} of {evidence.cost.items:,}" if at else "There is no alarm"
    if evidence.config.run_length is not None:
        return f"{where}; {evidence.config.promise}."
    return f"{where}; a false {family} alarm ever in this epoch has probability at most {rate:g}."


def _cell_fact(evidence: Evidence) -> str:
    named = [cell for cell in evidence.cells if cell.named]
    cell: CellEvidence | None = max(named or evidence.cells, key=strength, default=None)
    if cell is None or not math.isfinite(cell.mean):
        return ""
    return (
        f"{cell.rubric} in {cell.stratum} averages {figure(cell.mean, 2)} over {count(cell.observations, 'item')}, "
        f"where its healthy level was {figure(cell.bar, 2)}."
    )


def _judge_fact(evidence: Evidence) -> str:
    if not evidence.shifts:
        return "There are no anchors, so the judge was not watched."
    if evidence.verdict.judge_alarm_at is not None:
        at = evidence.verdict.judge_alarm_at
        return f"The judge departs from its baseline too, but only after that (alarm at item {at:,})."
    rescores = evidence.shifts[0].rescores
    pending = evidence.verdict.status == "pending"
    so_far = "so far " if pending else ""
    return f"The judge re-scored {count(rescores, 'anchor')} and {so_far}does not depart from its baseline."


def _shift_fact(evidence: Evidence) -> str:
    told = [s for s in evidence.shifts if math.isfinite(s.shift)]
    if not told:
        return ""
    most = max(told, key=lambda s: max(s.log_e_harsher, s.log_e_lenient))
    bounds = "" if says_nothing(most) else f" (between {interval(most).replace(' to ', ' and ')})"
    return f"On the frozen anchors its {most.rubric} scores moved by {signed(most.shift)}{bounds}."


def _system_fact(evidence: Evidence) -> str:
    if evidence.verdict.system_alarm_at is None:
        return "No drop of the system had been shown before that."
    at = evidence.verdict.system_alarm_at
    return f"Scores also fell (alarm at item {at:,}), which a moved judge can cause by itself."
