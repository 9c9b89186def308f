"""The figures behind the charts, as HTML tables."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.evidence import Evidence
from driftjudge.monitor.verdict import ANY_RUBRIC
from driftjudge.report._words import figure, interval, is_watched, signed, strength

MOST_ROWS = 500
"""Cells listed; of more, those with the strongest evidence."""


def cells_table(evidence: Evidence) -> str:
    """Every cell, strongest evidence first."""
    cells = sorted(evidence.cells, key=strength, reverse=True)
    rows = [
        [
            cell.rubric,
            cell.stratum,
            "dropped" if cell.named else "not watched" if not is_watched(cell) else "",
            figure(cell.log_e, 2),
            figure(cell.mean, 3),
            figure(cell.bar, 3),
            figure(cell.bar_error, 3),
            figure(cell.null, 3),
            f"{cell.observations:,}",
            f"{cell.calibration_items:,}",
        ]
        for cell in cells[:MOST_ROWS]
    ]
    heads = [
        "rubric",
        "stratum",
        "named",
        "evidence (ln e)",
        "mean now",
        "healthy mean",
        "its error",
        "alarms below",
        "observations",
        "calibration items",
    ]
    note = "Strongest evidence first; scores on the 0 to 1 scale."
    if len(cells) > MOST_ROWS:
        note += f" The {MOST_ROWS} strongest of {len(cells):,} cells."
    bold = [number for number, cell in enumerate(cells[:MOST_ROWS]) if cell.named]
    return _table(heads, rows, note, names=3, bold=bold)


def shifts_table(evidence: Evidence) -> str:
    """Every rubric's shift on the anchors."""
    rows = [
        [
            shift.rubric,
            signed(shift.shift, 3),
            interval(shift),
            signed(shift.baseline_gap, 3),
            f"{shift.rescores:,}",
            "whole epoch" if shift.since == 0 else f"item {shift.since:,}",
            figure(shift.log_e_harsher, 2),
            figure(shift.log_e_lenient, 2),
        ]
        for shift in evidence.shifts
    ]
    heads = [
        "rubric",
        "shift now against time 0",
        "anytime-valid interval",
        "judge minus human at time 0",
        "re-scores",
        "since",
        "evidence of harsher (ln e)",
        "evidence of more lenient (ln e)",
    ]
    return _table(heads, rows, "Scores on the 0 to 1 scale; below zero the judge is harsher.", names=1, bold=())


def agreement_table(evidence: Evidence) -> str:
    """How far the judge lies from the humans, before and since its alarm."""
    rows = [
        [
            "all rubrics" if part.rubric == ANY_RUBRIC else part.rubric,
            part.reading,
            figure(part.before, 3),
            figure(part.now, 3),
            f"{signed(part.low)} to {signed(part.high)}",
            f"{part.rescores:,}",
        ]
        for part in evidence.agreement
    ]
    heads = [
        "rubric",
        "agreement now",
        "mean distance at time 0",
        "now",
        "anytime-valid interval of the change",
        "re-scores",
    ]
    level = f"{evidence.agreement[0].level:.0%}"
    note = f"Distance is |judge - human|; below zero the new judge agrees better. All intervals hold with {level}."
    return _table(heads, rows, note, names=2, bold=())


def judge_strata_table(evidence: Evidence) -> str:
    """What the anchors of each stratum say about the judge."""
    rows = [
        [
            part.stratum,
            "moved" if part.named else "not shown",
            f"{part.anchors:,}",
            f"{part.rescores:,}",
            figure(part.log_e, 2),
        ]
        for part in evidence.judge_strata
    ]
    bold = [number for number, part in enumerate(evidence.judge_strata) if part.named]
    heads = ["stratum", "judge", "anchors", "re-scores", "evidence (ln e)"]
    return _table(heads, rows, "Strata with enough anchors to be watched by themselves.", names=2, bold=bold)


def settings_table(config: MonitorConfig) -> str:
    """The configuration, setting by setting."""
    rows = [[name, _setting(value)] for name, value in config.to_json().items()]
    return _table(["setting", "value"], rows, "As the monitor used them.", names=2, bold=())


def _setting(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else "none" if value is None else str(value)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], note: str, *, names: int, bold: Sequence[int]) -> str:
    """A table that scrolls sideways on a narrow page; its first `names` columns are text, the first heads rows."""

    def kind(column: int) -> str:
        return ' class="name"' if column < names else ""

    head = "".join(f'<th scope="col"{kind(at)}>{escape(text)}</th>' for at, text in enumerate(heads))
    body = []
    for number, row in enumerate(rows):
        cells = [f'<th scope="row" class="name">{escape(row[0])}</th>']
        cells += [f"<td{kind(at)}>{escape(text)}</td>" for at, text in enumerate(row) if at]
        mark = ' class="named"' if number in bold else ""
        body.append(f"<tr{mark}>{''.join(cells)}</tr>")
    return (
        f'<p class="note">{escape(note)}</p>'
        f'<div class="table" role="region" tabindex="0" aria-label="{escape(note)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )
