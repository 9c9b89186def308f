"""The cost-reliability frontier: its rows, its claims and its figure."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from driftjudge.lab.detection import Detections
from driftjudge.lab.exhibits import Exhibit
from driftjudge.lab.experiments import Options
from driftjudge.lab.experiments.frontier import BUDGETS, FIXED, POLICIES, Point, draw, frontier_claims, run
from driftjudge.lab.setting import Source, open_setting
from driftjudge.lab.simulate import NEVER
from driftjudge.report import save_picture

# The paper's table: share censored, latency, share of items asked about.
PAPER = {
    "escalation 0.01": (1.00, 900, 0.01),
    "escalation 0.02": (0.95, 750, 0.02),
    "escalation 0.05": (0.82, 710, 0.05),
    "escalation 0.1": (0.53, 706, 0.10),
    **{f"plain escalation {floor:g}": (0.9, 720, floor) for floor in (0.01, 0.02, 0.05, 0.1)},
    **{f"{rule} 0.1": (0.98, 789, 0.1) for rule in FIXED},
    **{f"{rule} 0.2": (0.50, 660, 0.2) for rule in FIXED},
    **{f"{rule} 0.3": (0.28, 585, 0.3) for rule in FIXED},
    "full": (0.02, 327, 1.0),
}


def some(share_missed: float, latency: int, asked: float, streams: int = 60) -> Detections:
    missed = round(share_missed * streams)
    at = np.array([300 + latency] * (streams - missed) + [NEVER] * missed, dtype=np.int64)
    items = np.minimum(at, 1200)
    return Detections(300, at, items, np.rint(asked * items).astype(np.int64))


def papers_points() -> dict[str, Point]:
    return {
        label: Point(some(*PAPER[label]), some(1.0, 0, PAPER[label][2]), cheap=0.125, full=label == "full")
        for label in POLICIES
    }


def failing(points: dict[str, Point]) -> list[str]:
    return [claim.name for claim in frontier_claims(points) if not claim.holds]


@pytest.fixture(scope="module")
def exhibit() -> Exhibit:
    return run(open_setting(Source("helpsteer2")), Options(seeds=6))


def test_every_policy_has_a_row_with_the_papers_figures_beside_it(exhibit: Exhibit) -> None:
    assert [row.label for row in exhibit.rows] == list(POLICIES)
    full = exhibit.rows[-1].entries
    assert full["cost at detection"].measured == 1.0
    assert full["cost at detection"].published == 1.0
    assert full["in-control cost"].measured == pytest.approx(1.125)
    assert Exhibit.from_json(json.loads(json.dumps(exhibit.to_json()))) == exhibit


def test_budgets_are_kept_and_more_budget_misses_less(exhibit: Exhibit) -> None:
    costs = {row.label: row.entries["in-control cost"].measured for row in exhibit.rows}
    for rule in FIXED:
        for tau in BUDGETS:
            assert costs[f"{rule} {tau:g}"] == pytest.approx(0.125 + tau, abs=0.02)
    missed = {row.label: row.entries["censored"].measured for row in exhibit.rows}
    assert isinstance(missed["uniform 0.1"], float)
    assert isinstance(missed["full"], float)
    assert missed["full"] < missed["uniform 0.1"]


def test_what_fails_is_explained(exhibit: Exhibit) -> None:
    assert len(exhibit.claims) == 9
    coincide = next(claim for claim in exhibit.claims if "coincide" in claim.name)
    assert coincide.holds != any("the three coincide when" in note for note in exhibit.notes)
    assert any("16 policy points" in note for note in exhibit.notes)


def test_every_claim_holds_on_the_papers_own_figures() -> None:
    assert failing(papers_points()) == []


@pytest.mark.parametrize(
    ("label", "drift", "healthy", "broken"),
    [
        ("bandit 0.2", (0.1, 660, 0.2), None, "coincide"),
        ("full", (0.02, 600, 1.0), None, "fastest"),
        ("escalation 0.1", (0.9, 706, 0.1), None, "about as reliable"),
        ("escalation 0.1", (0.99, 706, 0.1), None, "detects more than fixed budgets"),
        ("escalation 0.02", (0.99, 750, 0.02), (1.0, 0, 0.1), "floor"),
        ("uniform 0.3", (0.28, 585, 0.5), None, "about 0.43"),
        ("uniform 0.3", (0.60, 585, 0.3), None, "more budget buys reliability"),
        ("uniform 0.1", (0.98, 789, 0.1), (0.5, 0, 0.1), "false-alarm rate"),
    ],
)
def test_a_broken_table_breaks_the_claim_about_it(
    label: str,
    drift: tuple[float, int, float],
    healthy: tuple[float, int, float] | None,
    broken: str,
) -> None:
    points = papers_points()
    points[label] = replace(points[label], drift=some(*drift))
    if healthy is not None:
        points[label] = replace(points[label], healthy=some(*healthy))
    assert any(broken in name for name in failing(points))


def test_the_figure_renders_with_ours_and_the_papers(exhibit: Exhibit, tmp_path: Path) -> None:
    save_picture(draw(exhibit), tmp_path / "frontier.svg")
    text = (tmp_path / "frontier.svg").read_text(encoding="utf-8")
    assert text.startswith("<svg")
    for word in ("ours", "paper", "escalation", "bandit", "detection power"):
        assert word in text
