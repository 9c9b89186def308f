"""What goes into the service and what comes out of it: plain values, no HTTP, no database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.evidence import Cost, JudgeShift
from driftjudge.monitor.scores import Failure
from driftjudge.monitor.verdict import Verdict

ScoresIn = tuple[float, ...] | Failure
"""One number of [0, 1] per rubric in the config's order, or why there is none."""

MonitorState = Literal["draft", "scoring", "running", "archived"]
"""`draft`: waits for calibration; `scoring`: the judges score what it starts from; `archived`: read only."""
AlarmState = Literal["open", "acknowledged", "closed"]
ConditionKind = Literal["judge_unavailable", "no_data", "budget_exhausted"]
ChangeKind = Literal["opened", "attributed", "acknowledged", "closed", "condition", "progress"]

MOST_ITEMS = 1_000
"""Items of one request."""
LONGEST_ID = 255
LONGEST_NAME = 100
MOST_TEXT = 200_000
"""Characters of all texts of one item."""
MOST_FIELDS = 32
MOST_ANCHORS = 10_000
MOST_CALIBRATION = 100_000
MOST_LISTED = 1_000
"""Rows of one page of any listing."""


@dataclass(frozen=True)
class Judging:
    """Who judges in the background, and how hard they may be driven. Without judges, clients send all scores."""

    cheap: Mapping[str, Any] | None = None
    """Settings of the cheap judge as `judges.JudgeSettings` reads them; never a key."""
    strong: Mapping[str, Any] | None = None
    """Settings of the strong judge, which also re-scores the anchors."""
    rubrics: Mapping[str, str] = field(default_factory=dict)
    """What each rubric asks, for the prompt."""
    scale: tuple[float, float] = (0.0, 4.0)
    """Lowest and highest mark the prompt asks for; scores are mapped from it to [0, 1]."""
    concurrency: int = 8
    """Calls in flight per judge: at most this many are made again after a kill."""
    calls_per_second: float | None = None
    """Most calls per second and judge."""
    daily_dollars: float | None = None
    """Ceiling per day (UTC) over all judges of the monitor; when it is reached, calls wait for the next day."""
    passes: int = 4
    """Baseline passes over the anchors when the service scores them itself."""


@dataclass(frozen=True)
class MonitorSettings:
    """What belongs to a monitor besides its statistics."""

    judging: Judging = field(default_factory=Judging)
    no_data_after: float | None = 3_600.0
    """Seconds without an item after which the condition `no_data` opens; None for a stream that may rest."""
    keep_texts_days: float = 30.0
    """Age at which texts of judged items are deleted; evidence, scores and ids stay. Anchors' texts stay."""
    description: str = ""


@dataclass(frozen=True)
class MonitorInfo:
    """A monitor at a glance; cheap to list by the thousand."""

    name: str
    state: MonitorState
    created_at: float
    last_item_at: float | None
    accepted: int
    """Items accepted, judged or not."""
    position: int
    """Items the monitor has observed."""
    verdict: Verdict | None
    """None while it is not running."""
    log_e_system: float | None
    log_e_judge: float | None
    """Natural logs of both families' e-values; None without anchors, or while not running."""
    conditions: tuple[ConditionKind, ...]
    """Open now."""
    open_alarms: int
    anchored: bool
    anchors: int
    """Anchors uploaded."""
    frozen: str | None
    """Freeze hash of the anchor set, once frozen."""
    system_threshold: float | None = None
    judge_threshold: float | None = None
    """E-values at which the two families alarm; None while it is not running."""


@dataclass(frozen=True)
class MonitorDetail:
    """One monitor with everything it was set up with."""

    info: MonitorInfo
    config: MonitorConfig
    settings: MonitorSettings
    waiting_cheap: int
    """Accepted items whose cheap scores are still to come."""
    waiting_strong: int
    waiting_anchors: int
    setup_done: int
    setup_wanted: int
    """While the judges score anchors or calibration items: how far they are."""
    setup_error: str | None = None
    """Why the last set-up by the judges did not lead to a start."""


@dataclass(frozen=True)
class ItemIn:
    """An item of the stream: with cheap scores already made, or with texts to be judged, or with both."""

    id: str
    stratum: str
    cheap: ScoresIn | None = None
    """Left out: the configured cheap judge scores the texts first, in order of acceptance."""
    texts: Mapping[str, str] | None = None
    """Named texts, for example `prompt` and `response`; needed where a configured judge is to score the item."""
    strong: ScoresIn | None = None
    """Strong scores already made: taken if the monitor asks for them, ignored if not."""


@dataclass(frozen=True)
class ItemOut:
    """What became of an item. The same item sent again gets the same answer, with `duplicate`."""

    id: str
    number: int
    """Order of acceptance in this monitor, from 1."""
    position: int | None
    """Position in the monitored stream; None while the cheap judge has not answered."""
    asked_strong: bool | None
    """The monitor wants strong scores for it. A configured judge gives them; else call `record_strong`."""
    asked_anchors: tuple[str, ...]
    """Anchors to re-score now, likewise."""
    duplicate: bool = False


@dataclass(frozen=True)
class StrongIn:
    """Strong scores for an item that was asked about."""

    item_id: str
    scores: ScoresIn
    fingerprint: str = ""
    """Which judge it was."""


@dataclass(frozen=True)
class AnchorScoreIn:
    """A re-score of an anchor that was asked for."""

    anchor_id: str
    scores: ScoresIn
    answer_id: str | None = None
    """Makes it idempotent: an answer id is taken once. Without it, one request is one re-score."""
    fingerprint: str = ""


@dataclass(frozen=True)
class Recorded:
    """What became of recorded scores."""

    taken: int
    duplicates: int
    verdict: Verdict
    wanted_anchors: tuple[str, ...]
    """Anchors still to be re-scored; a burst can follow any record."""


@dataclass(frozen=True)
class AnchorIn:
    """An anchor: an item with a human label per rubric, and its texts where the service is to re-score it."""

    id: str
    human: tuple[float, ...]
    texts: Mapping[str, str] | None = None
    stratum: str | None = None
    """Where it belongs, so that a judge that moved in one stratum is seen sooner; all anchors have one, or none."""


@dataclass(frozen=True)
class CalibrationIn:
    """An in-control item: with strong scores already made, or with texts for the configured strong judge."""

    id: str
    stratum: str
    scores: ScoresIn | None = None
    texts: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Idempotency:
    """An Idempotency-Key: within `scope` (the caller) it belongs to one body and gets one answer."""

    scope: str
    key: str
    body: str
    """Hash of the request."""


@dataclass(frozen=True)
class StoryLine:
    """One line of an alarm's story."""

    at: float
    position: int
    kind: str
    text: str
    by: str = ""


@dataclass(frozen=True)
class Alarm:
    """An alarm from its opening to its end."""

    id: int
    monitor: str
    epoch: int
    dedup_key: str
    state: AlarmState
    verdict: Verdict
    """The latest verdict of this alarm."""
    opened_at: float
    acknowledged_at: float | None
    closed_at: float | None
    story: tuple[StoryLine, ...]


@dataclass(frozen=True)
class Condition:
    """Something that keeps a monitor from seeing: neither drift nor health."""

    id: int
    monitor: str
    kind: ConditionKind
    dedup_key: str
    detail: str
    opened_at: float
    closed_at: float | None


@dataclass(frozen=True)
class LoggedEvent:
    """One row of a monitor's log."""

    seq: int
    at: float
    body: Mapping[str, Any]
    """As `monitor.events.event_to_json` writes it; `event` is its kind."""
    fingerprint: str
    """Which judge the scores are from; empty where a client sent them without saying."""


@dataclass(frozen=True)
class SpendingLine:
    """What one judge cost on one day (UTC)."""

    day: str
    role: str
    """cheap, strong, anchor, baseline or calibration."""
    fingerprint: str
    answers: int
    unscored: int
    calls: int
    input_tokens: int
    output_tokens: int
    dollars: float
    """Of the calls whose price is known."""
    unpriced: int
    """Answers without a known price."""


@dataclass(frozen=True)
class Costs:
    """What a monitor spent: relative (equation 4) and in dollars."""

    relative: Cost | None
    dollars_today: float
    dollars_total: float
    daily_dollars: float | None
    """The ceiling."""
    lines: tuple[SpendingLine, ...]
    """Newest day first."""


@dataclass(frozen=True)
class AnchorLine:
    """One anchor: the humans, the judge at time 0, and the judge now."""

    id: str
    human: tuple[float, ...]
    usual: tuple[float | None, ...]
    """The time-0 judge's usual scores; None where it refused, or where the anchor was screened out."""
    last: tuple[float, ...] | None
    """The latest re-score."""
    mean: tuple[float, ...] | None
    """Mean of this epoch's re-scores."""
    rescores: int
    unscored: int
    disagreement: float | None
    """Largest distance of the latest re-score from the humans, over the rubrics."""
    watched: bool
    texts: Mapping[str, str] | None
    stratum: str | None = None


@dataclass(frozen=True)
class AnchorsReport:
    """How the judge stands to the humans and to itself."""

    frozen: str | None
    passes: int
    shifts: tuple[JudgeShift, ...]
    last_scored_at: float | None
    lines: tuple[AnchorLine, ...]
    """Largest disagreement first; one page."""
    total: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """Something to tell subscribers; all but `progress` are also rows of the outbox, and `id` is theirs."""

    id: int | None
    monitor: str
    kind: ChangeKind
    dedup_key: str
    at: float
    payload: Mapping[str, Any]


@dataclass(frozen=True)
class Health:
    """For `/readyz` and `/metrics`."""

    ready: bool
    detail: str
    loaded: int
    leased: int
    queued: int
    """Items waiting for the writer."""
    in_flight: int
    """Judge calls being made."""
    commits: int
    failed_commits: int
