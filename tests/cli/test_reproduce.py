"""`driftjudge reproduce`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from driftjudge.cli.app import app
from driftjudge.tables import TableError

RUN = CliRunner()


def test_claims_come_with_name_holds_and_figure() -> None:
    done = RUN.invoke(app, ["reproduce", "guard", "race", "--dataset", "tldr", "--seeds", "4", "--json"])
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert {"name", "holds", "figure"} <= result["claims"][0].keys()
    assert [exhibit["experiment"] for exhibit in result["exhibits"]] == ["guard", "race"]


def test_tables_figures_and_a_page_are_written(tmp_path: Path) -> None:
    done = RUN.invoke(app, ["reproduce", "race", "--dataset", "helpsteer2", "--seeds", "2", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "ours (paper's)" in done.stdout
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["helpsteer2-race.json", "helpsteer2-race.md", "helpsteer2-race.svg", "index.md"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["everything"], "unknown experiment 'everything'; known experiments"),
        (["race", "--dataset", "imagenet"], "unknown dataset 'imagenet'; use helpsteer2, tldr, both"),
        (["race", "--target", "helpfulness"], "--target is 'helpfulness'; give a rubric and a stratum"),
    ],
)
def test_bad_input_is_said_in_one_sentence(arguments: list[str], sentence: str) -> None:
    done = RUN.invoke(app, ["reproduce", *arguments])
    assert isinstance(done.exception, TableError)
    assert sentence in str(done.exception)
