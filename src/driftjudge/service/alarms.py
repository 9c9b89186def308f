"""From verdicts to alarms: when one opens, when it is attributed, acknowledged and closed, and what is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from driftjudge.monitor.errors import MonitorError
from driftjudge.monitor.events import Acknowledged
from driftjudge.monitor.evidence import Milestone
from driftjudge.monitor.verdict import Verdict
from driftjudge.service.alerts.compose import facts, what_to_do
from driftjudge.service.batch import Batch
from driftjudge.service.codec import from_json, to_json
from driftjudge.service.errors import ConflictError, UnknownAlarmError
from driftjudge.service.host import Host
from driftjudge.service.values import Alarm, StoryLine
from driftjudge.store import alarms as rows


def alarm_of(row: rows.AlarmRow) -> Alarm:
    """An alarm as callers see it."""
    return Alarm(
        id=row.id,
        monitor=row.monitor,
        epoch=row.epoch,
        dedup_key=row.dedup_key,
        state=row.state,  # type: ignore[arg-type]
        verdict=from_json(Verdict, row.verdict),
        opened_at=row.opened_at,
        acknowledged_at=row.acknowledged_at,
        closed_at=row.closed_at,
        story=tuple(from_json(StoryLine, line) for line in row.story),
    )


def tell(tx: Connection, host: Host, batch: Batch) -> None:
    """Compare the verdict with what was told last; open an alarm, or say what became of it."""
    assert host.monitor is not None
    verdict, before = host.monitor.verdict, host.told
    if verdict == before:
        return
    host.told = verdict
    if verdict.kind == "none":
        return
    alarm = rows.latest(tx, host.id, epoch=verdict.epoch)
    if alarm is None:
        key = _dedup_key(host.name, verdict)
        story = _milestones(host, 0, batch.at) or [_line(batch.at, verdict.position, "opened", verdict.explain())]
        made = rows.open_(
            tx, host.id, epoch=verdict.epoch, dedup_key=key, verdict=to_json(verdict), story=story, at=batch.at
        )
        _send(tx, host, batch, "opened", made, key, verdict)
    else:
        lines = _milestones(host, len(alarm.story), batch.at)
        rows.change(tx, alarm, verdict=to_json(verdict), lines=lines)
        told = from_json(Verdict, alarm.verdict)
        if _news(told) != _news(verdict):
            _send(tx, host, batch, "attributed", alarm.id, alarm.dedup_key, verdict)


def _news(verdict: Verdict) -> tuple[object, ...]:
    """What people must hear of, beyond the kind: a judge that moved later, and a system that got worse as well."""
    late = verdict.kind == "system" and verdict.judge_alarm_at is not None
    return verdict.kind, verdict.status, late, verdict.system_during_judge == "dropped"


def _dedup_key(monitor: str, verdict: Verdict) -> str:
    """One key per alarm for all sinks, fixed when it opens."""
    if verdict.cells:
        rubric, stratum = verdict.cells[0]
    else:
        rubric, stratum = (verdict.rubrics[0][0] if verdict.rubrics else "*"), "*"
    return f"driftjudge:{monitor}:{rubric[:60]}:{stratum[:60]}:{verdict.epoch}"


def _milestones(host: Host, told: int, at: float) -> list[dict[str, Any]]:
    """The monitor's own story of this epoch, beyond what was told of it."""
    assert host.monitor is not None
    story: list[Milestone] = []
    for milestone in host.monitor.evidence().story:
        if milestone.kind in ("acknowledged", "reanchored"):
            story = [one for one in story if one.kind == "judge_alarm"] if milestone.kind == "acknowledged" else []
        else:
            story.append(milestone)
    return [_line(at, one.position, one.kind, one.text) for one in story[told:]]


def _line(at: float, position: int, kind: str, text: str, by: str = "") -> dict[str, Any]:
    return {"at": at, "position": position, "kind": kind, "text": text, "by": by}


def _send(
    tx: Connection, host: Host, batch: Batch, kind: str, alarm: int, key: str, verdict: Verdict,
    note: str = "", by: str = "",
) -> None:  # fmt: skip
    assert host.monitor is not None
    system, judge = host.log_es()
    evidence = host.monitor.evidence()
    payload = {
        "alarm": alarm,
        "facts": facts(evidence),
        "advice": what_to_do(evidence),
        "verdict": to_json(verdict),
        "sentence": verdict.explain(),
        "log_e_system": system,
        "log_e_judge": judge,
        "position": host.monitor.position,
        "note": note,
        "by": by,
    }
    batch.tell(tx, monitor=host.name, dedup_key=key, kind=kind, payload=payload)


def acknowledge(tx: Connection, host: Host, batch: Batch, event: Acknowledged, *, note: str, by: str) -> Alarm:
    """Take note of a final system verdict; a new epoch starts."""
    assert host.monitor is not None
    verdict = host.monitor.verdict
    alarm = rows.latest(tx, host.id, epoch=verdict.epoch)
    if verdict.kind == "none" or alarm is None:
        raise ConflictError(f"monitor {host.name!r} has no verdict to acknowledge; nothing drifted as far as is known")
    try:
        host.monitor.apply(event)
    except MonitorError as error:
        raise ConflictError(str(error)) from error
    batch.touch(host)
    host.new_events.append((event, ""))
    line = _line(batch.at, host.monitor.position, "acknowledged", note or "acknowledged", by)
    rows.change(tx, alarm, lines=[line], state="acknowledged", acknowledged_at=batch.at)
    _send(tx, host, batch, "acknowledged", alarm.id, alarm.dedup_key, verdict, note, by)
    tell(tx, host, batch)
    return _get(tx, host, alarm.id)


def close(tx: Connection, host: Host, batch: Batch, alarm_id: int, *, note: str, by: str) -> Alarm:
    """The incident is over."""
    alarm = rows.get(tx, alarm_id) if alarm_id < 2**63 else None  # no database has a larger number
    if alarm is None or alarm.monitor_id != host.id:
        raise UnknownAlarmError(f"monitor {host.name!r} has no alarm {alarm_id}; list its alarms to find the number")
    if alarm.state == "open":
        raise ConflictError(
            f"alarm {alarm_id} is open: acknowledge it first, or re-anchor if the verdict is the judge; closing alone "
            "would leave the evidence as it is"
        )
    if alarm.state == "acknowledged":
        _close(tx, host, batch, alarm, note or "closed", by)
    return _get(tx, host, alarm_id)


def close_all(tx: Connection, host: Host, batch: Batch, *, note: str, by: str) -> None:
    """Re-anchoring ends every alarm."""
    for alarm in rows.unfinished(tx, host.id):
        _close(tx, host, batch, alarm, note, by)


def _close(tx: Connection, host: Host, batch: Batch, alarm: rows.AlarmRow, note: str, by: str) -> None:
    batch.touch(host)
    position = host.monitor.position if host.monitor is not None else 0
    lines: Sequence[dict[str, Any]] = [_line(batch.at, position, "closed", note, by)]
    rows.change(tx, alarm, lines=lines, state="closed", closed_at=batch.at)
    _send(tx, host, batch, "closed", alarm.id, alarm.dedup_key, from_json(Verdict, alarm.verdict), note, by)


def _get(tx: Connection, host: Host, alarm_id: int) -> Alarm:
    row = rows.get(tx, alarm_id)
    assert row is not None, host.name
    return alarm_of(row)
