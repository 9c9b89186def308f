"""`driftjudge reanchor` and `driftjudge acknowledge`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Driftjudge
from tests.judges.misbehaving import MisbehavingServer
from tests.project.folders import LEVELS, Ruler, lines, ready


def test_reanchor_accepts_the_judge_and_the_watch_goes_on(
    tmp_path: Path, server: MisbehavingServer, ruler: Ruler, driftjudge: Driftjudge
) -> None:
    ready(tmp_path, server.url)
    assert "there is no baseline yet" in driftjudge("reanchor", "-C", tmp_path).sentence
    driftjudge("calibrate", "-C", tmp_path)
    assert "nothing was watched since calibrate" in driftjudge("reanchor", "-C", tmp_path).sentence
    ruler.harsher = 1
    assert driftjudge("run", tmp_path / "items.jsonl", "-C", tmp_path).code == 4
    assert "accept the judge as it is now" in driftjudge("acknowledge", "-C", tmp_path).sentence
    assert "A new epoch begins" in driftjudge("reanchor", "-C", tmp_path).out
    more = lines(tmp_path / "more.jsonl", "m", list(LEVELS))
    found = driftjudge("run", more, "-C", tmp_path, "--json")
    assert (found.code, found.json["epoch"]) == (0, 2)


def test_acknowledge_takes_note_of_a_system_verdict(
    tmp_path: Path, server: MisbehavingServer, driftjudge: Driftjudge
) -> None:
    ready(tmp_path, server.url)
    driftjudge("calibrate", "-C", tmp_path)
    assert "nothing final to acknowledge" in driftjudge("acknowledge", "-C", tmp_path).sentence
    bad = lines(tmp_path / "bad.jsonl", "b", [0, 1] * 30)
    assert driftjudge("run", bad, "-C", tmp_path).code == 3
    assert driftjudge("acknowledge", "-C", tmp_path, "--json").json == {"acknowledged": "system", "epoch": 2}
    assert driftjudge("run", tmp_path / "items.jsonl", "-C", tmp_path, "--json").json["epoch"] == 2
