"""One module per exhibit of the paper; each registers nothing and knows only its own table and claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from driftjudge.lab.exhibits import PAPER_SEEDS, Claim, Exhibit, Row, noise_claim
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


UNPUBLISHED = (
    "where counts depart from the paper's: a replica matches published summaries of single rubrics, while how the "
    "scores of one item move together over rubrics and strata is not published, and decides how soon a contaminated "
    "main process alarms and what the cheap judge sees of a drop"
)


@dataclass(frozen=True)
class Options:
    """What the command line decides for every experiment."""

    seeds: int = 60
    preset: Preset = "paper"


def make_exhibit(
    setting: Setting,
    options: Options,
    *,
    experiment: str,
    title: str,
    source: str,
    rows: Sequence[Row],
    claims: Sequence[Claim],
    notes: Sequence[str] = (),
    data: Mapping[str, Any] | None = None,
    seeds: int | None = None,
    compares: bool = False,
    rates: Sequence[str] = (),
    paper_seeds: int = PAPER_SEEDS,
) -> Exhibit:
    """An exhibit of this table and these options; `seeds` where an experiment runs other than the options say.

    Where the paper's figures are counts, or shares of streams in the columns `rates`, a claim compares them with ours.
    """
    count = options.seeds if seeds is None else seeds
    compared = noise_claim(rows, count, rates=rates, paper_seeds=paper_seeds)
    if any(entry.published is not None for row in rows for entry in row.entries.values()) and compares:
        claims = (*claims, compared)
        if not compared.holds and setting.table.replica:
            notes = (*notes, UNPUBLISHED)
    return Exhibit(
        experiment=experiment,
        title=title,
        source=source,
        dataset=setting.table.name,
        replica=setting.table.replica,
        seeds=count,
        preset=options.preset,
        rows=tuple(rows),
        claims=tuple(claims),
        notes=tuple(notes),
        data=data or {},
    )


def experiment(name: str) -> tuple[Callable[[Setting, Options], Exhibit], Callable[[Exhibit], Any]]:
    """The two functions of an experiment: how to run it and how to draw it."""
    if name not in NAMES:
        raise TableError(f"unknown experiment {name!r}; known experiments: {', '.join(NAMES)}, or all")
    module = import_module(f"driftjudge.lab.experiments.{name}")
    return module.run, module.draw
