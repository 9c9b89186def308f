"""Whatever keeps `driftjudge serve` from starting is told in one sentence, with exit code 2."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from driftjudge.cli import main


def _refusal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    monkeypatch.setattr(sys, "argv", ["driftjudge", "serve", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith("driftjudge: ")
    assert told.count("\n") == 1
    return told


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--config", "missing.toml"), "missing.toml: no such file or directory"),
        (("--store", "mysql://x/y"), "databases of the kind 'mysql' are not supported"),
        (("--store", "no/such/folder/x.db"), "check its folder"),
        (("--log-level", "loud"), "log_level is 'loud'; choose debug, info, warning or error"),
        (("--port", "99999"), "port is 99999; give a whole number from 0 to 65535"),
        (("--host", "0.0.0.0"), "nobody listens on 0.0.0.0 without an API key"),
        (("--host", "localhost.invalid.", "--port", "0"), "without an API key"),
    ],
)
def test_a_mistake_is_told(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DRIFTJUDGE_ADMIN_KEY", raising=False)
    assert told in _refusal(monkeypatch, capsys, *arguments)


def test_a_taken_port_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        told = _refusal(monkeypatch, capsys, "--port", port)
    assert f"cannot listen on 127.0.0.1 port {port} (address already in use); choose another with --port" in told
