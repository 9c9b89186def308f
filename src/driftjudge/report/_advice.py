"""What a verdict asks of the person who reads it: a badge and two or three short lines."""

from __future__ import annotations

from driftjudge.monitor.evidence import Evidence
from driftjudge.monitor.verdict import Kind, Verdict
from driftjudge.report._words import is_watched, listed

BADGES: dict[Kind, str] = {
    "none": "No drift shown",
    "system": "The system drifted",
    "judge": "The judge drifted",
    "unattributed": "Alarm, cause unknown",
}


def badge(verdict: Verdict) -> str:
    """The verdict in two or three words, with its standing."""
    standing = {"watching": "still watching", "pending": "not final yet", "final": "final"}[verdict.status]
    name = "System alarm" if verdict.kind == "system" and verdict.status == "pending" else BADGES[verdict.kind]
    return f"{name} · {standing}"


def advice(evidence: Evidence) -> list[str]:
    """What to do now."""
    verdict = evidence.verdict
    if verdict.kind == "system" and verdict.status == "pending":
        return [
            "Wait before you roll anything back: the anchors may still show that the judge moved.",
            "Let the monitor re-score the anchors it asks for; the verdict becomes final when the guard closes.",
        ]
    return {"none": _none, "system": _system, "judge": _judge, "unattributed": _unattributed}[verdict.kind](evidence)


def _none(evidence: Evidence) -> list[str]:
    idle = sum(not is_watched(cell) for cell in evidence.cells)
    lines = ["Nothing: keep the monitor running."]
    if idle:
        lines.append(
            f"{idle} of {len(evidence.cells)} cells are not watched; more calibration items would raise their bars."
        )
    else:
        lines.append('Silence is not proof of health: drops smaller than the "alarms below" column allows do not show.')
    if not evidence.shifts:
        lines.append("Add human-labelled anchors: without them a future alarm cannot be attributed.")
    return lines


def _system(evidence: Evidence) -> list[str]:
    named = [f"{rubric} in {stratum}" for rubric, stratum in evidence.verdict.cells]
    where = f"Start with {listed(named)}." if named else "No single cell stands out: the drop is spread over several."
    return [
        f"Look for what changed in the system {_when(evidence)}: a release, a prompt, a model, the data it reads.",
        where,
        "When it is dealt with, acknowledge the alarm: a new epoch starts with fresh evidence.",
    ]


def _judge(evidence: Evidence) -> list[str]:
    moved = [f"{rubric} ({how})" for rubric, how in evidence.verdict.rubrics if rubric in evidence.config.rubrics]
    about = (
        f"It was first noticed on {listed(moved)}; the shifts below say how far each rubric moved. " if moved else ""
    )
    first = "Do not roll back the system on these scores: the yardstick itself moved."
    if evidence.verdict.system_during_judge == "dropped":
        worse = listed([f"{rubric} in {stratum}" for rubric, stratum in evidence.verdict.system_during_judge_cells])
        first = f"Look into the system as well, starting with {worse}: more than the judge moved."
    return [
        first,
        f"{about}Check the strong judge's model version, prompt and sampling settings "
        f"before item {_at(evidence.verdict.judge_alarm_at)}.",
        "Restore the old judge, or accept the new one and re-anchor: new baselines and new bars open a new epoch.",
    ]


def _unattributed(evidence: Evidence) -> list[str]:
    return [
        f"Do not blame the system yet: scores fell by item {_at(evidence.verdict.system_alarm_at)}, "
        "but without anchors nobody can tell whether it or the judge moved.",
        "Let people score a sample of recent items and compare it with the strong judge's scores.",
        "Add human-labelled anchors, so that the next alarm can be attributed.",
    ]


def _when(evidence: Evidence) -> str:
    """Between which items to look, where the alarm could say."""
    if not evidence.drops:
        return f"before item {_at(evidence.verdict.system_alarm_at)}"
    drop = evidence.drops[0]
    return f"at about item {_at(drop.since)} (between {_at(drop.since_low)} and {_at(drop.since_high)})"


def _at(position: int | None) -> str:
    return "–" if position is None else f"{position:,}"
