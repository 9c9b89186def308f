"""A folder that is appended to, watched by a process of its own until somebody interrupts it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from driftjudge.project import road
from driftjudge.project.progress import Silent
from tests.judges.misbehaving import MisbehavingServer, answer_by
from tests.project.folders import LEVELS, Ruler, lines, ready

PATIENCE = 120.0


def wait_until_asked(ruler: Ruler, prompt: str) -> None:
    """Wait until the strong judge was asked about an item."""
    until = time.monotonic() + PATIENCE
    while not any(line.startswith("strong") and f"{prompt}\n" in line for line in ruler.seen):
        assert time.monotonic() < until, f"nobody asked about {prompt}"
        time.sleep(0.05)


def test_what_is_appended_is_watched_until_an_interrupt(tmp_path: Path) -> None:
    ruler = Ruler()
    with MisbehavingServer(default=answer_by(ruler)) as server:
        road.calibrate(ready(tmp_path, server.url), Silent())
        (tmp_path / "in").mkdir()
        lines(tmp_path / "in" / "1.jsonl", "x", list(LEVELS))
        program = "from driftjudge.cli import main; main()"
        command = [sys.executable, "-c", program, "run", "in", "--follow", "--json"]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            wait_until_asked(ruler, "say x7")
            lines(tmp_path / "in" / "2.jsonl", "y", list(LEVELS))
            wait_until_asked(ruler, "say y7")
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert process.returncode == 0, err
    assert json.loads(out)["items"] == 16
    assert "stopped; run the same command again to go on" in err
