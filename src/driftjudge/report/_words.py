"""Every figure and sentence of charts and report: one place, so that picture, page and alternative text agree."""

from __future__ import annotations

import math
from collections.abc import Sequence

from driftjudge.monitor.evidence import CellEvidence, Cost, Evidence, JudgeShift, Trace
from driftjudge.report._timeline import has_anchors

MINUS = "\N{MINUS SIGN}"


def figure(value: float, digits: int) -> str:
    """A number as people write it; a dash where there is none.

    >>> figure(-1.234, 1), figure(float("nan"), 1), figure(-0.01, 1)
    ('−1.2', '–', '0.0')
    """
    if not math.isfinite(value):
        return "–"
    text = f"{value:,.{digits}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0.0 else text.replace("-", MINUS)


def signed(value: float, digits: int = 2) -> str:
    """A difference, with its sign.

    >>> signed(0.124), signed(-0.126), signed(0.001)
    ('+0.12', '−0.13', '0.00')
    """
    text = figure(value, digits)
    return f"+{text}" if value > 0.0 and text.strip("0.,") else text


def interval(shift: JudgeShift) -> str:
    """The ends of an anytime-valid interval, in words."""
    if not (math.isfinite(shift.low) and math.isfinite(shift.high)):
        return "–"
    if says_nothing(shift):
        return "too few re-scores"
    return f"{signed(shift.low)} to {signed(shift.high)}"


def says_nothing(shift: JudgeShift) -> bool:
    """An interval over nearly every shift there can be."""
    return shift.high - shift.low > 1.5


def is_watched(cell: CellEvidence) -> bool:
    """False for a cell whose bar leaves no room for a drop: its null is NaN, or at or below the lowest score."""
    return cell.null > 0.0


def strength(cell: CellEvidence) -> float:
    """What cells are ranked by; those without evidence come last."""
    return cell.log_e if is_watched(cell) and not math.isnan(cell.log_e) else -math.inf


def is_shifted(shift: JudgeShift) -> bool:
    """True when the interval leaves out zero."""
    return shift.low > 0.0 or shift.high < 0.0


def count(number: int, noun: str) -> str:
    """A number of things.

    >>> count(1, "item"), count(1200, "item")
    ('1 item', '1,200 items')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def listed(names: Sequence[str], most: int = 3) -> str:
    """Names in a sentence, the first few of many.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c", "d", "e"])
    ('a', 'a and b', 'a, b, c and 2 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else ""


def race_subtitle(trace: Trace) -> list[str]:
    """What the lines mean."""
    lines = ["Evidence is the natural log of each family's e-value; a family alarms at its dashed line."]
    if not has_anchors(trace):
        lines.append("There are no anchors, so the judge's side of the race is not watched.")
    return lines


def race_summary(trace: Trace, evidence: Evidence, change_at: int | None) -> str:
    """The race for those who cannot see it."""
    parts = [f"Evidence over {count(int(trace.position[-1]), 'stream item')}"]
    families = [("system", evidence.verdict.system_alarm_at)]
    if has_anchors(trace):
        families.append(("judge", evidence.verdict.judge_alarm_at))
    for family, at in families:
        parts.append(f"the {family} family " + ("does not alarm" if at is None else f"alarms at item {at:,}"))
    if not has_anchors(trace):
        parts.append("there are no anchors to watch the judge")
    if change_at is not None:
        parts.append(f"the injected change is at item {change_at:,}")
    return "; ".join(parts) + "."


def cells_subtitle(evidence: Evidence, rows: int) -> list[str]:
    """How to read the heat map."""
    lines = ["Natural log of each cell's e-value: the stronger the colour, the stronger the sign that it dropped."]
    marks = []
    if any(cell.named for cell in evidence.cells):
        marks.append("▼ and an outline: named as dropped when the alarm rose.")
    if any(not is_watched(cell) for cell in evidence.cells):
        marks.append("×: not watched, its bar is too low to fall below.")
    strata = len({cell.stratum for cell in evidence.cells})
    if rows < strata:
        marks.append(f"Only the {rows} of {strata} strata with the most evidence are shown.")
    return lines + ([" ".join(marks)] if marks else [])


def cells_summary(evidence: Evidence) -> str:
    """The heat map for those who cannot see it."""
    named = [f"{cell.rubric} in {cell.stratum}" for cell in evidence.cells if cell.named]
    idle = sum(not is_watched(cell) for cell in evidence.cells)
    said = f"named as dropped: {listed(named)}" if named else "none is named as dropped"
    watched = f"{count(idle, 'cell')} not watched" if idle else "all watched"
    return f"Evidence of {count(len(evidence.cells), 'cell')} of rubric and stratum, {watched}; {said}."


def shift_subtitle() -> list[str]:
    """How to read the intervals."""
    return [
        "Now against time 0, with an interval that holds at every moment; a filled blue point where it leaves out zero."
    ]


def shift_summary(evidence: Evidence) -> str:
    """The shifts for those who cannot see them."""
    told = [f"{s.rubric} {signed(s.shift)} ({interval(s)})" for s in evidence.shifts if math.isfinite(s.shift)]
    return f"Shift of the judge on the anchors: {listed(told, most=12)}." if told else "No anchor was re-scored yet."


def spending_summary(evidence: Evidence) -> str:
    """The spending for those who cannot see it."""
    return cost_sentence(evidence.cost)


def cost_sentence(cost: Cost) -> str:
    """What was spent, beside asking the strong judge about everything."""
    calls = f"{count(cost.strong_calls, 'call')} on stream items and {cost.anchor_calls:,} on anchors"
    share = f"{100 * cost.fraction:.0f}% of what asking the strong judge about every item would have cost"
    return f"For {count(cost.items, 'item')} the strong judge got {calls}; with the cheap judge that is {share}."
