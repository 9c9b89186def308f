"""On what kind of machine the figures were taken; nothing that would tell which."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from driftjudge import __version__


@dataclass(frozen=True)
class Machine:
    """Facts a reader needs to compare figures."""

    cores: int
    processor: str
    system: str
    versions: dict[str, str]
    """Of Python and the packages that matter for speed."""


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def this_machine() -> Machine:
    """The machine in hand."""
    return Machine(
        cores=os.cpu_count() or 1,
        processor=platform.machine(),
        system=platform.system(),
        versions={
            platform.python_implementation(): platform.python_version(),
            "driftjudge": __version__,
            **{name: _version(name) for name in ("numpy", "scipy", "numba", "river")},
        },
    )
