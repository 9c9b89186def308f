"""Small streams through whole monitors, as a program: prints how the kernels ran and every snapshot as JSON."""

from __future__ import annotations

import json
import sys
from typing import Any


def snapshots() -> dict[str, Any]:
    """Snapshots after streams with drift and missing scores, for every preset, promise and acquisition rule."""
    from tests.validity.cases import case, config_of
    from tests.validity.main_subjects import ACQUISITIONS, PROMISES

    taken = {}
    for name, preset, run_length in PROMISES:
        for acquisition in ACQUISITIONS:
            config = config_of(preset, acquisition, seed=33, anchor_every=3, run_length=run_length)
            tried = case(config, drop=-0.25, shift=0.1, unscored=0.03, continuous=acquisition == "full")
            tried.monitor.observe_block(tried.block)
            taken[f"{name}-{acquisition}"] = tried.monitor.snapshot()
    return taken


if __name__ == "__main__":
    if "--without-numba" in sys.argv:
        sys.modules["numba"] = None  # type: ignore[assignment]  # importing it now fails as if it were not installed
    from driftjudge.stats._jit import COMPILED

    print(json.dumps({"compiled": COMPILED, "numba": sys.modules.get("numba") is not None, "snapshots": snapshots()}))
