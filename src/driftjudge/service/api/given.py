"""From the service's values to the shapes that go out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from driftjudge.monitor.evidence import Cost, Evidence, JudgeShift, Trace
from driftjudge.monitor.verdict import Verdict
from driftjudge.service import values
from driftjudge.service.wire import items, monitors, reading
from driftjudge.service.wire.shapes import finite, moment


def verdict_shape(verdict: Verdict) -> reading.VerdictShape:
    """The verdict with its sentence."""
    return reading.VerdictShape(
        kind=verdict.kind,
        status=verdict.status,
        epoch=verdict.epoch,
        position=verdict.position,
        system_alarm_at=verdict.system_alarm_at,
        judge_alarm_at=verdict.judge_alarm_at,
        cells=[reading.CellName(rubric=rubric, stratum=stratum) for rubric, stratum in verdict.cells],
        rubrics=[reading.JudgeChange(rubric=rubric, change=change) for rubric, change in verdict.rubrics],
        promise=verdict.promise,
        text=verdict.explain(),
    )


def _glance(info: values.MonitorInfo) -> dict[str, Any]:
    return {
        "name": info.name,
        "state": info.state,
        "created_at": moment(info.created_at),
        "last_item_at": moment(info.last_item_at),
        "accepted": info.accepted,
        "position": info.position,
        "verdict": None if info.verdict is None else verdict_shape(info.verdict),
        "log_e_system": _number(info.log_e_system),
        "log_e_judge": _number(info.log_e_judge),
        "conditions": list(info.conditions),
        "open_alarms": info.open_alarms,
        "anchored": info.anchored,
        "anchors": info.anchors,
        "frozen": info.frozen,
    }


def monitor_shape(info: values.MonitorInfo) -> monitors.MonitorShape:
    """A monitor at a glance."""
    return monitors.MonitorShape(**_glance(info))


def detail_shape(detail: values.MonitorDetail) -> monitors.MonitorDetailShape:
    """A monitor with everything it was set up with."""
    return monitors.MonitorDetailShape(
        **_glance(detail.info),
        config=detail.config.to_json(),
        settings=asdict(detail.settings),
        waiting_cheap=detail.waiting_cheap,
        waiting_strong=detail.waiting_strong,
        waiting_anchors=detail.waiting_anchors,
        setup_done=detail.setup_done,
        setup_wanted=detail.setup_wanted,
    )


def item_answer(out: values.ItemOut) -> dict[str, Any]:
    """An item's answer as `items.ItemShape` describes it, without the price of building one: this is the hot path."""
    answer: dict[str, Any] = {"id": out.id, "number": out.number, "anchors": list(out.asked_anchors)}
    if out.position is not None:
        answer["position"] = out.position
    if out.asked_strong is not None:
        answer["strong"] = out.asked_strong
    return answer


def recorded_shape(recorded: values.Recorded) -> items.RecordedShape:
    """What became of recorded scores."""
    return items.RecordedShape(
        taken=recorded.taken,
        duplicates=recorded.duplicates,
        verdict=verdict_shape(recorded.verdict),
        anchors=list(recorded.wanted_anchors),
    )


def cost_shape(cost: Cost) -> reading.CostShape:
    """Calls so far."""
    return reading.CostShape(**asdict(cost))


def shift_shape(shift: JudgeShift) -> reading.ShiftShape:
    """How the judge moved on one rubric."""
    return reading.ShiftShape(**_without_nan(asdict(shift)))


def evidence_shape(evidence: Evidence) -> reading.EvidenceShape:
    """Everything behind the verdict."""
    config = evidence.config
    return reading.EvidenceShape(
        verdict=verdict_shape(evidence.verdict),
        system_threshold_log=math.log(config.system_threshold),
        judge_threshold_log=math.log(config.judge_threshold),
        cells=[reading.CellShape(**_without_nan(vars(cell))) for cell in evidence.cells],
        shifts=[shift_shape(shift) for shift in evidence.shifts],
        cost=cost_shape(evidence.cost),
        story=[reading.MilestoneShape(position=m.position, kind=m.kind, text=m.text) for m in evidence.story],
        assumptions=list(evidence.assumptions),
    )


def trace_shape(trace: Trace) -> reading.TraceShape:
    """The race over time."""
    return reading.TraceShape(
        position=trace.position.tolist(),
        system=[finite(value) for value in trace.system.tolist()],
        judge=[finite(value) for value in trace.judge.tolist()],
        strong_calls=trace.strong_calls.tolist(),
        anchor_calls=trace.anchor_calls.tolist(),
        system_threshold=trace.system_threshold,
        judge_threshold=trace.judge_threshold,
    )


def event_shape(event: values.LoggedEvent) -> reading.EventShape:
    """One line of the log."""
    body = {key: value for key, value in event.body.items() if key != "event"}
    kind = str(event.body.get("event", ""))
    return reading.EventShape(
        seq=event.seq, at=moment(event.at), kind=kind, body=_json_safe(body), fingerprint=event.fingerprint
    )


def costs_shape(costs: values.Costs) -> reading.CostsShape:
    """What a monitor spent."""
    return reading.CostsShape(
        relative=None if costs.relative is None else cost_shape(costs.relative),
        dollars_today=costs.dollars_today,
        dollars_total=costs.dollars_total,
        daily_dollars=costs.daily_dollars,
        lines=[reading.SpendingShape(**asdict(line)) for line in costs.lines],
    )


def alarm_shape(alarm: values.Alarm) -> reading.AlarmShape:
    """One alarm with its story."""
    return reading.AlarmShape(
        id=alarm.id,
        monitor=alarm.monitor,
        epoch=alarm.epoch,
        state=alarm.state,
        dedup_key=alarm.dedup_key,
        verdict=verdict_shape(alarm.verdict),
        opened_at=moment(alarm.opened_at),
        acknowledged_at=moment(alarm.acknowledged_at),
        closed_at=moment(alarm.closed_at),
        story=[
            reading.StoryShape(at=moment(s.at), position=s.position, kind=s.kind, text=s.text, by=s.by)
            for s in alarm.story
        ],
    )


def condition_shape(condition: values.Condition) -> reading.ConditionShape:
    """One condition."""
    return reading.ConditionShape(
        id=condition.id,
        monitor=condition.monitor,
        kind=condition.kind,
        detail=condition.detail,
        opened_at=moment(condition.opened_at),
        closed_at=moment(condition.closed_at),
    )


def anchors_shape(report: values.AnchorsReport, *, texts: bool) -> reading.AnchorsShape:
    """The anchors report, with the anchors' texts where they were asked for."""
    return reading.AnchorsShape(
        frozen=report.frozen,
        passes=report.passes,
        shifts=[shift_shape(shift) for shift in report.shifts],
        last_scored_at=moment(report.last_scored_at),
        lines=[
            reading.AnchorLineShape(
                id=line.id,
                human=list(line.human),
                usual=_numbers(line.usual) or [],
                last=_numbers(line.last),
                mean=_numbers(line.mean),
                rescores=line.rescores,
                unscored=line.unscored,
                disagreement=_number(line.disagreement),
                watched=line.watched,
                texts=dict(line.texts) if texts and line.texts is not None else None,
            )
            for line in report.lines
        ],
        total=report.total,
        notes=list(report.notes),
    )


def change_shape(change: values.Change) -> reading.ChangeShape:
    """One change for the stream."""
    return reading.ChangeShape(
        id=change.id,
        monitor=change.monitor,
        kind=change.kind,
        dedup_key=change.dedup_key,
        at=moment(change.at),
        payload=_json_safe(dict(change.payload)),
    )


def _number(value: float | None) -> float | None:
    return None if value is None else finite(value)


def _numbers(row: Sequence[float | None] | None) -> list[float | None] | None:
    return None if row is None else [_number(value) for value in row]


def _without_nan(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: finite(value) if isinstance(value, float) else value for name, value in fields.items()}


def _json_safe(value: Any) -> Any:
    """The value with NaN as null, all the way down."""
    if isinstance(value, float):
        return finite(value)
    if isinstance(value, dict):
        return {str(key): _json_safe(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_json_safe(part) for part in value]
    return value
