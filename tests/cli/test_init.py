"""`driftjudge init`."""

from __future__ import annotations

from pathlib import Path

from driftjudge.project.config import load_config
from tests.cli.conftest import Driftjudge


def test_init_writes_settings_that_can_be_read(tmp_path: Path, driftjudge: Driftjudge) -> None:
    folder = tmp_path / "new"
    done = driftjudge("init", folder, "--strong", "big", "--base-url", "http://127.0.0.1:8080/v1")
    assert done.code == 0
    assert "driftjudge anchors add" in done.out
    assert load_config(folder).strong.model == "big"
    assert (folder / ".driftjudge" / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_init_keeps_settings_that_are_there(tmp_path: Path, driftjudge: Driftjudge) -> None:
    driftjudge("init", tmp_path)
    assert "exists already; edit it, or write a new one with --force" in driftjudge("init", tmp_path).sentence
    assert driftjudge("init", tmp_path, "--force").code == 0
