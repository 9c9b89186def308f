"""The command line in this process, and a judge on loopback for the commands that need one."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from driftjudge.cli import main
from tests.project.fixtures import ruler, server

__all__ = ["ruler", "server"]


class Done(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on standard output."""
        return json.loads(self.out)

    @property
    def sentence(self) -> str:
        """The one sentence of a refusal."""
        assert self.code == 2, (self.code, self.err)
        assert self.err.count("\n") == 1, self.err
        assert "Traceback" not in self.err
        return self.err.removeprefix("driftjudge: ").strip()


Driftjudge = Callable[..., Done]


@pytest.fixture
def driftjudge(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Driftjudge:
    """Run a command as the shell would, without paying for a new process."""

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["driftjudge", *map(str, arguments)])
        capsys.readouterr()
        code: object = 0
        try:
            main()
        except SystemExit as leaving:
            code = leaving.code
        out, err = capsys.readouterr()
        return Done(int(str(code or 0)), out, err)

    return run
