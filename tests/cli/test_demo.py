"""`driftjudge demo`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from driftjudge.cli.app import app

RUN = CliRunner()
KEYS = {"verdict", "status", "system_alarm_at", "judge_alarm_at", "items", "cost_fraction"}


@pytest.mark.parametrize(
    ("drift", "expected"), [("none", "none"), ("system", "system"), ("judge", "judge"), ("both", "judge")]
)
@pytest.mark.parametrize("preset", ["robust", "paper"])
def test_the_demo_finds_what_really_happened(drift: str, expected: str, preset: str) -> None:
    done = RUN.invoke(app, ["demo", "--drift", drift, "--preset", preset, "--seed", "3", "--json"])
    assert done.exit_code == 0
    result = json.loads(done.stdout)
    assert result.keys() >= KEYS
    assert (result["verdict"], result["truth"], result["replica"]) == (expected, drift, True)


def test_the_demo_leaves_a_picture_and_says_the_table_is_a_replica(tmp_path: Path) -> None:
    picture = tmp_path / "race.svg"
    done = RUN.invoke(app, ["demo", "--drift", "judge", "--picture", str(picture)])
    assert done.exit_code == 0
    assert "replica" in done.stdout
    assert "What really happened: the judge changed at item 301" in done.stdout
    assert "judge alarm" in picture.read_text(encoding="utf-8")


def test_the_second_replica_can_be_streamed() -> None:
    result = json.loads(RUN.invoke(app, ["demo", "--dataset", "tldr", "--drift", "system", "--json"]).stdout)
    assert (result["dataset"], result["verdict"]) == ("tldr", "system")


def test_the_caption_of_the_readme_is_what_the_demo_finds() -> None:
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    result = json.loads(RUN.invoke(app, ["demo", "--drift", "judge", "--json"]).stdout)
    for key in ("change_at", "judge_alarm_at"):
        assert f"item {result[key]:,}" in readme
    assert result["system_alarm_at"] is None, "the caption says that the anchors came first"
