"""Writes the two example tables: a log of scores in the order of time, and its anchors.

Both are drawn from the HelpSteer2 replica. At item 1,301 the judge is silently given a stricter prompt; the anchors
were scored six times before the start and again after item 1,500. Run: python examples/make_tables.py
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from driftjudge import load_replica

FOLDER = Path(__file__).parent
ITEMS, CHANGE, PASSES, ANCHORS = 2400, 1300, 6, 200
REPEAT_NOISE, STEP = 0.03, 0.25


def main() -> None:
    """Draw both tables with a fixed seed."""
    table = load_replica("helpsteer2")
    rng = np.random.default_rng(20)
    rows = rng.permutation(len(table))
    anchors, pool = rows[:ANCHORS], rng.choice(rows[ANCHORS:], size=ITEMS)

    def asked(judge: str, items: np.ndarray) -> np.ndarray:
        """One call per item: now and then a score moves one step."""
        scores = table.judge(judge)[items]
        moves = (rng.random(scores.shape) < REPEAT_NOISE) * rng.choice([-STEP, STEP], size=scores.shape)
        return np.clip(scores + moves, 0.0, 1.0)

    strong = np.concatenate([asked("strong", pool[:CHANGE]), asked("harsh", pool[CHANGE:])])
    columns = {"cheap": table.judge("cheap")[pool], "strong": strong}
    ids = [f"item-{i + 1:04d}" for i in range(ITEMS)]
    _write(FOLDER / "scores.csv", ids, [table.strata[row] for row in pool], table.rubrics, columns)
    columns = {"human": table.judge("human")[anchors]}
    columns |= {f"pass{n + 1}": asked("strong", anchors) for n in range(PASSES)}
    columns["later"] = asked("harsh", anchors)
    ids = [f"anchor-{i + 1:03d}" for i in range(ANCHORS)]
    _write(FOLDER / "anchors.csv", ids, [table.strata[row] for row in anchors], table.rubrics, columns)


def _write(
    path: Path, ids: list[str], strata: list[str], rubrics: tuple[str, ...], columns: dict[str, np.ndarray]
) -> None:
    """A wide table on the data set's own scale, 0 to 4."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "topic", *(f"{judge}_{rubric}" for judge in columns for rubric in rubrics)])
        for i, (item, stratum) in enumerate(zip(ids, strata, strict=True)):
            writer.writerow([item, stratum, *(f"{4 * value:g}" for scores in columns.values() for value in scores[i])])


if __name__ == "__main__":
    main()
