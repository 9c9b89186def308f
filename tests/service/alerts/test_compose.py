"""What an alarm says: the verdict's sentence, three facts from the evidence, what to do, under the alarm's key."""

from __future__ import annotations

from typing import Any

from driftjudge.service.alerts.compose import alert_of, facts, what_to_do
from driftjudge.store.outbox import Message
from tests.report.samples import sample


def message(kind: str, **payload: Any) -> Message:
    verdict = {"kind": "judge", "status": "final", "epoch": 3, "cells": [], "rubrics": [["tone", "harsher"]]}
    whole = {"verdict": verdict, "sentence": "The judge moved.", "facts": ["a"], "advice": "b", "note": "", **payload}
    return Message(9, "shop", "driftjudge:shop:tone:*:3", kind, whole, 0.0)


def test_opened_attributed_and_closed_share_the_key_and_nothing_else() -> None:
    pending = {"kind": "system", "status": "pending", "epoch": 3, "cells": [["tone", "chat"]], "rubrics": []}
    opened = alert_of(message("opened", verdict=pending))
    attributed = alert_of(message("attributed"))
    closed = alert_of(message("closed", note="the old model is back"))
    assert opened is not None
    assert attributed is not None
    assert closed is not None
    assert [a.phase for a in (opened, attributed, closed)] == ["opened", "attributed", "closed"]
    assert {a.key for a in (opened, attributed, closed)} == {"driftjudge:shop:tone:*:3"}
    assert (opened.subject, opened.rubric, opened.stratum) == ("system", "tone", "chat")
    assert closed.sentence == "The alarm was closed: the old model is back."


def test_an_alarm_that_is_final_at_once_is_told_as_attributed() -> None:
    alert = alert_of(message("opened"))
    assert alert is not None
    assert alert.phase == "attributed"


def test_an_acknowledgement_is_for_programs_only() -> None:
    assert alert_of(message("acknowledged")) is None


def test_a_condition_opens_and_closes() -> None:
    told = {"condition": "no_data", "detail": "no item came for 60 seconds"}
    opened = alert_of(Message(4, "shop", "driftjudge:shop:no_data:1", "condition", {**told, "state": "opened"}, 0.0))
    closed = alert_of(Message(5, "shop", "driftjudge:shop:no_data:1", "condition", {**told, "state": "closed"}, 0.0))
    assert opened is not None
    assert closed is not None
    assert (opened.phase, closed.phase) == ("opened", "closed")
    assert opened.sentence == "No item came for 60 seconds."
    assert opened.advice
    assert opened.severity == "warning"


def test_the_facts_of_a_system_verdict_name_the_alarm_the_cell_and_the_judge() -> None:
    evidence = sample("system").evidence
    alarm, cell, judge = facts(evidence)
    assert f"item {evidence.verdict.system_alarm_at:,}" in alarm
    assert "probability at most" in alarm
    assert any(cell.startswith(f"{rubric} in {stratum} averages") for rubric, stratum in evidence.verdict.cells)
    assert "does not depart from its baseline" in judge
    assert what_to_do(evidence).startswith("Look for what changed")


def test_the_facts_of_a_judge_verdict_name_the_alarm_the_shift_and_the_system() -> None:
    evidence = sample("judge").evidence
    alarm, shift, system = facts(evidence)
    assert f"item {evidence.verdict.judge_alarm_at:,}" in alarm
    assert "frozen anchors" in shift
    assert "system" in system or "Scores also fell" in system
    assert what_to_do(evidence).startswith("Do not roll back")
