"""`driftjudge plan`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from driftjudge.cli.app import app
from driftjudge.cli.failure import one_sentence

RUN = CliRunner()
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EASY = ["--drop", "0.4", "--judge-shift", "0.15", "--spend", "0.6", "--age", "300"]
QUICK = ["--streams", "40", "--detect", "0.6", "--spill", "0.3"]


@pytest.fixture(autouse=True)
def _one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # starting processes takes longer than these few streams


def _write_tables(folder: Path) -> None:
    """A stream's table and one of anchors, small enough for a plan to take a second or two."""
    rng = np.random.default_rng(3)

    def level(quality: float) -> int:
        return int(np.clip(round(4 * (quality + rng.normal(0.0, 0.1))), 0, 4))

    rows = ["id,topic,cheap_tone,strong_tone"]
    for i in range(400):
        quality = rng.normal(0.65, 0.15)
        rows.append(f"item-{i},{('day', 'night')[i % 2]},{level(quality)},{level(quality)}")
    (folder / "scores.csv").write_text("\n".join(rows), encoding="utf-8")
    rows = ["id,topic,human_tone,pass1_tone,pass2_tone,pass3_tone"]
    for i in range(80):
        quality = rng.normal(0.65, 0.15)
        usual = level(quality)
        passes = [min(4, usual + int(rng.random() < 0.03)) for _ in range(3)]
        rows.append(f"anchor-{i},{('day', 'night')[i % 2]},{level(quality)},{','.join(map(str, passes))}")
    (folder / "anchors.csv").write_text("\n".join(rows), encoding="utf-8")
    (folder / "mine.toml").write_text(
        '[columns]\nscale = [0, 4]\n[roles]\npasses = ["pass1", "pass2", "pass3"]\nrescored = { pass2 = 10 }\n'
        '[replay]\nanchors = "anchors.csv"\ncalibration = 200\n',
        encoding="utf-8",
    )


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tables and a plan for them, written to a folder of its own."""
    folder = tmp_path_factory.mktemp("planned")
    _write_tables(folder)
    (folder / "plans").mkdir()
    written = ["--write", str(folder / "plans" / "plan.toml"), "--picture", str(folder / "menu.svg")]
    table = [str(folder / "scores.csv"), "--config", str(folder / "mine.toml")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.cpu_count", lambda: 1)
        done = RUN.invoke(app, ["plan", *table, *EASY, *QUICK, "--except", "night", *written])
    assert done.exit_code == 0, done.output
    (folder / "said.txt").write_text(done.stdout, encoding="utf-8")
    return folder


def test_the_recommendation_its_promises_and_the_menu_are_shown(planned: Path) -> None:
    said = (planned / "said.txt").read_text(encoding="utf-8")
    for words in ("PROMISED", "Recommended: budget", "human labels", "of 40 fresh streams", "one $ more", "Step 3"):
        assert words in said, words
    assert "Taken for granted" in said
    assert "passes in the table" in said  # the table's three, not an assumed noise
    assert "by budget" in (planned / "menu.svg").read_text(encoding="utf-8")


def test_replay_reads_the_config_that_plan_wrote(planned: Path) -> None:
    config = tomllib.loads((planned / "plans" / "plan.toml").read_text(encoding="utf-8"))
    table = str(planned / "scores.csv")
    done = RUN.invoke(app, ["replay", table, "--config", str(planned / "plans" / "plan.toml"), "--json"])
    assert done.exit_code in (0, 3, 4), done.output
    result = json.loads(done.stdout)
    assert result["preset"] == config["monitor"]["preset"]
    assert result["anchors"] == 80  # the table of anchors, found from where plan.toml stands
    # Asking for other settings on the command line changes the outcome, so the file's were in force.
    every = RUN.invoke(
        app, ["replay", table, "--config", str(planned / "plans" / "plan.toml"), "--budget", "1", "--json"]
    )
    assert json.loads(every.stdout)["strong_calls"] > result["strong_calls"]


def test_the_written_monitor_section_is_one_that_a_project_takes_too(planned: Path) -> None:
    config = tomllib.loads((planned / "plans" / "plan.toml").read_text(encoding="utf-8"))
    assert not {"rubrics", "strata"} & config["monitor"].keys()
    assert {"budget", "anchor_every", "burst", "guard", "preset"} <= config["monitor"].keys()
    assert config["plan"]["recommended"]["met"] is True


def test_a_plan_can_be_made_again_from_the_file_it_wrote(planned: Path) -> None:
    table, config_file = str(planned / "scores.csv"), str(planned / "plans" / "plan.toml")
    arguments = [table, "--config", config_file, "--streams", "40"]
    done = RUN.invoke(app, ["plan", *arguments, "--json"])
    assert done.exit_code == 0, done.output
    again, config = (
        json.loads(done.stdout),
        tomllib.loads((planned / "plans" / "plan.toml").read_text(encoding="utf-8")),
    )
    assert again["recommended"]["budget"] == config["monitor"]["budget"]
    assert again["recommended"]["anchors"] == config["plan"]["recommended"]["anchors"]
    assert again["target"]["exempt"] == ["night"]


def test_an_unmet_target_is_said_in_the_exit_code_and_one_json_object(planned: Path) -> None:
    table = [str(planned / "scores.csv"), "--config", str(planned / "mine.toml")]
    done = RUN.invoke(app, ["plan", *table, *EASY, *QUICK, "--drop", "0.06", "--within", "50", "--json"])
    assert done.exit_code == 1, done.output
    result = json.loads(done.stdout)
    assert result["met"] is False
    assert result["findings"]
    assert {"recommended", "cost", "promises", "menu", "assumptions", "target"} <= result.keys()
    low, high = result["menu"]["budget"][0]["low"], result["menu"]["budget"][0]["high"]
    assert 0.0 <= low <= high <= 1.0


def test_a_file_that_plan_did_not_write_is_not_written_over(tmp_path: Path) -> None:
    mine = tmp_path / "driftjudge.toml"
    mine.write_text("[rubrics]\n", encoding="utf-8")
    done = RUN.invoke(app, ["plan", "tldr", *EASY, *QUICK, "--write", str(mine)])
    assert done.exception is not None
    assert "exists and was not written by plan" in str(one_sentence(done.exception))  # type: ignore[arg-type]
    assert mine.read_text(encoding="utf-8") == "[rubrics]\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["imagenet"], "unknown table 'imagenet'; give a file of scores, or a replica: helpsteer2, tldr"),
        (["tldr", "--spend", "0.1"], "--spend 0.1 and --cheap-price 0.000195 contradict each other"),
        (["tldr", "--spend", "-1"], "--spend is -1"),
        (["tldr", "--drop", "0"], "--drop is 0; give a number strictly between 0 and 1"),
        (["tldr", "--within", "-5"], "--within is -5; give a whole number"),
        (["tldr", "--strong-price", "0"], "strong_price is 0"),
        (["tldr", "--picture", "menu.gif"], "cannot draw 'menu.gif'"),
        (["tldr", "--write", "nowhere/plan.toml"], "cannot write nowhere/plan.toml: there is no folder nowhere"),
        (["tldr", "--human", ""], "anchors are items with human labels"),
        ([str(EXAMPLES / "scores.csv"), "--scale", "0,4"], "scores has no judge 'human'; name judges among"),
    ],
)
def test_bad_input_is_said_in_one_sentence(arguments: list[str], sentence: str) -> None:
    done = RUN.invoke(app, ["plan", *arguments])
    assert isinstance(done.exception, Exception)
    said = one_sentence(done.exception)
    assert said is not None
    assert said.startswith(sentence)


@pytest.mark.parametrize(
    ("section", "sentence"),
    [
        ("drop = 'much'", "--drop is 'much'; give a number"),
        ("withn = 5", "unknown setting 'withn' in [plan]; did you mean 'within'?"),
        ("exempt = 3", "exempt is 3; give names"),
        ("one_rubric = 'yes'", "one_rubric is 'yes'; give true or false"),
    ],
)
def test_a_bad_plan_section_is_said_in_one_sentence(tmp_path: Path, section: str, sentence: str) -> None:
    config = tmp_path / "plan.toml"
    config.write_text(f"[plan]\n{section}\n", encoding="utf-8")
    done = RUN.invoke(app, ["plan", "tldr", "--config", str(config)])
    assert isinstance(done.exception, Exception)
    assert str(one_sentence(done.exception)).startswith(sentence)
