"""driftjudge: who drifted, the system or the judge?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from driftjudge.monitor import AnchorSet, Ask, Calibration, Failure, Monitor, MonitorConfig, Verdict
    from driftjudge.tables import ScoreTable, load_replica, read_table
    from driftjudge.tables.replay import Replay, Roles, replay

__version__ = "0.1.0"

__all__ = [
    "AnchorSet",
    "Ask",
    "Calibration",
    "Failure",
    "Monitor",
    "MonitorConfig",
    "Replay",
    "Roles",
    "ScoreTable",
    "Verdict",
    "load_replica",
    "read_table",
    "replay",
]

_HOMES = {
    "driftjudge.monitor": ("AnchorSet", "Ask", "Calibration", "Failure", "Monitor", "MonitorConfig", "Verdict"),
    "driftjudge.tables": ("ScoreTable", "load_replica", "read_table"),
    "driftjudge.tables.replay": ("Replay", "Roles", "replay"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    """Load a public name when it is first used, so that `driftjudge --help` does not wait for the statistics."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'driftjudge' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
