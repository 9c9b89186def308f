"""`driftjudge run` and its exit codes."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Driftjudge
from tests.judges.misbehaving import MisbehavingServer
from tests.project.folders import LEVELS, Ruler, lines, ready


@pytest.fixture
def project(tmp_path: Path, server: MisbehavingServer, driftjudge: Driftjudge) -> Path:
    ready(tmp_path, server.url)
    assert driftjudge("calibrate", "-C", tmp_path, "--json").code == 0
    return tmp_path


def test_nothing_drifted_is_exit_code_0(project: Path, driftjudge: Driftjudge) -> None:
    done = driftjudge("run", project / "items.jsonl", "-C", project, "--json")
    assert done.code == 0
    found = done.json
    assert (found["verdict"], found["items"], found["new_items"], found["pending"]) == ("none", 40, 40, 0)
    assert {"status", "system_alarm_at", "judge_alarm_at", "cost_fraction", "promise", "dollars"} <= set(found)


def test_a_worse_product_is_exit_code_3_and_one_plain_sentence(project: Path, driftjudge: Driftjudge) -> None:
    bad = lines(project / "bad.jsonl", "b", [0, 1] * 30)
    done = driftjudge("run", bad, "-C", project)
    assert done.code == 3
    assert "system: Scores dropped (tone in all" in done.err
    assert "Your system got worse" in " ".join(done.out.split())
    assert "driftjudge acknowledge" in done.out


def test_a_harsher_judge_is_exit_code_4(project: Path, ruler: Ruler, driftjudge: Driftjudge) -> None:
    ruler.harsher = 1
    done = driftjudge("run", project / "items.jsonl", "-C", project)
    assert done.code == 4
    assert "judge: The judge moved" in done.err
    assert "driftjudge reanchor" in done.out


def test_a_final_verdict_is_told_again_for_free(project: Path, ruler: Ruler, driftjudge: Driftjudge) -> None:
    ruler.harsher = 1
    driftjudge("run", project / "items.jsonl", "-C", project)
    calls = len(ruler.seen)
    more = lines(project / "more.jsonl", "m", list(LEVELS))
    assert driftjudge("run", more, "-C", project).code == 4
    assert len(ruler.seen) == calls
    assert driftjudge("run", more, "-C", project, "--keep-going", "--json").json["new_items"] == 8


def test_items_come_from_standard_input(project: Path, driftjudge: Driftjudge, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (project / "items.jsonl").read_text(encoding="utf-8") + '{"id": "odd", "prompt": "no response"}\n'
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    done = driftjudge("run", "-C", project, "--json")
    assert (done.json["new_items"], done.json["left_out"]) == (40, 1)
    assert "left out: line 41 of standard input has nothing in column 'response'" in done.err


def test_items_come_from_a_folder(project: Path, driftjudge: Driftjudge) -> None:
    (project / "in").mkdir()
    lines(project / "in" / "1.jsonl", "x", list(LEVELS))
    lines(project / "in" / "2.jsonl", "y", list(LEVELS))
    assert driftjudge("run", project / "in", "-C", project, "--json").json["new_items"] == 16


def test_a_file_is_checked_whole_before_anything_is_asked(project: Path, ruler: Ruler, driftjudge: Driftjudge) -> None:
    calls = len(ruler.seen)
    path = lines(project / "new.jsonl", "n", list(LEVELS))
    with path.open("a", encoding="utf-8") as file:
        file.write('{"id": "last", "prompt": "p"}\n')
    assert "row 9 has nothing in column 'response'" in driftjudge("run", path, "-C", project).sentence
    assert len(ruler.seen) == calls


def test_run_before_calibrate_is_one_sentence(
    tmp_path: Path, server: MisbehavingServer, driftjudge: Driftjudge
) -> None:
    ready(tmp_path, server.url)
    done = driftjudge("run", tmp_path / "items.jsonl", "-C", tmp_path)
    assert done.sentence == "there is no baseline yet; make one with: driftjudge calibrate"


def test_a_ceiling_stops_the_run_where_it_can_go_on(
    project: Path, server: MisbehavingServer, ruler: Ruler, driftjudge: Driftjudge
) -> None:
    ready(project, server.url, limits="max_calls = 200")
    done = driftjudge("run", project / "items.jsonl", "-C", project)
    assert "The ceiling of 200 calls is reached" in done.sentence
    assert len(ruler.seen) == 200
    ready(project, server.url)
    found = driftjudge("run", project / "items.jsonl", "-C", project, "--json").json
    assert (found["verdict"], found["items"]) == ("none", 40)
    assert found["calls"] == 160 + 40 + 40 + 10
