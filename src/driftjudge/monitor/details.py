"""The sentences under the verdict's one: how much, where, since when, and what is not known."""

from __future__ import annotations

from collections.abc import Sequence

from driftjudge.monitor.evidence import Agreement, Drop, Evidence, JudgeShift, JudgeStratum, SystemDuringJudge
from driftjudge.monitor.verdict import ANY_RUBRIC

MOST_NAMED = 5
"""Rubrics, strata or cells that get words of their own."""


def details_of(evidence: Evidence) -> tuple[str, ...]:
    """What stands behind the verdict, most useful first; nothing while nothing alarmed."""
    lines: list[str] = []
    if evidence.verdict.judge_alarm_at is not None:
        lines += _shift_lines(evidence.shifts)
        lines += _stratum_lines(evidence.judge_strata)
        lines += _agreement_lines(evidence.agreement)
    if evidence.during_judge is not None:
        lines += _during_lines(evidence.during_judge)
    if evidence.verdict.kind in ("system", "unattributed"):
        lines += _drop_lines(evidence.drops)
    return tuple(lines)


def _shift_lines(shifts: Sequence[JudgeShift]) -> list[str]:
    if not any(shift.rescores for shift in shifts):
        return ["No anchor was re-scored since the judge alarm, so that nothing is known about the size of its shift."]
    level = f"{shifts[0].level:.0%}"
    moved = [shift for shift in shifts if shift.high < 0.0 or shift.low > 0.0]
    lines = [_shifted(shift, level) for shift in moved[:MOST_NAMED]]
    rest = [shift for shift in shifts if shift not in moved]
    if rest:
        widest = max(rest, key=lambda shift: shift.high - shift.low)
        names = listed([shift.rubric for shift in rest])
        lines.append(
            f"No mean shift is shown on {names}: with {widest.rescores} re-scores it lies between {widest.low:+.2f} "
            f"and {widest.high:+.2f} at the widest."
        )
    return lines


def _shifted(shift: JudgeShift, level: str) -> str:
    way = "lower" if shift.high < 0.0 else "higher"
    near, far = sorted((abs(shift.low), abs(shift.high)))
    return (
        f"The judge scores {shift.rubric} {abs(shift.shift):.2f} {way} than at time 0, by {near:.2f} to {far:.2f} at "
        f"every look ({level} for all rubrics together, {shift.rescores} re-scores)."
    )


def _stratum_lines(strata: Sequence[JudgeStratum]) -> list[str]:
    if not strata:
        return []
    named = [part.stratum for part in strata if part.named]
    if len(named) == len(strata):
        return [f"The judge is shown to have moved in each of the {len(strata)} strata that have enough anchors."]
    others = len(strata) - len(named)
    if named:
        return [f"The judge is shown to have moved in {listed(named)}; in {others} other strata nothing is shown yet."]
    return ["The change shows over all anchors together, and in no single stratum yet."]


def _agreement_lines(agreement: Sequence[Agreement]) -> list[str]:
    lines = []
    for part in agreement:
        overall = part.rubric == ANY_RUBRIC
        if part.rescores == 0 or (not overall and part.reading == "no difference shown"):
            continue
        where = "" if overall else f" on {part.rubric}"
        if part.reading == "no difference shown":
            lines.append(
                f"Whether the new judge agrees better or worse with the humans is not shown: its mean distance is "
                f"{part.now:.2f} after {part.before:.2f}, the difference between {part.low:+.2f} and {part.high:+.2f}."
            )
        else:
            lines.append(
                f"The new judge agrees {part.reading} with the humans{where}: its mean distance is {part.now:.2f} "
                f"after {part.before:.2f}, the difference between {part.low:+.2f} and {part.high:+.2f}."
            )
    return lines[: MOST_NAMED + 1]


def _during_lines(during: SystemDuringJudge) -> list[str]:
    if during.state == "untested":
        return ["Whether the system dropped as well is not tested: its bars belong to the old judge."]
    known = [part for part in during.lowered if part[2] < 1.0]
    if not known:
        return [
            f"Whether the system dropped as well cannot be said yet: {during.rescores} re-scores do not bound the "
            "judge's shift well enough."
        ]
    rubric, _, most = max(known, key=lambda part: part[2])
    bars = f"bars lowered by up to {most:.2f} ({rubric}) for the judge's shift"
    if during.state == "dropped":
        where = listed([f"{rubric} in {stratum}" for rubric, stratum in during.cells])
        said = f"The system got worse as well: {where} fell below {bars} (item {during.alarm_at})"
    else:
        said = f"No drop of the system is shown against {bars}; a smaller one would not show"
    return [f"{said}; error rate {during.alpha:g}, if {during.assumption}."]


def _drop_lines(drops: Sequence[Drop]) -> list[str]:
    lines = [
        f"{drop.rubric} in {drop.stratum} fell at about item {drop.since} (between {drop.since_low} and "
        f"{drop.since_high}), by {drop.size:.2f} below its bar ({drop.size_low:.2f} to {drop.size_high:.2f})."
        for drop in drops[:MOST_NAMED]
    ]
    if lines:
        lines.append(
            f"Such intervals held the truth at {drops[0].claimed:.0%} or more of simulated alarms about drops of 0.15 "
            "to 0.45; they are estimates, not bounds."
        )
    return lines


def listed(names: Sequence[str]) -> str:
    """Names in a sentence, the first few of many.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(list("abcdefg"))
    ('a', 'a, b and c', 'a, b, c, d, e and 2 more')
    """
    shown = list(names[:MOST_NAMED])
    if len(names) > MOST_NAMED:
        return f"{', '.join(shown)} and {len(names) - MOST_NAMED} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
