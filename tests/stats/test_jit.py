from __future__ import annotations

import importlib
import math
from pathlib import Path

import pytest

from driftjudge.stats import _jit
from driftjudge.stats._jit import COMPILED, inlined_kernel, kernel


def absorbing(small: float, large: float) -> float:
    """(large + small) - large: fast-math would call it `small`."""
    return (large + small) - large


def is_nan(x: float) -> bool:
    """Fast-math would call this False for good."""
    return x != x


@pytest.mark.parametrize("compile_", [kernel, inlined_kernel])
def test_a_kernel_keeps_the_order_of_operations_and_knows_nan(compile_: object) -> None:
    assert callable(compile_)
    assert compile_(absorbing)(1.0, 1e17) == absorbing(1.0, 1e17) == 0.0
    assert compile_(is_nan)(math.nan)
    assert not compile_(is_nan)(1.0)


def test_without_numba_a_kernel_is_the_function_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_jit, "numba", None)
    assert kernel(absorbing) is absorbing
    assert inlined_kernel(absorbing) is absorbing


def test_compiled_code_is_kept_in_a_folder_named_after_the_sources(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = _jit._cache_folder.__wrapped__
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    here = Path(folder())
    assert here.parent == tmp_path / "driftjudge" / "kernels"
    for part in ("stats", "monitor", "lab"):
        (tmp_path / "elsewhere" / part).mkdir(parents=True)
    monkeypatch.setattr(_jit, "__file__", str(tmp_path / "elsewhere" / "stats" / "_jit.py"))
    before = folder()
    (tmp_path / "elsewhere" / "monitor" / "callee.py").write_text("changed = True\n")
    assert len({str(here), before, folder()}) == 3


@pytest.mark.skipif(not COMPILED, reason="numba is not here or switched off")
def test_compiling_leaves_the_numba_settings_of_others_alone() -> None:
    settings = importlib.import_module("numba").config
    before = settings.CACHE_DIR
    kernel(absorbing)
    assert before == settings.CACHE_DIR


@pytest.mark.skipif(not COMPILED, reason="numba is not here or switched off")
def test_a_place_that_cannot_be_written_costs_only_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(_jit, "_cache_folder", lambda: str(tmp_path / "file" / "below"))
    assert kernel(absorbing)(1.0, 1e17) == 0.0
