"""The ten-method roster: its rows, its claims and its figure."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from driftjudge.lab.detection import Detections
from driftjudge.lab.exhibits import Exhibit
from driftjudge.lab.experiments import Options
from driftjudge.lab.experiments.methods import draw, method_claims, run
from driftjudge.lab.roster import BUDGETS, FLOORS, ROSTER, Result
from driftjudge.lab.setting import Setting, Source, open_setting
from driftjudge.lab.simulate import NEVER
from driftjudge.report import save_picture
from driftjudge.tables import ScoreTable

# The paper's figures: share censored on severe and on mild drift, share of items asked about.
PAPER = {
    "A1 e-process on cheap": (1.00, 1.00, 0.0),
    "A2 Page-Hinkley on cheap": (0.98, 0.92, 0.0),
    "A3 Shiryaev-Roberts on cheap": (1.00, 1.00, 0.0),
    **{f"B1 label-only {tau:g}": (0.5, 0.5, tau) for tau in BUDGETS},
    **{f"C1 global {tau:g}": ((1.0, 0.68, 0.58)[i], 1.00, tau) for i, tau in enumerate(BUDGETS)},
    **{f"D1 uniform {tau:g}": ((0.8, 0.12, 0.05)[i], (0.98, 0.50, 0.27)[i], tau) for i, tau in enumerate(BUDGETS)},
    **{f"D2 boundary {floor:g}": (0.0, 0.0, 0.75) for floor in FLOORS},
    **{f"D3 growth {floor:g}": (0.80, 0.95, floor) for floor in FLOORS},
    **{f"D4 escalation {floor:g}": (0.22, 0.53, floor + 0.05) for floor in FLOORS},
    **{f"D4 plain escalation {floor:g}": (0.22, 0.53, floor + 0.05) for floor in FLOORS},
    "E1 full": (0.0, 0.02, 1.0),
}


def some(share_missed: float, asked: float, streams: int = 60) -> Detections:
    missed = round(share_missed * streams)
    at = np.array([800] * (streams - missed) + [NEVER] * missed, dtype=np.int64)
    items = np.minimum(at, 1200)
    return Detections(300, at, items, np.rint(asked * items).astype(np.int64))


def papers_results() -> dict[str, Result]:
    results = {}
    for method in ROSTER:
        severe, mild, asked = PAPER[method.label]
        false = {"A2 Page-Hinkley on cheap": 0.2, "A3 Shiryaev-Roberts on cheap": 0.267}.get(method.label, 0.0)
        found = {"healthy": some(1.0 - false, asked), "severe": some(severe, asked), "mild": some(mild, asked)}
        results[method.label] = Result(method, found, cheap=0.125)
    return results


def failing(results: dict[str, Result]) -> list[str]:
    return [claim.name for claim in method_claims(results, ["severe", "mild"]) if not claim.holds]


@pytest.fixture(scope="module")
def exhibit() -> Exhibit:
    return run(open_setting(Source("helpsteer2")), Options(seeds=6))


def test_all_ten_methods_have_rows_for_both_drifts(exhibit: Exhibit) -> None:
    assert [row.label for row in exhibit.rows] == [method.label for method in ROSTER]
    ids = {row.label[:2] for row in exhibit.rows}
    assert ids == {"A1", "A2", "A3", "B1", "C1", "D1", "D2", "D3", "D4", "E1"}
    assert {"severe: censored", "mild: censored", "false alarms"} <= set(exhibit.columns)
    assert Exhibit.from_json(json.loads(json.dumps(exhibit.to_json()))) == exhibit


def test_a_method_pays_only_for_the_judges_it_calls(exhibit: Exhibit) -> None:
    costs = {row.label: row.entries["severe: cost"].measured for row in exhibit.rows}
    assert costs["A1 e-process on cheap"] is None  # it detected nothing
    assert costs["A3 Shiryaev-Roberts on cheap"] == 0.125
    assert costs["B1 label-only 0.3"] == pytest.approx(0.3, abs=0.03)
    assert costs["D1 uniform 0.3"] == pytest.approx(0.425, abs=0.03)
    assert costs["E1 full"] == 1.0


def test_full_evaluation_sees_what_the_pooled_stream_hides(exhibit: Exhibit) -> None:
    missed = {row.label: row.entries["mild: censored"].measured for row in exhibit.rows}
    full, pooled = missed["E1 full"], missed["C1 global 0.3"]
    assert isinstance(full, float)
    assert isinstance(pooled, float)
    assert full < pooled == 1.0


def test_a_severe_drift_that_the_table_cannot_show_is_skipped_and_named() -> None:
    exhibit = run(open_setting(Source("tldr")), Options(seeds=2))
    assert not any(column.startswith("severe") for column in exhibit.columns)
    assert any(note.startswith("severe drift is skipped") and "0.15" in note for note in exhibit.notes)
    assert not any("severe" in claim.name for claim in exhibit.claims)


def test_a_table_of_ones_own_finds_its_own_severe_items() -> None:
    replica = open_setting(Source("tldr"))
    table = replica.table
    strong = table.judge("strong").copy()
    lowest = strong <= 0.25
    lowest[::2] = False
    scores = {**table.scores, "strong": np.where(lowest, 0.1, strong)}  # every other low score lower still
    own = ScoreTable("mine", table.ids, table.strata, table.rubrics, scores, replica=False)
    exhibit = run(Setting("mine", own, replica.changes, replica.scenario), Options(seeds=2))
    assert any(column.startswith("severe") for column in exhibit.columns)
    assert not exhibit.replica


def test_every_claim_holds_on_the_papers_own_figures() -> None:
    assert failing(papers_results()) == []


@pytest.mark.parametrize(
    ("label", "trial", "missed", "asked", "broken"),
    [
        ("D3 growth 0.05", "healthy", 1.0, 0.09, "D3 is inert"),
        ("D4 escalation 0.1", "severe", 0.22, 0.6, "third of the cost of D2 (severe)"),
        ("D4 escalation 0.1", "mild", 1.0, 0.15, "third of the cost of D2 (mild)"),
        ("D4 escalation 0.1", "mild", 0.9, 0.15, "ties a fixed budget"),
        ("C1 global 0.2", "severe", 0.1, 0.2, "stratified at every budget (severe)"),
        ("C1 global 0.1", "mild", 0.98, 0.1, "stratified at every budget (mild)"),
        ("A2 Page-Hinkley on cheap", "mild", 0.5, 0.0, "censor near 1 (mild)"),
        ("D2 boundary 0.02", "mild", 0.0, 0.2, "only by oversampling (mild)"),
        ("B1 label-only 0.1", "healthy", 0.7, 0.1, "holds its false-alarm level"),
        ("A3 Shiryaev-Roberts on cheap", "healthy", 0.9, 0.0, "Shiryaev-Roberts exceeds alpha"),
    ],
)
def test_a_broken_table_breaks_the_claim_about_it(
    label: str, trial: str, missed: float, asked: float, broken: str
) -> None:
    results = papers_results()
    found = {**results[label].found, trial: some(missed, asked)}
    results[label] = replace(results[label], found=found)
    assert any(broken in name for name in failing(results))


def test_cheap_only_methods_that_see_the_drift_are_explained_by_what_they_saw(exhibit: Exhibit) -> None:
    claim = next(claim for claim in exhibit.claims if claim.name == "all cheap-only methods censor near 1 (severe)")
    explained = any("cheap judge sees no fall in the severe items" in note for note in exhibit.notes)
    assert claim.holds != explained


def test_the_figure_renders_with_a_panel_per_drift(exhibit: Exhibit, tmp_path: Path) -> None:
    save_picture(draw(exhibit), tmp_path / "methods.svg")
    text = (tmp_path / "methods.svg").read_text(encoding="utf-8")
    assert text.startswith("<svg")
    for word in ("severe", "mild", "severe, paper", "D4 escalation", "A cheap only"):
        assert word in text
