"""What each page shows, gathered from the service: templates only lay it out."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.evidence import Evidence, Trace
from driftjudge.report import _tables, _words
from driftjudge.report._advice import BADGES, advice, badge
from driftjudge.report._cells import shown_strata
from driftjudge.service.access import Principal
from driftjudge.service.errors import ConflictError, UnknownMonitorError
from driftjudge.service.page import words
from driftjudge.service.page.pictures import Chart
from driftjudge.service.runtime import Service
from driftjudge.service.values import Alarm, MonitorDetail, MonitorInfo

MOST_ROWS = 1_000
MOST_ALARMS = 20
MOST_DISAGREEMENTS = 20


@dataclass(frozen=True)
class Row:
    """One line of the overview."""

    info: MonitorInfo
    sentence: str
    meters: tuple[tuple[str, float, int], ...]
    """(family, log e-value, per cent of the way to its alarm)."""


def overview(service: Service, visitor: Principal, after: str) -> dict[str, Any]:
    """All monitors this visitor may see, the urgent ones first."""
    infos = _own(service, visitor) if visitor.monitors is not None else service.monitors(after=after, limit=MOST_ROWS)
    seen = [info for info in infos if visitor.may("read", info.name)]
    rows = [Row(info, _sentence(info), _meters(info)) for info in sorted(seen, key=words.urgency)]
    alarmed = sum(info.verdict is not None and info.verdict.kind != "none" for info in seen)
    troubled = sum(bool(info.conditions) for info in seen)
    told = [_words.count(len(seen), "monitor")]
    told += [f"{_words.count(alarmed, 'alarm')}"] if alarmed else ["no alarm"]
    told += [f"{troubled} with trouble of their own"] if troubled else []
    # For a visitor who may see all: others have few, and must not learn a name from the address of the next page.
    more = f"/?after={quote(infos[-1].name)}" if len(infos) == MOST_ROWS and visitor.monitors is None else ""
    return {"rows": rows, "summary": " · ".join(told), "next_url": more}


def _own(service: Service, visitor: Principal) -> tuple[MonitorInfo, ...]:
    """The monitors a visitor's key names, as far as they exist."""
    found = []
    for name in (visitor.monitors or ())[:MOST_ROWS]:
        with suppress(UnknownMonitorError):
            found.append(service.monitor(name).info)
    return tuple(info for info in found if info.state != "archived")


def _sentence(info: MonitorInfo) -> str:
    if info.verdict is None or (info.verdict.kind == "none" and not info.conditions):
        return ""
    if info.verdict.kind == "none":
        return f"{words.CONDITIONS[info.conditions[0]]}: neither drift nor health can be seen."
    return info.verdict.explain()


def _meters(info: MonitorInfo) -> tuple[tuple[str, float, int], ...]:
    families = (("system", info.log_e_system, info.system_threshold), ("judge", info.log_e_judge, info.judge_threshold))
    return tuple(
        (name, log_e, words.progress(log_e, threshold))
        for name, log_e, threshold in families
        if log_e is not None and threshold is not None
    )


@dataclass(frozen=True)
class AlarmView:
    """An alarm's story, and whether its button is shown."""

    id: int
    title: str
    state: str
    epoch: int
    story: tuple[Any, ...]
    may_close: bool


def monitor(service: Service, visitor: Principal, name: str) -> dict[str, Any]:
    """One monitor, whatever state it is in."""
    detail = service.monitor(name)
    shared = {
        "detail": detail,
        "info": detail.info,
        "description": detail.settings.description,
        "rubrics": detail.config.rubrics,
        "conditions": service.conditions(name),
        "evidence": None,
    }
    try:
        evidence, trace = service.evidence(name), service.trace(name)
    except ConflictError:
        return {**shared, **_starting(detail)}
    return {**shared, **_running(service, visitor, detail, evidence, trace)}


def _starting(detail: MonitorDetail) -> dict[str, Any]:
    state = words.STATES.get(detail.info.state, detail.info.state)
    config: MonitorConfig = detail.config
    return {
        "badge": state,
        "headline": f"{state}: {detail.info.name} does not watch yet.",
        "promise": "",
        "stratum": config.strata[0],
        "example_scores": ", ".join(["0.75"] * len(config.rubrics)),
    }


def _running(
    service: Service, visitor: Principal, detail: MonitorDetail, evidence: Evidence, trace: Trace
) -> dict[str, Any]:
    verdict = evidence.verdict
    name, admin = detail.info.name, visitor.may("admin", detail.info.name)
    version = f"{detail.info.position}-{evidence.cost.anchor_calls}-{evidence.cost.strong_calls}-{verdict.epoch}"

    def picture(chart: Chart, width: str, mode: str) -> str:
        return f"/monitors/{quote(name, safe='')}/{chart}.svg?mode={mode}&width={width}&v={version}"

    running = detail.info.state == "running"
    return {
        "evidence": evidence,
        "badge": badge(verdict),
        "headline": verdict.explain(),
        "promise": verdict.promise,
        "advice": advice(evidence),
        "details": getattr(evidence, "details", ()),
        "picture": picture,
        "drawn": len(trace.position) > 0,
        "race_summary": _words.race_summary(trace, evidence, None) if len(trace.position) else "",
        "race_caption": " ".join(_words.race_subtitle(trace)),
        "cells_summary": _words.cells_summary(evidence),
        "cells_caption": " ".join(_words.cells_subtitle(evidence, len(shown_strata(evidence)))),
        "cells_table": Markup(_tables.cells_table(evidence)),  # escaped where it is made
        "shift_summary": _words.shift_summary(evidence),
        "shift_caption": " ".join(_words.shift_subtitle()),
        "shifts_table": Markup(_tables.shifts_table(evidence)),
        "anchors": service.anchors_report(name, limit=MOST_DISAGREEMENTS) if evidence.shifts else None,
        "cost_sentence": _words.cost_sentence(evidence.cost),
        "spending_summary": _words.spending_summary(evidence),
        "costs": service.costs(name),
        "waiting": detail.waiting_cheap + detail.waiting_strong + detail.waiting_anchors,
        "alarms": [_alarm(alarm, admin) for alarm in service.alarms(name, limit=MOST_ALARMS)],
        "may_acknowledge": admin
        and running
        and verdict.kind in ("system", "unattributed")
        and verdict.status == "final",
        "may_reanchor": admin and running and bool(evidence.shifts),
    }


def _alarm(alarm: Alarm, admin: bool) -> AlarmView:
    may_close = admin and alarm.state == "acknowledged"
    return AlarmView(alarm.id, BADGES[alarm.verdict.kind], alarm.state, alarm.epoch, alarm.story, may_close)


@dataclass(frozen=True)
class Field:
    """Something to fill in before an act."""

    name: str
    label: str
    rows: int = 1
    hint: str = ""
    required: bool = False
    value: str = ""


def acknowledge(detail: MonitorDetail) -> dict[str, Any]:
    """What acknowledging will do."""
    alarm = detail.info.verdict.explain() if detail.info.verdict is not None else ""
    return {
        "heading": "Acknowledge the alarm",
        "verb": "Acknowledge",
        "consequences": [
            f"You take note of this: {alarm}",
            "The system's evidence starts anew, in a new epoch with an error rate of its own.",
            "The anchors go on as they are: nothing happened to the judge.",
            "The bars stay: if the system stays below them, the alarm will rise again.",
            "Your name or key id and your note go into the alarm's story and the audit trail.",
        ],
        "fields": [Field("note", "Note for the story (optional)")],
    }


def reanchor(detail: MonitorDetail, judges_here: bool) -> dict[str, Any]:
    """What re-anchoring will do, and what it needs."""
    rubrics = ",".join(detail.config.rubrics)
    fields = [
        Field(
            "calibration",
            "In-control items scored by the current judge (CSV)",
            rows=8,
            hint=f"First line: id,stratum,{rubrics}. Scores in [0, 1]. They become the new bars.",
            required=True,
        )
    ]
    if not judges_here:
        fields.append(
            Field(
                "passes",
                "Baseline passes of the current judge over the anchors (CSV)",
                rows=8,
                hint=f"First line: anchor,pass,{rubrics}. Every anchor in every pass; two passes or more.",
                required=True,
            )
        )
    passes = (
        f"The configured strong judge scores all {detail.info.anchors:,} anchors "
        f"{detail.settings.judging.passes} times; that is paid for."
        if judges_here
        else "The passes you paste below become the judge's new baseline."
    )
    return {
        "heading": "Re-anchor: accept the current judge",
        "verb": "Re-anchor",
        "consequences": [
            "From now on the judge as it scores today is the ruler. Do this only if you decided to keep it.",
            passes,
            "Both families start anew, in a new epoch with error rates of its own; open alarms close.",
            "Scores that are still outstanding belong to the old judge and carry no evidence.",
            "It cannot be undone; the log keeps everything that led here.",
        ],
        "fields": fields,
    }
