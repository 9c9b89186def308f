"""`driftjudge calibrate`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Driftjudge
from tests.judges.misbehaving import MisbehavingServer
from tests.project.folders import Ruler, ready, write_folder


def test_calibrate_shows_bars_agreement_noise_and_the_cheap_judge(
    tmp_path: Path, server: MisbehavingServer, ruler: Ruler, driftjudge: Driftjudge
) -> None:
    ruler.cheap_harsher = 1
    ready(tmp_path, server.url)
    done = driftjudge("calibrate", "-C", tmp_path)
    assert done.code == 0, done.err
    for words in ("What healthy looks like", "kappa", "departs from itself", "The cheap judge beside the strong one"):
        assert words in done.out
    assert "in 160 calls" in done.out
    again = driftjudge("calibrate", "-C", tmp_path, "--json").json
    assert (again["new"], again["anchors"], again["passes"], again["calls"]) == (False, 20, 4, 160)
    assert again["cheap"][0]["bias"] == pytest.approx(-0.25)
    assert again["cheap"][0]["chosen"]["shape"] != "none"
    assert again["strong_fingerprint"] != again["cheap_fingerprint"]
    assert len(ruler.seen) == 160


def test_anchors_must_be_frozen_first(tmp_path: Path, server: MisbehavingServer, driftjudge: Driftjudge) -> None:
    write_folder(tmp_path, server.url)
    assert "there are no anchors yet" in driftjudge("calibrate", "-C", tmp_path).sentence
    driftjudge("anchors", "add", tmp_path / "labels.csv", "-C", tmp_path)
    assert "the anchors are not frozen yet" in driftjudge("calibrate", "-C", tmp_path).sentence
    assert server.seen == []


def test_a_budget_too_small_is_one_sentence(tmp_path: Path, server: MisbehavingServer, driftjudge: Driftjudge) -> None:
    ready(tmp_path, server.url, limits="max_calls = 10")
    sentence = driftjudge("calibrate", "-C", tmp_path).sentence
    assert "the baseline needs 160 calls, but the ceiling of 10 leaves 10" in sentence
    assert server.seen == []


def test_an_item_that_is_too_long_is_one_sentence(
    tmp_path: Path, server: MisbehavingServer, driftjudge: Driftjudge
) -> None:
    ready(tmp_path, server.url, strong="max_input_tokens = 500")
    with (tmp_path / "calibration.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": "long", "prompt": "%s", "response": "quality 3"}\n' % ("very " * 1000))
    sentence = driftjudge("calibrate", "-C", tmp_path).sentence
    assert "Item 'long' is too long for strong: about" in sentence
    assert server.seen == []
