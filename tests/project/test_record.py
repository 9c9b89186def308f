"""The baseline on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftjudge.project import road
from driftjudge.project.errors import ProjectError
from driftjudge.project.progress import Silent
from driftjudge.project.record import FILE, load_record, require_record
from tests.judges.misbehaving import MisbehavingServer
from tests.project.folders import ready


def test_a_baseline_survives_the_file(tmp_path: Path, server: MisbehavingServer) -> None:
    config = ready(tmp_path, server.url)
    made = road.calibrate(config, Silent()).record
    again = require_record(config.state_folder)
    assert again.findings == made.findings
    assert again.config == made.config
    assert again.anchors.to_json() == made.anchors.to_json()
    assert again.calibration.to_json() == made.calibration.to_json()
    assert again.strong.fingerprint == made.strong.fingerprint
    assert again.corrections == made.corrections


def test_the_prices_of_the_watch_are_those_that_were_paid(tmp_path: Path, server: MisbehavingServer) -> None:
    record = road.calibrate(ready(tmp_path, server.url), Silent()).record
    assert record.config.strong_price == pytest.approx(340 / 1e6)  # 300 tokens in, 40 out, a dollar per million
    assert record.config.cheap_price == pytest.approx(34 / 1e6)


def test_a_damaged_baseline_is_one_sentence(tmp_path: Path) -> None:
    assert load_record(tmp_path) is None
    for text in ("{", "[]", '{"version": 0}', '{"version": 1}'):
        (tmp_path / FILE).write_text(text, encoding="utf-8")
        with pytest.raises(ProjectError, match=r"damaged|another version"):
            load_record(tmp_path)
