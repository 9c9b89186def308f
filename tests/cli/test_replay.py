"""`driftjudge replay` and its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HANNA = ROOT.parent / "shared" / "data" / "hanna" / "scores.parquet"
EXAMPLE = ["replay", str(ROOT / "examples" / "scores.csv"), "--config", str(ROOT / "examples" / "replay.toml")]


def driftjudge(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = "from driftjudge.cli import main; main()"
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def test_the_example_blames_the_judge_with_exit_code_4_and_writes_a_report(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    done = driftjudge(*EXAMPLE, "--report", str(report), "--json")
    assert done.returncode == 4, done.stderr
    result = json.loads(done.stdout)
    assert (result["verdict"], result["status"]) == ("judge", "final")
    assert result["judge_alarm_at"] > 821
    assert result["explanation"] in report.read_text(encoding="utf-8").replace("&#x27;", "'")


def test_without_anchors_the_alarm_is_nobodys_with_exit_code_5(tmp_path: Path) -> None:
    table = dropping_table(tmp_path)
    done = driftjudge("replay", str(table), "--human", "", "--json")
    assert done.returncode == 5, done.stderr
    assert json.loads(done.stdout)["verdict"] == "unattributed"


def test_labels_without_later_re_scores_blame_nobody(tmp_path: Path) -> None:
    """A stored score only repeats itself: it says nothing about the judge of today."""
    done = driftjudge("replay", str(dropping_table(tmp_path)))
    assert done.returncode == 5, done.stderr
    assert "no later re-scores of the anchors (--rescored)" in " ".join(done.stdout.split())


@pytest.mark.parametrize("settings", [["--rescored", "later@1"], ["--rescored", "later@1", "--passes", "again,strong"]])
def test_a_real_drop_is_charged_to_the_system_with_exit_code_3(tmp_path: Path, settings: list[str]) -> None:
    table = dropping_table(tmp_path)
    done = driftjudge("replay", str(table), "--anchors", "100", *settings, "--json")
    assert done.returncode == 3, done.stderr
    result = json.loads(done.stdout)
    assert result["cells"] == [["score", "all"]]
    assert result["system_alarm_id"].startswith("i")


def dropping_table(folder: Path) -> Path:
    """A judge that repeats itself and a system that falls from 0.75 to 0.25 at two thirds of the way.

    The labelled items stand in front, where anchors and calibration are taken from.
    """
    table = folder / "scores.csv"
    rows = ["id,cheap,strong,human,later,again"]
    for i in range(900):
        strong = (0.5, 0.75, 1.0)[i % 3] if i < 600 else (0.0, 0.25, 0.5)[i % 3]
        cheap = max(strong - 0.25, 0.0)
        rows.append(f"i{i},{cheap},{strong},{strong if i < 300 else 'NA'},{strong},{strong}")
    table.write_text("\n".join(rows), encoding="utf-8")
    return table


@pytest.mark.skipif(not HANNA.exists(), reason=f"the real table {HANNA.parent.name}/{HANNA.name} is not here")
@pytest.mark.parametrize(
    ("change", "verdict", "code"),
    [
        (["--strong-after", "orcaplatypus_13b_p4", "--change-at", "0.5"], "judge", 4),
        (["--rescored", "orcaplatypus_13b_p1@1"], "none", 0),  # the same judge, watched by its anchors
        ([], "none", 0),
    ],
)
@pytest.mark.parametrize("preset", ["robust", "paper"])
def test_a_real_prompt_change_is_charged_to_the_judge(change: list[str], verdict: str, code: int, preset: str) -> None:
    roles = ["--cheap", "mistral_7b_p2", "--strong", "orcaplatypus_13b_p1", "--human", "human", *change]
    done = driftjudge("replay", str(HANNA), *roles, "--shuffle", "--preset", preset, "--json")
    assert done.returncode == code, done.stderr
    assert json.loads(done.stdout)["verdict"] == verdict


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere.csv"], "There is no file 'nowhere.csv'"),
        ([EXAMPLE[1]], "outside the declared range 0 to 1"),
        ([EXAMPLE[1], "--scale", "4"], "scale is '4'; give the lowest and the highest score"),
        ([EXAMPLE[1], "--scale", "0,4"], "--human"),
        ([EXAMPLE[1], "--scale", "0,4", "--human", "", "--budget", "0"], "budget is 0.0"),
        ([EXAMPLE[1], "--scale", "0,4", "--human", "", "--alpha", "1.5"], "alpha_system is 1.5"),
        ([EXAMPLE[1], "--scale", "0,4", "--human", "", "--calibration", "5000"], "give a longer table"),
        ([EXAMPLE[1], "--scale", "0,4", "--human", "", "--change-at", "0.5"], "--change-at needs --strong-after"),
        ([*EXAMPLE[1:], "--rescored", "later"], "give a judge and a position, e.g. week2@601"),
        ([*EXAMPLE[1:], "--rescored", "later@99999"], "outside the stream"),
        ([*EXAMPLE[1:], "--passes", "pass9"], "pass9"),
        ([EXAMPLE[1], "--config", "nowhere.toml"], "nowhere.toml"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(arguments: list[str], sentence: str) -> None:
    done = driftjudge("replay", *arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[monitor]\nbudgett = 0.3\n", "unknown setting 'budgett'; did you mean 'budget'?"),
        ("[columns]\nscael = [0, 4]\n", "unknown setting 'scael' in [columns]"),
        ("[extras]\nx = 1\n", "unknown section 'extras'"),
        ("[replay]\nanchor = 3\n", "unknown setting 'anchor' in [replay]"),
        ("[replay]\ncalibration = 'half'\n", "calibration in [replay] is 'half'; give a number"),
        ("[roles]\ncheap = 3\n", "cheap in [roles] is 3; give the name of a judge"),
        ("[roles]\nrescored = 5\n", "give a judge and a position"),
        ("monitor = [\n", "is not valid TOML"),
    ],
)
def test_a_bad_config_file_names_the_setting(tmp_path: Path, text: str, sentence: str) -> None:
    config = tmp_path / "replay.toml"
    config.write_text(text, encoding="utf-8")
    done = driftjudge("replay", EXAMPLE[1], "--scale", "0,4", "--human", "", "--config", str(config))
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("scale", ["'1,5,7'", "[1, 5, 7]", "5"])
def test_a_scale_that_is_no_range_is_refused(tmp_path: Path, scale: str) -> None:
    config = tmp_path / "replay.toml"
    config.write_text(f"[columns]\nscale = {scale}\n", encoding="utf-8")
    done = driftjudge("replay", EXAMPLE[1], "--human", "", "--config", str(config))
    assert done.returncode == 2
    assert "give the lowest and the highest score, for example 1,5" in done.stderr


def test_the_help_names_the_sections_of_a_config_file() -> None:
    assert "sections monitor" in " ".join(driftjudge("replay", "--help").stdout.split())


def test_help_does_not_wait_for_the_statistics() -> None:
    program = (
        "import sys; from driftjudge.cli.app import app; print(sorted({'numpy', 'numba', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
