"""`driftjudge anchors add|check|freeze`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Driftjudge
from tests.project.folders import labels, write_folder


def test_from_labels_to_frozen_anchors(tmp_path: Path, driftjudge: Driftjudge) -> None:
    write_folder(tmp_path)
    labels(tmp_path / "two.csv", raters=2)
    done = driftjudge("anchors", "add", tmp_path / "two.csv", "-C", tmp_path)
    assert "20 anchors added, 20 in all" in done.out
    found = driftjudge("anchors", "check", "-C", tmp_path, "--json").json
    assert (found["anchors"], found["several_raters"], found["frozen"]) == (20, 20, False)
    assert found["rubrics"][0]["raters_kappa"] == 1.0
    frozen = driftjudge("anchors", "freeze", "-C", tmp_path, "--json").json
    assert frozen["freeze_hash"] == found["freeze_hash"]
    assert driftjudge("anchors", "check", "-C", tmp_path, "--json").json["frozen"]
    assert "the anchors are frozen" in driftjudge("anchors", "add", tmp_path / "two.csv", "-C", tmp_path).sentence


def test_check_warns_in_words(tmp_path: Path, driftjudge: Driftjudge) -> None:
    write_folder(tmp_path)
    driftjudge("anchors", "add", tmp_path / "labels.csv", "-C", tmp_path)
    done = driftjudge("anchors", "check", "-C", tmp_path)
    assert "warning: 20 anchors are few" in done.out
    assert "label noise is unknown" in done.out
    assert "not frozen yet" in done.out


def test_freezing_says_what_check_would(tmp_path: Path, driftjudge: Driftjudge) -> None:
    write_folder(tmp_path)
    driftjudge("anchors", "add", tmp_path / "labels.csv", "-C", tmp_path)
    done = driftjudge("anchors", "freeze", "-C", tmp_path)
    assert "20 anchors frozen" in done.out
    assert "warning: 20 anchors are few" in done.err


def test_anchors_that_are_not_there_are_one_sentence(tmp_path: Path, driftjudge: Driftjudge) -> None:
    write_folder(tmp_path)
    assert "there are no anchors yet" in driftjudge("anchors", "freeze", "-C", tmp_path).sentence
    assert "There is no file" in driftjudge("anchors", "add", tmp_path / "none.csv", "-C", tmp_path).sentence
    assert "make one with: driftjudge init" in driftjudge("anchors", "check", "-C", tmp_path / "none").sentence
