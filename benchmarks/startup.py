"""What is paid once: importing the library, and compiling its kernels on a machine that never ran them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.speed import Spread

DEADLINE = 300.0

IMPORT = """
import json, time
started = time.perf_counter()
{statement}
print(json.dumps(time.perf_counter() - started))
"""

FIRST_ITEMS = """
import json, time
from driftjudge import Monitor
from benchmarks.contenders import MODES
started = time.perf_counter()
for preset in ("paper", "robust"):
    for mode in MODES:
        MODES[mode](preset, 500)
print(json.dumps(time.perf_counter() - started))
"""


@dataclass(frozen=True)
class Startup:
    """Wall seconds, each in a fresh process."""

    import_driftjudge: Spread
    """The package alone: public names are loaded when they are first used."""
    import_monitor: Spread
    """The package with its Monitor, and all that needs."""
    import_numba: Spread
    """Of which numba (numpy included)."""
    import_numpy: Spread
    """Of which numpy."""
    first_items_cold: Spread
    """Both presets, online and replay, 500 items each, with an empty kernel cache: set-up and compilation."""
    first_items_warm: Spread
    """The same again, with the kernels in the cache."""
    cache_mib: float
    """Size of the kernel cache afterwards."""

    @property
    def compile_seconds(self) -> float:
        """What the empty cache cost."""
        return self.first_items_cold.median - self.first_items_warm.median


def _in_a_new_process(program: str, environment: Mapping[str, str]) -> float:
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"a start-up measurement failed: {done.stderr.strip()}")
    return float(json.loads(done.stdout))


IMPORTS = {
    "import_driftjudge": "import driftjudge",
    "import_monitor": "from driftjudge import Monitor",
    "import_numba": "import numba",
    "import_numpy": "import numpy",
}


def _import_seconds(repetitions: int) -> dict[str, Spread]:
    """Every import once per round."""
    rounds = [
        {name: _in_a_new_process(IMPORT.format(statement=statement), {}) for name, statement in IMPORTS.items()}
        for _ in range(repetitions)
    ]
    return {name: Spread.of(one[name] for one in rounds) for name in IMPORTS}


def measure_startup(imports: int, compilations: int, tell: Callable[[str], None]) -> Startup:
    """Compilations first, each from an empty folder: they bring everything that is imported into the disk's cache."""
    cold, warm, size = [], [], 0
    for turn in range(compilations):
        tell(f"startup: compilation {turn + 1} of {compilations}")
        with tempfile.TemporaryDirectory() as empty:
            environment = {"XDG_CACHE_HOME": empty}
            cold.append(_in_a_new_process(FIRST_ITEMS, environment))
            warm.append(_in_a_new_process(FIRST_ITEMS, environment))
            size = sum(path.stat().st_size for path in Path(empty).rglob("*") if path.is_file())
    tell("startup: imports")
    return Startup(
        **_import_seconds(imports),
        first_items_cold=Spread.of(cold),
        first_items_warm=Spread.of(warm),
        cache_mib=size / 2**20,
    )
