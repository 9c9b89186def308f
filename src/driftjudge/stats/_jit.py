"""One source for the arithmetic: `kernel` compiles with numba where it is installed and is the identity where not."""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

numba: Any
try:
    numba = importlib.import_module("numba")
except ImportError:  # the same source then runs as plain Python
    numba = None

F = TypeVar("F", bound=Callable[..., Any])

COMPILED: bool = numba is not None and not numba.config.DISABLE_JIT
"""True when kernels run as machine code in this process."""


@lru_cache(maxsize=1)
def _cache_folder() -> str:
    """A folder named after the text of every kernel module.

    numba keys its cache by the file a function stands in, not by what that function calls: after an edit or an
    upgrade of a callee it would go on running the old arithmetic. A folder per version of the sources rules that out.
    """
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for part in ("stats", "monitor", "lab"):
        for source in sorted((package / part).glob("*.py")):
            digest.update(source.read_bytes())
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return str(root / "driftjudge" / "kernels" / digest.hexdigest()[:16])


def kernel(function: F) -> F:
    """Compile `function` in nopython mode, without fast-math so that every caller gets the same bits."""
    return _compile(function, "never")


def inlined_kernel(function: F) -> F:
    """A kernel whose body is copied into its callers before compilation: for the innermost loops."""
    return _compile(function, "always")


def _compile(function: F, inline: str) -> F:
    if numba is None:
        return function
    options = {"fastmath": False, "error_model": "numpy", "inline": inline}
    outside = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = _cache_folder()
    try:
        compiled: F = numba.njit(cache=True, **options)(function)
    except (RuntimeError, OSError):  # nowhere to keep a cache: compile anew in each process
        compiled = numba.njit(**options)(function)
    finally:
        numba.config.CACHE_DIR = outside
    return compiled
