from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from driftjudge.report._cells import MOST_STRATA, min_width, row_names
from driftjudge.report._embed import render
from driftjudge.report.charts import cells_chart
from driftjudge.report.errors import ReportError
from tests.report.samples import RUBRICS, STRATA, Sample, crowded, sample


def layers(shown: Sample, **settings: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cells_chart(shown.evidence, **settings).to_dict()["layer"]
    return found


def test_the_heat_map_names_every_rubric_and_stratum() -> None:
    text = render(cells_chart(sample("system").evidence), ".svg").decode()
    for name in (*RUBRICS, *STRATA):
        assert f">{name}<" in text


def test_named_cells_are_outlined_and_marked_beyond_colour() -> None:
    shown = sample("system")
    outlined = [layer for layer in layers(shown) if layer["mark"].get("filled") is False]
    assert {(row["rubric"], row["stratum"]) for row in outlined[0]["data"]["values"]} == set(
        shown.evidence.verdict.cells
    )
    assert all(row["label"].startswith("▼") for row in outlined[0]["data"]["values"])
    assert "named as dropped" in render(cells_chart(shown.evidence), ".svg").decode()


def test_cells_that_are_not_watched_are_crossed_out_and_explained() -> None:
    shown = sample("system", idle=("other",))
    text = render(cells_chart(shown.evidence), ".svg").decode()
    assert text.count(">×<") == len(RUBRICS)
    assert "not watched" in text
    assert "not watched" not in render(cells_chart(sample("system").evidence), ".svg").decode()


def test_a_null_at_the_lowest_score_is_not_watched_either() -> None:
    shown = sample("none")
    cells = (replace(shown.evidence.cells[0], null=0.0), *shown.evidence.cells[1:])
    assert render(cells_chart(replace(shown.evidence, cells=cells)), ".svg").decode().count(">×<") == 1


def test_colour_runs_from_no_evidence_to_what_names_a_cell_and_no_further() -> None:
    shown = sample("system")
    cells = tuple(replace(cell, log_e=1e6 if cell.named else -50.0) for cell in shown.evidence.cells)
    boxes = layers(replace(shown, evidence=replace(shown.evidence, cells=cells)))[0]
    low, high = boxes["encoding"]["color"]["scale"]["domain"]
    assert {row["shade"] for row in boxes["data"]["values"]} == {low, high}


def test_of_many_strata_those_with_the_most_evidence_are_shown_and_the_picture_says_so() -> None:
    shown = crowded()
    text = render(cells_chart(shown.evidence), ".svg").decode()
    assert f"Only the {MOST_STRATA} of 60 strata" in text
    drawn = {row["stratum"] for layer in layers(shown) for row in layer["data"]["values"]}
    assert len(drawn) == MOST_STRATA
    best = max((cell for cell in shown.evidence.cells if cell.null > 0.0), key=lambda cell: cell.log_e)
    assert best.stratum in drawn


def test_long_names_lose_what_they_share_and_stay_apart() -> None:
    strata = [cell.stratum for cell in crowded().evidence.cells][:60]
    short = row_names(strata, 18)
    assert short[strata[7]] == "…07…"
    assert len(set(short.values())) == 60


def test_names_that_shortening_would_merge_are_left_whole() -> None:
    names = [f"a{'x' * 30}{number}b" for number in "12"] + [f"b{'x' * 30}{number}b" for number in "12"]
    assert row_names(names, 10) == {name: name for name in names}


def test_a_page_leaves_every_cell_room_for_its_number() -> None:
    assert min_width(crowded().evidence) >= 7 * 38 + 7 * len("…00…")  # seven numbers and the name of the row
    assert min_width(sample("none").evidence) <= 300  # five rubrics fit on a phone


def test_no_cells_are_refused_with_a_sentence() -> None:
    with pytest.raises(ReportError, match="no cells"):
        cells_chart(replace(sample("none").evidence, cells=()))
