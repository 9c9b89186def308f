"""Monitors, their anchors and their calibration, as they travel."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import ConfigDict, Field, JsonValue

from driftjudge.service.values import MOST_ANCHORS, MOST_CALIBRATION
from driftjudge.service.wire.config import ConfigShape
from driftjudge.service.wire.reading import VerdictShape
from driftjudge.service.wire.shapes import NO_NUL, Given, Id, Line, MonitorName, Name, Score, Scores, Taken, Texts

JudgeSettings = Annotated[
    dict[Annotated[str, Field(max_length=64)], JsonValue],
    Field(
        max_length=64,
        description="Provider, model and so on; a key is named by its environment variable (api_key_env), never sent.",
        examples=[{"model": "openai:gpt-5-mini", "api_key_env": "OPENAI_API_KEY"}],
    ),
]


class JudgingShape(Taken):
    """Who judges in the background, and how hard they may be driven; all empty where clients send all scores."""

    cheap: JudgeSettings | None = None
    strong: JudgeSettings | None = Field(default=None, description="Also re-scores the anchors.")
    rubrics: Annotated[dict[Name, Annotated[str, Field(max_length=4_000, pattern=NO_NUL)]], Field(max_length=200)] = (
        Field(default_factory=dict, description="What each rubric asks, for the prompt.")
    )
    scale: Annotated[list[Annotated[float, Field(ge=-1e6, le=1e6)]], Field(min_length=2, max_length=2)] = Field(
        default=[0.0, 4.0], description="Lowest and highest mark the prompt asks for."
    )
    concurrency: int = Field(default=8, ge=1, le=256, description="Calls in flight per judge.")
    calls_per_second: float | None = Field(default=None, gt=0.0, le=1e6)
    daily_dollars: float | None = Field(
        default=None, ge=0.0, le=1e9, description="Ceiling per day (UTC); calls wait beyond it."
    )
    passes: int = Field(
        default=4, ge=1, le=100, description="Baseline passes over the anchors that the service makes itself."
    )


class SettingsShape(Taken):
    """What belongs to a monitor besides its statistics, and may change while it watches."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"description": "Answers of the support bot", "keep_texts_days": 14.0}]}
    )

    description: Line = ""
    no_data_after: float | None = Field(
        default=3_600.0,
        gt=0.0,
        le=1e9,
        description="Seconds of silence until the condition no_data opens; null: never.",
    )
    keep_texts_days: float = Field(
        default=30.0, ge=0.0, le=36_500.0, description="Texts are deleted at that age, never evidence."
    )
    judging: JudgingShape = Field(default_factory=lambda: JudgingShape())


class NewMonitor(Taken):
    """A monitor to create. It starts to watch once it is calibrated."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "support-bot",
                    "config": {"rubrics": ["helpfulness"], "strata": ["coding", "creative"], "budget": 0.3},
                    "settings": {"description": "Answers of the support bot"},
                }
            ]
        }
    )

    name: MonitorName
    config: ConfigShape
    settings: SettingsShape = Field(default_factory=lambda: SettingsShape())


class MonitorShape(Given):
    """A monitor at a glance."""

    name: str
    state: str = Field(description="draft, scoring, running or archived", examples=["running"])
    created_at: datetime
    last_item_at: datetime | None = None
    accepted: int = Field(description="Items accepted, judged or not.")
    position: int = Field(description="Items the monitor has observed.")
    verdict: VerdictShape | None = None
    log_e_system: float | None = Field(default=None, description="Natural log of the main family's e-value.")
    log_e_judge: float | None = Field(default=None, description="Natural log of the anchor family's e-value.")
    conditions: list[str] = Field(description="Open now: judge_unavailable, no_data, budget_exhausted.")
    open_alarms: int
    anchored: bool
    anchors: int
    frozen: str | None = Field(default=None, description="Freeze hash of the anchor set, once frozen.")


class MonitorDetailShape(MonitorShape):
    """One monitor with everything it was set up with."""

    config: dict[str, Any]
    settings: dict[str, Any]
    waiting_cheap: int
    waiting_strong: int
    waiting_anchors: int
    setup_done: int
    setup_wanted: int


class MonitorPage(Given):
    """Monitors in the order of their names."""

    monitors: list[MonitorShape]
    next: str | None = Field(default=None, description="Give it as `after` to go on; absent at the end.")


class AnchorShape(Taken):
    """An item with a human label; it is frozen and re-scored for as long as the monitor watches."""

    id: Id
    human: Annotated[list[Score], Field(min_length=1, max_length=200, description="In rubric order.")]
    passes: Annotated[
        list[Annotated[list[Score], Field(min_length=1, max_length=200)] | None],
        Field(max_length=100, description="Time-0 scorings by the strong judge, null where it refused."),
    ] = Field(default_factory=list)
    texts: Texts | None = Field(default=None, description="For the configured strong judge.")
    stratum: Name | None = Field(default=None, description="One of the monitor's strata; for all anchors or for none.")


class AnchorUpload(Taken):
    """The whole anchor set; a later upload replaces it until it is frozen."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "anchors": [
                        {"id": "a1", "human": [1.0], "passes": [[0.75], [0.75]]},
                        {"id": "a2", "human": [0.25], "passes": [[0.5], [0.25]]},
                    ]
                }
            ]
        }
    )

    anchors: Annotated[list[AnchorShape], Field(min_length=2, max_length=MOST_ANCHORS)]
    resolution: float | None = Field(
        default=None, gt=0.0, lt=1.0, description="By how much a score must differ to count."
    )


class CalibrationItem(Taken):
    """An item from a time when all was well: with the strong judge's scores, or with texts for it."""

    id: Id
    stratum: Name
    scores: Scores | None = None
    texts: Texts | None = None


class CalibrationUpload(Taken):
    """What healthy looks like: the bars come from it."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"items": [{"id": "c1", "stratum": "coding", "scores": [0.75]}]}]}
    )

    items: Annotated[list[CalibrationItem], Field(min_length=1, max_length=MOST_CALIBRATION)]
    skip_low_bars: bool = Field(
        default=False,
        description="Leave cells unwatched whose bar leaves no room for a drop, instead of refusing them.",
    )


class Reanchoring(CalibrationUpload):
    """Accept the current judge: new baseline passes of the anchors uploaded since, and bars from these items."""


class Acknowledgement(Taken):
    """Take note of a final verdict; with items, accept the new level as the bar."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"note": "rolled back at noon"}]})

    note: Line = ""
    items: Annotated[list[CalibrationItem], Field(max_length=MOST_CALIBRATION)] = Field(default_factory=list)


class Closing(Taken):
    """Close an alarm that needs no further action."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"note": "expected: new retrieval index"}]})

    note: Line = ""
