"""Table 3: how each judge change moves the scores, rubric by rubric."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftjudge.lab.exhibits import Claim, Entry, Exhibit, Row
from driftjudge.lab.experiments import Options, make_exhibit
from driftjudge.lab.published import published
from driftjudge.lab.setting import Setting
from driftjudge.report.figures import grid

STEP = 0.125
"""Scores closer than half a step of the 5-level grid count as equal."""


def run(setting: Setting, options: Options) -> Exhibit:
    """Facts about the table itself; no stream is drawn."""
    table = setting.table
    strong = table.judge("strong")
    rows, data = [], []
    for change in setting.changes:
        after = table.judge(change)
        for r, rubric in enumerate(table.rubrics):
            shift = float(np.mean(after[:, r] - strong[:, r]))
            entries = {
                "shift": Entry(f"{shift:+.3f}", _paper(setting.name, change, rubric, 0, "+.3f")),
                "corr": Entry(_correlation(strong[:, r], after[:, r]), _number(setting.name, change, rubric, 1)),
                "agree": Entry(
                    float(np.mean(np.abs(after[:, r] - strong[:, r]) < STEP)), _number(setting.name, change, rubric, 2)
                ),
            }
            rows.append(Row(f"{change}: {rubric}", entries))
            data.append({"change": change, "rubric": rubric, "shift": shift})
    return make_exhibit(
        setting,
        options,
        experiment="gap",
        title="The judge's gap per rubric",
        source="Table 3",
        rows=rows,
        claims=_claims(setting),
        notes=("A replica is drawn to match these figures; on a real table they are found.",) if table.replica else (),
        data={"shift": data},
    )


def _correlation(x: Any, y: Any) -> float | None:
    return float(np.corrcoef(x, y)[0, 1]) if np.std(x) > 0 and np.std(y) > 0 else None


def _number(dataset: str, change: str, rubric: str, place: int) -> float | None:
    row = published(dataset, "gap", change, rubric)
    return None if row is None else float(row[place])


def _paper(dataset: str, change: str, rubric: str, place: int, form: str) -> str | None:
    number = _number(dataset, change, rubric, place)
    return None if number is None else format(number, form)


def _claims(setting: Setting) -> tuple[Claim, ...]:
    shifts = {name: round(shift, 3) for name, shift in setting.changes.items()}
    claims = [Claim("the harshest change lowers scores", shifts[setting.harshest] < 0, f"{shifts}")]
    if len(shifts) > 1:
        claims.append(Claim("the most lenient change raises scores", shifts[setting.most_lenient] > 0, f"{shifts}"))
    return tuple(claims)


def draw(exhibit: Exhibit) -> Any:
    """Shift per rubric and change."""
    return grid(
        exhibit.data["shift"],
        x="change",
        y="rubric",
        value="shift",
        number="+.3f",
        title=exhibit.title,
        subtitle=exhibit.dataset,
    )
