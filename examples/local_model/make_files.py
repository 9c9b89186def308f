"""Writes the files of this example: short questions with right and wrong answers, and labels that follow from them.

    python examples/local_model/make_files.py

The labels are made by rule (right: 4 or 3, wrong: 0 or 1), by two raters who differ now and then. They stand in for the
human labels of a real project.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

FACTS = [
    ("2+2?", "4", "9"),
    ("Capital of France?", "Paris", "Oslo"),
    ("Opposite of up?", "Down", "Cheese"),
    ("Days in a week?", "Seven", "Forty"),
    ("Colour of grass?", "Green", "Pink"),
    ("Is ice cold?", "Yes", "No"),
    ("Legs of a dog?", "Four", "Eleven"),
    ("Spell cat.", "c-a-t", "d-o-g"),
    ("First letter?", "A", "Q"),
    ("10-3?", "7", "2"),
    ("Opposite of hot?", "Cold", "Table"),
    ("Capital of Italy?", "Rome", "Lima"),
    ("Months in a year?", "Twelve", "Three"),
    ("Colour of snow?", "White", "Black"),
    ("Is fire hot?", "Yes", "No"),
    ("5+1?", "6", "1"),
    ("Opposite of big?", "Small", "Blue"),
    ("Eyes of a cat?", "Two", "Nine"),
    ("Capital of Spain?", "Madrid", "Cairo"),
    ("Hours in a day?", "24", "5"),
]


def main() -> None:
    """Anchors from the first facts, calibration items and the stream from the others, in other words."""
    here = Path(__file__).parent
    cases = [(q, answer, right) for q, yes, no in FACTS for answer, right in ((yes, True), (no, False))]
    anchors, rest = cases[:8], cases[8:]
    with (here / "labels.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "question", "answer", "rater", "quality"])
        for number, (question, answer, right) in enumerate(anchors):
            for rater in ("one", "two"):
                doubt = number % 4 == 1 and rater == "two"
                rows.writerow([f"a{number}", question, answer, rater, (3 if doubt else 4) if right else int(doubt)])
    _lines(here / "calibration.jsonl", "c", [(q, a) for q, a, _ in rest[:10]])
    for day, part in (("monday", rest[10:18]), ("tuesday", rest[18:26])):
        _lines(here / f"{day}.jsonl", day[:3], [(q, a) for q, a, _ in part])


def _lines(path: Path, prefix: str, texts: list[tuple[str, str]]) -> None:
    rows = [{"id": f"{prefix}{n}", "question": q, "answer": a} for n, (q, a) in enumerate(texts)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
