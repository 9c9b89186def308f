"""`driftjudge judge`."""

from __future__ import annotations

from pathlib import Path

from driftjudge.tables import read_table
from tests.cli.conftest import Driftjudge
from tests.judges.misbehaving import MisbehavingServer, refusal
from tests.project.folders import ready


def test_a_file_is_scored_into_a_table(tmp_path: Path, server: MisbehavingServer, driftjudge: Driftjudge) -> None:
    ready(tmp_path, server.url)
    out = tmp_path / "scores.csv"
    server.next(refusal())
    done = driftjudge("judge", tmp_path / "items.jsonl", "--out", out, "-C", tmp_path)
    assert done.code == 0, done.err
    assert "39 of 40 items scored by the strong judge" in done.out
    assert "unscored: 1 refusal" in done.out
    assert len(read_table(out)) == 40
    found = driftjudge(
        "judge", tmp_path / "items.jsonl", "--judge", "cheap", "--out", out, "-C", tmp_path, "--json"
    ).json
    assert (found["scored"], found["unscored"], found["calls"]) == (40, {}, 80)
    assert read_table(out).judge_names == ("strong", "cheap")


def test_a_judge_that_is_not_there_is_one_sentence(
    tmp_path: Path, server: MisbehavingServer, driftjudge: Driftjudge
) -> None:
    ready(tmp_path, server.url, cheap=False)
    asked = ("judge", tmp_path / "items.jsonl", "-C", tmp_path, "--judge")
    assert "there is no judge 'best'; choose strong or cheap" in driftjudge(*asked, "best").sentence
    assert "has no [judges.cheap]" in driftjudge(*asked, "cheap").sentence
