"""The verdict: who drifted, since when, and in words for the person on call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["none", "system", "judge", "unattributed"]
"""`unattributed`: the main family alarmed but there are no anchors to tell who moved."""

Status = Literal["watching", "pending", "final"]
"""`pending`: the guard is open and the kind may still change to `judge`."""


During = Literal["untested", "no drop shown", "dropped"]
"""What can be said about the system while the judge moves: its test against bars lowered by the judge's shift."""

ANY_RUBRIC = "*"
"""Stands for 'some rubric': the judge departs from its usual scores, without one rubric or direction to name."""


@dataclass(frozen=True)
class Verdict:
    """Equation 7 of the paper, with the facts that support it."""

    kind: Kind
    status: Status
    position: int
    """Position of the latest alarm behind this verdict; 0 while there is none."""
    epoch: int
    system_alarm_at: int | None
    judge_alarm_at: int | None
    cells: tuple[tuple[str, str], ...]
    """(rubric, stratum) named when the system alarm rose: by closed testing, or else the strongest one."""
    rubrics: tuple[tuple[str, str], ...]
    """(rubric, "harsher" | "more lenient" | "different") when the judge alarm rose, strongest first."""
    promise: str
    """The error rate in force, in words."""
    judge_watched: bool = True
    """False without anchors: nothing can then be said about the judge."""
    strata: tuple[str, ...] = ()
    """Strata in which the judge was shown to have moved when its alarm rose; empty: seen over all anchors together."""
    system_during_judge: During = "untested"
    """After a judge alarm: whether the system is shown to have dropped even so."""
    system_during_judge_at: int | None = None
    """Position at which that was shown."""
    system_during_judge_cells: tuple[tuple[str, str], ...] = ()
    """(rubric, stratum) named then."""

    def explain(self) -> str:
        """One plain sentence for the person on call."""
        where = _listed([f"{rubric} in {stratum}" for rubric, stratum in self.cells]) or "the scores"
        if self.kind == "none" and not self.judge_watched:
            return "No drop is shown; without anchors the judge was not watched."
        if self.kind == "none":
            return "Nothing drifted: neither the system nor the judge has moved as far as the evidence shows."
        if self.kind == "unattributed":
            return (
                f"Scores dropped ({where}, alarm at item {self.system_alarm_at}), but without anchors nobody can say "
                f"whether the system or the judge moved; add an anchor set."
            )
        if self.kind == "judge":
            how = _listed(_judged(self.rubrics))
            anchors = f"on the frozen anchors{f' of {_listed(list(self.strata))}' if self.strata else ''}"
            if self.status == "pending":
                return (
                    f"The judge moved as far as one can say yet: {anchors} {how} (alarm at item "
                    f"{self.judge_alarm_at}); older items still wait for scores that could put a drop before it."
                )
            if self.system_during_judge == "dropped":
                dropped = _listed([f"{rubric} in {stratum}" for rubric, stratum in self.system_during_judge_cells])
                return (
                    f"The judge moved and your system got worse as well: {anchors} {how} (alarm at item "
                    f"{self.judge_alarm_at}), and {dropped} fell below even the bars lowered by the judge's shift "
                    f"(item {self.system_during_judge_at})."
                )
            return (
                f"The judge moved, not necessarily your system: {anchors} {how} "
                f"(alarm at item {self.judge_alarm_at}); do not act on score changes until you re-anchor."
            )
        if self.status == "pending":
            return (
                f"Scores dropped ({where}, alarm at item {self.system_alarm_at}); the anchors are being re-scored to "
                f"rule out the judge, so wait before you act."
            )
        if self.judge_alarm_at is not None:
            return (
                f"Your system got worse: {where} fell below the bar (alarm at item {self.system_alarm_at}); later the "
                f"judge moved as well (alarm at item {self.judge_alarm_at}), so re-anchor before you trust new scores."
            )
        return (
            f"Your system got worse: {where} fell below the bar (alarm at item {self.system_alarm_at}), while the "
            f"judge still scores the frozen anchors as it used to."
        )


def _judged(rubrics: tuple[tuple[str, str], ...]) -> list[str]:
    """What the judge does now, one phrase per kind of change."""
    if not rubrics or rubrics[0][0] == ANY_RUBRIC:
        return ["it departs from its usual scores more often than it used to"]
    phrases = []
    for change in dict.fromkeys(change for _, change in rubrics):
        moved = _listed([rubric for rubric, how in rubrics if how == change])
        phrases.append(f"it scores {moved} {'differently' if change == 'different' else change} than at the start")
    return phrases


def _listed(parts: list[str], most: int = 3) -> str:
    if not parts:
        return ""
    shown = parts[:most]
    if len(parts) > most:
        return ", ".join(shown) + f" and {len(parts) - most} more"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]
