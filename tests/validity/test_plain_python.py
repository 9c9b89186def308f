"""One source for the arithmetic: compiled, uncompiled and without numba it gives the same numbers."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from driftjudge.stats._jit import COMPILED
from tests.validity.small_stream import snapshots

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(not COMPILED, reason="there is nothing to compare plain Python with: numba is not here")


@pytest.fixture(scope="module")
def compiled() -> dict[str, Any]:
    return snapshots()


def run_elsewhere(*flags: str, **environment: str) -> dict[str, Any]:
    """The same streams in another process."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.validity.small_stream", *flags],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def assert_close(left: Any, right: Any, where: str) -> None:
    """Equal in everything but the last bits of floats."""
    if isinstance(left, dict):
        assert left.keys() == right.keys(), where
        for key in left:
            assert_close(left[key], right[key], f"{where}.{key}")
    elif isinstance(left, list):
        assert len(left) == len(right), where
        for i, (a, b) in enumerate(zip(left, right, strict=True)):
            assert_close(a, b, f"{where}[{i}]")
    elif isinstance(left, float):
        assert math.isclose(left, right, rel_tol=1e-12, abs_tol=1e-12), f"{where}: {left!r} and {right!r}"
    else:
        assert left == right, where


@pytest.mark.parametrize(
    ("flags", "environment", "numba"),
    [
        pytest.param((), {"NUMBA_DISABLE_JIT": "1"}, True, id="numba-switched-off"),
        pytest.param(("--without-numba",), {}, False, id="numba-not-installed"),
    ],
)
def test_plain_python_gives_the_same_numbers(
    compiled: dict[str, Any], flags: tuple[str, ...], environment: dict[str, str], numba: bool
) -> None:
    plain = run_elsewhere(*flags, **environment)
    assert plain["compiled"] is False
    assert plain["numba"] is numba
    assert_close(plain["snapshots"], json.loads(json.dumps(compiled)), "snapshots")


def test_the_comparison_notices_a_difference_in_the_twelfth_digit() -> None:
    with pytest.raises(AssertionError, match=r"here\.a\[1\]"):
        assert_close({"a": [1, 1.0]}, {"a": [1, 1.0 + 1e-11]}, "here")


def test_compiled_code_gives_the_same_bits_in_every_process(compiled: dict[str, Any]) -> None:
    again = run_elsewhere()
    assert again["compiled"] is True
    assert again["snapshots"] == json.loads(json.dumps(compiled))
