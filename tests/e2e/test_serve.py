"""`driftjudge serve` as its own process: one command, an address, and an end that loses nothing."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import httpx2

from driftjudge.service.client import Client
from tests.service.api.world import CONFIG, batch, calibration

SRC = Path(__file__).resolve().parents[2] / "src"
PROGRAM = "import sys; from driftjudge.cli import main; sys.exit(main())"
NOBODY_ELSE = {key: value for key, value in os.environ.items() if not key.startswith("DRIFTJUDGE_")}


def _start(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "serve", *arguments],
        cwd=folder,
        env={**NOBODY_ELSE, "PYTHONPATH": str(SRC), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _address(stream: IO[str] | None) -> str:
    assert stream is not None
    line = stream.readline()
    found = re.search(r"http://[\w.:\[\]]+", line)
    assert found, line
    return found[0]


@contextmanager
def _serving(folder: Path, *arguments: str, **environment: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    process = _start(folder, "--port", "0", *arguments, **environment)
    try:
        yield _address(process.stdout), process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_one_command_starts_everything_and_a_signal_ends_it_gracefully(tmp_path: Path) -> None:
    with _serving(tmp_path) as (url, process):
        with Client(url) as client:
            client.create_monitor("bot", CONFIG)
            client.calibrate("bot", calibration())
            client.send_many("bot", batch(0, 50))
        assert httpx2.get(f"{url}/readyz", timeout=60).json()["ready"] is True
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0
    assert "No API key exists" in out
    lines = [json.loads(line) for line in err.splitlines()]
    assert any(line.get("route") == "/api/v1/monitors/{name}/items/batch" and line["status"] == 200 for line in lines)
    assert lines[-1]["message"] == "stopped"
    assert (tmp_path / "driftjudge.db").is_file()
    with _serving(tmp_path) as (url, _), Client(url) as client:
        assert client.monitor("bot").position == 50


def test_a_request_that_was_begun_is_answered_before_the_end(tmp_path: Path) -> None:
    with _serving(tmp_path) as (url, process), Client(url, attempts=1) as client:
        client.create_monitor("bot", CONFIG)
        client.calibrate("bot", calibration())
        taken: list[int] = []
        refused = threading.Event()

        def send() -> None:
            for start in range(0, 100_000, 100):
                try:
                    taken.append(len(client.send_many("bot", batch(start, 100))))
                except Exception:  # the listener is gone
                    refused.set()
                    return
                if len(taken) == 3:
                    process.send_signal(signal.SIGTERM)

        sender = threading.Thread(target=send)
        sender.start()
        process.communicate(timeout=120)
        sender.join(timeout=120)
        assert refused.is_set()
        assert process.returncode == 0
    with _serving(tmp_path) as (url, _), Client(url) as again:
        assert again.monitor("bot").position >= sum(taken) >= 300


def test_with_a_key_in_the_environment_it_listens_to_others_who_bring_it(tmp_path: Path) -> None:
    key = "k" * 40
    (tmp_path / "driftjudge.toml").write_text('[service]\nstore = "kept.db"\n', encoding="utf-8")
    arguments = ("--host", "0.0.0.0", "--config", "driftjudge.toml")
    with _serving(tmp_path, *arguments, DRIFTJUDGE_ADMIN_KEY=key) as (url, process):
        url = url.replace("0.0.0.0", "127.0.0.1")
        assert httpx2.get(f"{url}/api/v1/me", timeout=60).status_code == 401
        with Client(url, key) as client:
            assert client.me().actor == "environment"
        headers = {"Authorization": f"Bearer {key}"}
        with httpx2.stream("GET", f"{url}/api/v1/changes", headers=headers, timeout=60) as response:
            lines = response.iter_lines()
            next(lines)
            process.send_signal(signal.SIGINT)  # an open stream does not keep it alive
            list(lines)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0
    assert key not in out + err
    assert "No API key exists" not in out
    assert (tmp_path / "kept.db").is_file()


def test_it_does_not_listen_to_others_without_a_key(tmp_path: Path) -> None:
    process = _start(tmp_path, "--host", "0.0.0.0", "--port", "0")
    _, err = process.communicate(timeout=120)
    assert process.returncode == 2
    assert err.startswith("driftjudge: nobody listens on 0.0.0.0 without an API key; set DRIFTJUDGE_ADMIN_KEY")
    assert "Traceback" not in err
