"""Project folders for tests, and a judge on loopback that reads an item's quality off its text.

The judge is a server that really speaks the protocol; what it answers is a rule, so that a test can turn it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from driftjudge.project.config import ProjectConfig, load_config
from tests.judges.misbehaving import Seen

LEVELS = (4, 3, 4, 2, 3, 4, 1, 3)
"""Qualities that healthy items take in turn."""


@dataclass
class Ruler:
    """Scores what stands in the text: `quality 3`, less what it turned harsher."""

    harsher: int = 0
    cheap_harsher: int = 0
    seen: list[str] = field(default_factory=list)

    def __call__(self, seen: Seen) -> dict[str, Any]:
        """The scores for a request."""
        found = re.search(r"quality (\d)", seen.user)
        assert found is not None, seen.user
        self.seen.append(f"{seen.body['model']}: {seen.user}")
        less = self.harsher if seen.body["model"] == "strong" else self.cheap_harsher
        return {"tone": max(int(found[1]) - less, 0)}


SETTINGS = """
[rubrics]
tone = "friendly"
[items]
fields = ["prompt", "response"]
[judges.strong]
model = "strong"
base_url = "{url}"
endpoint = "loopback"
price_input = 1.0
price_output = 1.0
{strong}
{cheap}
[limits]
concurrency = 4
attempts = 1
{limits}
[calibration]
passes = 4
[monitor]
budget = 1.0
acquisition = "uniform"
anchor_every = 4
burst = 10
measure = 0
{monitor}
"""
CHEAP = """
[judges.cheap]
model = "cheap"
base_url = "{url}"
endpoint = "loopback"
price_input = 0.1
price_output = 0.1
"""


def lines(path: Path, prefix: str, qualities: list[int]) -> Path:
    """Items of these qualities as JSON lines."""
    rows = [
        {"id": f"{prefix}{n}", "prompt": f"say {prefix}{n}", "response": f"quality {q}"}
        for n, q in enumerate(qualities)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def labels(path: Path, count: int = 20, raters: int = 1) -> Path:
    """Labels of anchors as CSV; the humans see the quality as it is."""
    rows = ["id,prompt,response,rater,tone"]
    for number in range(count):
        quality = LEVELS[number % len(LEVELS)]
        rows += [f"a{number},say a{number},quality {quality},r{rater},{quality}" for rater in range(raters)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def write_folder(
    folder: Path,
    url: str = "http://127.0.0.1:9/v1",
    *,
    cheap: bool = True,
    strong: str = "",
    limits: str = "",
    monitor: str = "",
) -> Path:
    """A project's settings, labels and items; anchors not yet added."""
    folder.mkdir(parents=True, exist_ok=True)
    judge = CHEAP.format(url=url) if cheap else ""
    text = SETTINGS.format(url=url, cheap=judge, strong=strong, limits=limits, monitor=monitor)
    (folder / "driftjudge.toml").write_text(text, encoding="utf-8")
    labels(folder / "labels.csv")
    lines(folder / "calibration.jsonl", "c", [LEVELS[n % len(LEVELS)] for n in range(40)])
    lines(folder / "items.jsonl", "i", [LEVELS[n % len(LEVELS)] for n in range(40)])
    return folder


def ready(folder: Path, url: str, **options: Any) -> ProjectConfig:
    """A project with frozen anchors."""
    from driftjudge.project.anchor_file import freeze, read_anchors, write_anchors
    from driftjudge.project.labels import read_labels

    config = load_config(write_folder(folder, url, **options))
    rubrics, scale = config.rubric_names, config.score_range
    found = read_labels(folder / "labels.csv", config.items, rubrics, scale)
    anchors = read_anchors(config.anchors_file, rubrics, scale).with_labels(found)
    write_anchors(config.anchors_file, anchors)
    freeze(config.anchors_file, anchors)
    return config
