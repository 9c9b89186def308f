"""Which column of a file means what: as the user says, or as the names suggest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from driftjudge.tables.errors import TableError

Scale = tuple[float, float]
"""The lowest and the highest score a judge can give; mapped linearly to 0 and 1."""

Form = Literal["auto", "wide", "long", "tidy"]
"""wide: a row per item, a column per judge and rubric. long: a row per item and rubric, a column per judge.
tidy: a row per item, rubric and judge."""

ROLES: tuple[str, ...] = ("cheap", "strong", "human")
"""Judge names recognised without being named."""

SINGLE_RUBRIC = "score"
"""The rubric of a table that does not name one."""

_UNIT: Scale = (0.0, 1.0)
_JUDGE_PREFIX = "j_"
_SEPARATORS = "_.:"
_USUAL_NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("item_id", "id"),
    "stratum": ("stratum", "topic", "segment"),
    "rubric": ("rubric", "criterion", "metric"),
    "judge": ("judge", "role", "evaluator"),
    "score": ("score", "value"),
}


@dataclass(frozen=True)
class Columns:
    """How to read a file. Whatever is left out is detected from the names of its columns.

    >>> Columns(judges={"cheap": "mini_{rubric}"}).judges
    {'cheap': 'mini_{rubric}'}
    """

    id: str | None = None
    """The column of item ids; looked for: item_id, id."""

    stratum: str | None = None
    """The column of strata; looked for: stratum, topic, segment. Without one, every item is in the stratum "all"."""

    rubric: str | None = None
    """The column of rubric names; looked for: rubric, criterion, metric. A wide table has none."""

    judge: str | None = None
    """The column of judge names in a tidy table; looked for: judge, role, evaluator."""

    score: str | None = None
    """The column of scores in a tidy table; looked for: score, value."""

    judges: Mapping[str, str] | None = None
    """Our judge name to: a column (long), a prefix or a template such as "cheap_{rubric}" (wide), a name in the judge
    column (tidy). Only these judges are read."""

    rubrics: Sequence[str] | None = None
    """The rubrics to read, in this order; all of them in the order of the file when left out."""

    scale: Scale | Mapping[str, Scale] = _UNIT
    """The declared range of the scores, for all rubrics or per rubric (rubrics not named: 0 to 1)."""

    judge_scale: Mapping[str, Scale] = field(default_factory=dict)
    """The declared range of single judges, where it differs from `scale`."""

    form: Form = "auto"
    """The form of the table."""

    def __post_init__(self) -> None:
        declared = [*self.judge_scale.values()]
        declared += [*self.scale.values()] if isinstance(self.scale, Mapping) else [self.scale]
        for low, high in declared:
            if not (np.isfinite(low) and np.isfinite(high) and low < high):
                raise TableError(
                    f"The scale ({low:g}, {high:g}) is not a range; give the lowest score, then the highest."
                )
        if self.form not in ("auto", "wide", "long", "tidy"):
            raise TableError(f"There is no table form '{self.form}'; choose one of: auto, wide, long, tidy.")

    def scale_of(self, judge: str, rubric: str) -> Scale:
        """The declared range of one judge on one rubric."""
        if judge in self.judge_scale:
            return self.judge_scale[judge]
        return self.scale.get(rubric, _UNIT) if isinstance(self.scale, Mapping) else self.scale


def listed(names: Sequence[str]) -> str:
    """Column names for an error message, cut short where there are very many."""
    shown = ", ".join(names[:30])
    return f"{shown} and {len(names) - 30} more" if len(names) > 30 else shown


def find_column(role: str, wanted: str | None, present: Sequence[str], where: str) -> str | None:
    """The column that plays a role: the one the user named, or one of the usual names, or None."""
    if wanted is not None:
        if wanted in present:
            return wanted
        raise TableError(f"{where} has no column '{wanted}' for the {role}; set '{role}' to one of: {listed(present)}.")
    by_lower = {name.lower(): name for name in reversed(present)}
    return next((by_lower[usual] for usual in _USUAL_NAMES[role] if usual in by_lower), None)


def require_column(role: str, wanted: str | None, present: Sequence[str], where: str) -> str:
    """Like `find_column`, for a role the form cannot do without."""
    found = find_column(role, wanted, present, where)
    if found is None:
        raise TableError(
            f"{where} has no column for the {role} (looked for {' and '.join(_USUAL_NAMES[role])}); "
            f"set '{role}' to one of: {listed(present)}."
        )
    return found


def detect_form(columns: Columns, present: Sequence[str], where: str) -> Form:
    """The form of a table, from what the user named and what the columns are called."""
    if columns.form != "auto":
        return columns.form
    judge = find_column("judge", columns.judge, present, where)
    if judge is not None and find_column("score", columns.score, present, where) is not None:
        return "tidy"
    if find_column("rubric", columns.rubric, present, where) is not None:
        return "long"
    return "wide"


def _column_of(wanted: str, present: Sequence[str]) -> str | None:
    """A judge's column, which the user may name without the customary j_ in front."""
    return next((name for name in (wanted, _JUDGE_PREFIX + wanted) if name in present), None)


def long_judges(columns: Columns, present: Sequence[str], where: str) -> dict[str, str]:
    """Judge name to column, in a long table."""
    if columns.judges is None:
        found = {name: name for name in present if name in ROLES or name.startswith(_JUDGE_PREFIX)}
        if not found:
            raise TableError(
                f"{where} has no column of a judge (looked for {', '.join(ROLES)} and {_JUDGE_PREFIX}*); "
                f"set 'judges' to name them among: {listed(present)}."
            )
        return found
    result = {}
    for judge, wanted in columns.judges.items():
        column = _column_of(wanted, present)
        if column is None:
            raise TableError(
                f"{where} has no column '{wanted}' for the judge '{judge}'; "
                f"set 'judges' to columns among: {listed(present)}."
            )
        result[judge] = column
    return result


def _rubric_in(column: str, pattern: str) -> str | None:
    """The rubric a wide column is about, if it belongs to the judge with this prefix or template."""
    if "{rubric}" in pattern:
        before, after = pattern.split("{rubric}", 1)
        inner = column[len(before) : len(column) - len(after)]
        return inner if inner and column == before + inner + after else None
    if column == pattern:
        return SINGLE_RUBRIC
    if column.startswith(pattern) and column[len(pattern)] in _SEPARATORS:
        return column[len(pattern) + 1 :] or None
    return None


def wide_judges(columns: Columns, present: Sequence[str], where: str) -> dict[tuple[str, str], str]:
    """(judge, rubric) to column, in a wide table."""
    patterns = columns.judges if columns.judges is not None else {role: role for role in ROLES}
    found: dict[tuple[str, str], str] = {}
    for column in present:
        # The longest pattern wins, so that strong_v2_tone belongs to strong_v2 even where there is a strong.
        fits = [(len(pattern), judge, _rubric_in(column, pattern)) for judge, pattern in patterns.items()]
        best = max(((size, judge, rubric) for size, judge, rubric in fits if rubric is not None), default=None)
        if best is not None:
            found[best[1], best[2]] = column
    for judge, pattern in (columns.judges or {}).items():
        if not any(judge == owner for owner, _ in found):
            raise TableError(
                f"{where} has no column for the judge '{judge}' (looked for '{pattern}' and a rubric); "
                f"set 'judges' to prefixes or templates that fit: {listed(present)}."
            )
    if not found:
        raise TableError(
            f"{where} has no column of a judge and a rubric (looked for names like cheap_helpfulness, strong.tone or "
            f"human:tone); set 'judges', or 'rubric' for a long table, to fit its columns: {listed(present)}."
        )
    return found


def chosen_rubrics(columns: Columns, present: Sequence[str], where: str) -> tuple[str, ...]:
    """The rubrics to read, in order."""
    scaled = [*columns.scale] if isinstance(columns.scale, Mapping) else []
    for setting, names in (("rubrics", columns.rubrics or []), ("scale", scaled)):
        missing = [name for name in names if name not in present]
        if missing:
            raise TableError(
                f"{where} has no rubric '{missing[0]}'; set '{setting}' to names among: {listed(present)}."
            )
    return tuple(columns.rubrics) if columns.rubrics is not None else tuple(present)
