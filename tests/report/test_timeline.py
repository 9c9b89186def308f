from __future__ import annotations

from dataclasses import replace

from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.evidence import Milestone
from driftjudge.report._timeline import timeline
from tests.report.samples import RUBRICS, STRATA, Sample, sample


def told(shown: Sample, *story: Milestone) -> Sample:
    return replace(shown, evidence=replace(shown.evidence, story=story))


def test_the_guard_runs_from_the_system_alarm_to_where_it_closed() -> None:
    shown = sample("system")
    at = shown.evidence.verdict.system_alarm_at
    assert at is not None
    closed = told(shown, Milestone(at, "system_alarm", ""), Milestone(at + 77, "guard_closed", ""))
    assert timeline(closed.trace, closed.evidence).guard == (at, at + 77)


def test_an_open_guard_runs_to_the_newest_item() -> None:
    shown = sample("system", status="pending")
    at = shown.evidence.verdict.system_alarm_at
    assert timeline(shown.trace, shown.evidence).guard == (at, 1500)


def test_a_guard_that_the_anchors_ended_shows_the_window_they_had() -> None:
    config = MonitorConfig(rubrics=RUBRICS, strata=STRATA, preset="paper", guard=50)
    shown = told(sample("judge", config=config))
    at = shown.evidence.verdict.system_alarm_at
    assert at is not None
    assert timeline(shown.trace, shown.evidence).guard == (at, at + 50)


def test_a_guard_that_a_burst_settled_at_once_takes_no_room() -> None:
    config = MonitorConfig(rubrics=RUBRICS, strata=STRATA, preset="robust")
    shown = told(sample("judge", config=config))
    assert shown.evidence.verdict.system_alarm_at is not None
    assert timeline(shown.trace, shown.evidence).guard is None


def test_without_anchors_there_is_no_guard() -> None:
    shown = sample("unattributed", anchors=False)
    assert shown.evidence.verdict.system_alarm_at is not None
    assert timeline(shown.trace, shown.evidence).guard is None


def test_alarms_of_earlier_epochs_come_from_the_story() -> None:
    shown = sample("system")
    at = shown.evidence.verdict.system_alarm_at
    earlier = told(shown, Milestone(90, "system_alarm", ""), Milestone(120, "acknowledged", ""))
    events = timeline(earlier.trace, earlier.evidence)
    assert events.alarms["system"] == (90, at)
    assert events.epochs == (120,)
