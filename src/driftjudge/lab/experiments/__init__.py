"""One module per exhibit of the paper; each registers nothing and knows only its own table and claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from driftjudge.lab.exhibits import Exhibit
from driftjudge.lab.setting import Setting
from driftjudge.monitor.config import Preset
from driftjudge.tables import TableError

NAMES = (
    "confusion",
    "bump",
    "gap",
    "guard",
    "race",
    "coprovision",
    "baselines",
    "cells",
    "frontier",
    "methods",
    "calibration",
    "propositions",
)
"""In the order of the paper. Each is a module of this package with `run(setting, options)` and `draw(exhibit)`."""


@dataclass(frozen=True)
class Options:
    """What the command line decides for every experiment."""

    seeds: int = 60
    preset: Preset = "paper"


def experiment(name: str) -> tuple[Callable[[Setting, Options], Exhibit], Callable[[Exhibit], Any]]:
    """The two functions of an experiment: how to run it and how to draw it."""
    if name not in NAMES:
        raise TableError(f"unknown experiment {name!r}; known experiments: {', '.join(NAMES)}, or all")
    module = import_module(f"driftjudge.lab.experiments.{name}")
    return module.run, module.draw
