"""Verdict, evidence, events, costs and alarms, as they travel."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from driftjudge.service.wire.shapes import Given

VerdictKind = Literal["none", "system", "judge", "unattributed"]


class CellName(Given):
    """A rubric in a stratum."""

    rubric: str
    stratum: str


class JudgeChange(Given):
    """How the judge moved on a rubric."""

    rubric: str
    change: str = Field(examples=["harsher", "more lenient", "different"])


class VerdictShape(Given):
    """Who drifted, as far as the evidence goes."""

    kind: VerdictKind
    status: Literal["watching", "pending", "final"] = Field(
        description="pending: the guard is open, and system may still become judge."
    )
    epoch: int
    position: int
    system_alarm_at: int | None = None
    judge_alarm_at: int | None = None
    cells: list[CellName]
    rubrics: list[JudgeChange]
    promise: str = Field(description="The error rate in force, in words.")
    text: str = Field(description="One plain sentence for the person on call.")


class ConditionShape(Given):
    """Something that keeps a monitor from seeing: neither drift nor health."""

    id: int
    monitor: str
    kind: str = Field(examples=["judge_unavailable", "no_data", "budget_exhausted"])
    detail: str
    opened_at: datetime
    closed_at: datetime | None = None


class ConditionList(Given):
    """Conditions, newest first."""

    conditions: list[ConditionShape]


class CellShape(Given):
    """One rubric x stratum cell of the main family; a number that does not exist yet is absent."""

    rubric: str
    stratum: str
    bar: float | None = None
    bar_error: float | None = None
    null: float | None = None
    calibration_items: int
    observations: int
    mean: float | None = None
    log_e: float | None = None
    named: bool


class ShiftShape(Given):
    """How the current judge scores the anchors, against itself at time 0."""

    rubric: str
    baseline_gap: float | None = None
    shift: float | None = None
    low: float | None = None
    high: float | None = None
    since: int
    rescores: int
    log_e_harsher: float | None = None
    log_e_lenient: float | None = None


class CostShape(Given):
    """Calls, relative to asking the strong judge about every item."""

    items: int
    strong_calls: int
    anchor_calls: int
    cheap_unscored: int
    strong_unscored: int
    anchor_unscored: int
    fraction: float


class SpendingShape(Given):
    """What one judge cost on one day (UTC)."""

    day: str
    role: str
    fingerprint: str
    answers: int
    unscored: int
    calls: int
    input_tokens: int
    output_tokens: int
    dollars: float
    unpriced: int = Field(description="Answers without a known price.")


class CostsShape(Given):
    """What a monitor spent."""

    relative: CostShape | None = None
    dollars_today: float
    dollars_total: float
    daily_dollars: float | None = Field(default=None, description="The ceiling.")
    lines: list[SpendingShape]


class MilestoneShape(Given):
    """One line of the alarm's story."""

    position: int
    kind: str
    text: str


class EvidenceShape(Given):
    """Everything behind the verdict at the current position."""

    verdict: VerdictShape
    system_threshold_log: float
    judge_threshold_log: float
    cells: list[CellShape]
    shifts: list[ShiftShape]
    cost: CostShape
    story: list[MilestoneShape]
    assumptions: list[str]


class TraceShape(Given):
    """The race over time: natural logs of both families' e-values at a bounded number of positions."""

    position: list[int]
    system: list[float | None]
    judge: list[float | None]
    strong_calls: list[int]
    anchor_calls: list[int]
    system_threshold: float
    judge_threshold: float


class EventShape(Given):
    """One line of the append-only log."""

    seq: int
    at: datetime
    kind: str
    body: dict[str, Any]
    fingerprint: str = Field(description="Which judge the scores are from.")


class EventPage(Given):
    """Events in the order of the log."""

    events: list[EventShape]
    next: int | None = Field(default=None, description="Give it as `after` to go on; absent at the end.")


class StoryShape(Given):
    """One line of an alarm's story."""

    at: datetime
    position: int
    kind: str
    text: str
    by: str = ""


class AlarmShape(Given):
    """An alarm from its rise to its end."""

    id: int
    monitor: str
    epoch: int
    state: str = Field(examples=["open", "acknowledged", "closed"])
    dedup_key: str
    verdict: VerdictShape
    opened_at: datetime
    acknowledged_at: datetime | None = None
    closed_at: datetime | None = None
    story: list[StoryShape]


class AlarmPage(Given):
    """Alarms, newest first."""

    alarms: list[AlarmShape]
    next: int | None = Field(default=None, description="Give it as `before` to go on; absent at the end.")


class AnchorLineShape(Given):
    """One anchor: the humans, the judge at time 0, and the judge now."""

    id: str
    human: list[float]
    usual: list[float | None] = Field(description="The time-0 judge's usual scores; null where it refused.")
    last: list[float | None] | None = None
    mean: list[float | None] | None = None
    rescores: int
    unscored: int
    disagreement: float | None = Field(
        default=None, description="Largest distance of the latest re-score from the humans."
    )
    watched: bool
    texts: dict[str, str] | None = None


class AnchorsShape(Given):
    """How the judge stands to the humans and to itself."""

    frozen: str | None = None
    passes: int
    shifts: list[ShiftShape]
    last_scored_at: datetime | None = None
    lines: list[AnchorLineShape] = Field(description="Largest disagreement first.")
    total: int
    notes: list[str]


class ChangeShape(Given):
    """A verdict, an alarm or a condition that changed; what the stream sends."""

    id: int | None = Field(
        default=None, description="Send it as Last-Event-ID to go on from here; absent for mere progress."
    )
    monitor: str
    kind: str = Field(examples=["opened", "attributed", "acknowledged", "closed", "condition", "progress"])
    dedup_key: str
    at: datetime
    payload: dict[str, Any]
