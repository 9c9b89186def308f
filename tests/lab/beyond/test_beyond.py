"""`driftjudge reproduce beyond`: every question is answered, every aim has its figure, and what is missing is named."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from driftjudge.cli.app import app
from driftjudge.lab.beyond.options import AIM, BeyondOptions, aim
from driftjudge.lab.beyond.page import beyond_page, draw_parts
from driftjudge.lab.beyond.parts import age, both, failing_judge, false_judge_alarms, false_system_alarms, tried
from driftjudge.lab.beyond.split import KEPT_BACK, REAL_TABLES, real_table, upgrades
from driftjudge.lab.beyond.tasks import PARTS, BeyondTask, beyond_tasks, part_module
from driftjudge.lab.exhibits import Exhibit
from driftjudge.lab.runner import run_tasks
from driftjudge.tables import TableError
from driftjudge.tables.replicas import REPLICAS

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
real_tables = pytest.mark.skipif(not SHARED.exists(), reason=f"the real tables in {SHARED.parent.name} are not here")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same work on shorter streams."""
    monkeypatch.setattr(false_judge_alarms, "RESCORES", 500)
    monkeypatch.setattr(false_system_alarms, "ITEMS", 500)
    monkeypatch.setattr(age, "AGES", (300, 30_000))
    monkeypatch.setattr(age, "AFTER", 2_000)
    monkeypatch.setattr(both, "ITEMS", 900)
    monkeypatch.setattr(failing_judge, "ITEMS", 900)
    monkeypatch.setattr(tried, "VARIANTS", tried.VARIANTS[:2])


def task(part: str, dataset: str = "tldr", data: str | None = None) -> BeyondTask:
    return BeyondTask(part, dataset, BeyondOptions(2, data))


def ignore(done: BeyondTask, exhibit: Exhibit) -> None:
    del done, exhibit


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("part", PARTS)
def test_every_part_answers_its_question_with_claims_that_have_figures(part: str, tmp_path: Path) -> None:
    dataset = "tldr" if "tldr" in part_module(part).DATASETS else "helpsteer2"
    chosen = task(part, dataset)
    found = run_tasks([chosen], tmp_path, on_done=ignore, workers=1)
    assert found[0].rows
    assert found[0].claims
    assert all(claim.figure for claim in found[0].claims)
    draw_parts([chosen], found, tmp_path)
    kept = json.loads((tmp_path / f"{part}-{dataset}.json").read_text(encoding="utf-8"))
    assert kept["command"] == "driftjudge reproduce beyond --seeds 2"
    text = beyond_page([chosen], found, ["hanna"])
    for claim in found[0].claims:
        assert claim.figure in text
    assert ("](age-tldr.svg)" in text) == (part == "age") == (tmp_path / f"{part}-{dataset}.svg").is_file()


def test_parts_that_need_a_real_table_are_left_out_and_named_without_one() -> None:
    tasks, missing = beyond_tasks(BeyondOptions(2))
    assert {chosen.dataset for chosen in tasks} == set(REPLICAS)
    assert missing == [real.folder for real in REAL_TABLES]
    with pytest.raises(TableError, match="no folder 'nowhere'"):
        beyond_tasks(BeyondOptions(2, "nowhere"))
    with pytest.raises(TableError, match=r"khan_saq is a real table.*--data"):
        task("judge_changes", "khan_saq").check()


def test_what_was_kept_back_is_in_no_part_that_chooses() -> None:
    assert set(KEPT_BACK).isdisjoint(tried.DATASETS)
    assert real_table("llmbar").standing == "kept back"


def test_the_page_counts_the_aims_and_says_which_were_missed() -> None:
    chosen = task("age")
    made = part_module("age").exhibit(
        part="age", title="t", question="q", dataset="tldr", is_replica=True, seeds=2, rows=[],
        claims=[aim("fly", True, "2 of 2"), aim("swim", False, "0 of 2", "no water")],
    )  # fmt: skip
    text = beyond_page([chosen], [made], [])
    assert "## The aims: 1 of 2 met" in text
    assert "| swim | **missed** | 0 of 2; no water |" in text
    assert AIM not in text


def test_a_key_depends_on_seeds_and_not_on_where_tables_lie(tmp_path: Path) -> None:
    one = BeyondTask("age", "tldr", BeyondOptions(2))
    assert one.key() == BeyondTask("age", "tldr", BeyondOptions(2, str(tmp_path))).key()
    assert one.key() != BeyondTask("age", "tldr", BeyondOptions(3)).key()


@real_tables
@pytest.mark.parametrize("folder", [real.folder for real in REAL_TABLES])
def test_a_real_table_gives_judges_that_answer_about_its_items(folder: str) -> None:
    for change in upgrades(str(SHARED), folder):
        rows = np.arange(0, len(change.table), 7)
        for judge in (change.before, change.after):
            answers = judge.answers(rows, np.random.default_rng(1))
            assert answers.shape == (len(rows), len(change.table.rubrics))
            assert np.nanmin(answers) >= 0.0
            assert np.nanmax(answers) <= 1.0


@real_tables
@pytest.mark.parametrize(("part", "dataset"), [("judge_changes", "llmbar"), ("verdicts", "llmbar")])
def test_parts_run_on_real_tables(part: str, dataset: str) -> None:
    found = task(part, dataset, str(SHARED)).run()
    assert not found.replica
    assert found.rows


@pytest.mark.usefixtures("quick")
def test_the_command_refuses_beyond_beside_the_papers_experiments() -> None:
    result = CliRunner().invoke(app, ["reproduce", "beyond", "race"])
    assert isinstance(result.exception, TableError)
    assert "by itself" in str(result.exception)
