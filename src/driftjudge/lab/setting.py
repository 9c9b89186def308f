"""The table an experiment runs on, with what the experiments need to know about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from driftjudge.lab.scenarios import TARGET_CELLS, Scenario, regressed_blind
from driftjudge.monitor import MonitorConfig
from driftjudge.monitor.config import Preset
from driftjudge.tables import REPLICAS, Columns, ScoreTable, TableError, load_replica, read_table


@dataclass(frozen=True)
class Source:
    """How to get at a table, in values that can be sent to another process."""

    dataset: str
    """`helpsteer2`, `tldr`, or the path of a table."""
    cheap: str = "cheap"
    strong: str = "strong"
    human: str = "human"
    after: tuple[str, ...] = ("lenient", "harsh")
    """Judges of the table that take over from the strong one."""
    target: tuple[str, str] | None = None
    """(rubric, stratum) that regresses."""


@dataclass(frozen=True)
class Setting:
    """A table, its judge changes and its target cell."""

    name: str
    """`helpsteer2` or `tldr`, which have published figures; otherwise the table's name."""
    table: ScoreTable
    changes: Mapping[str, float]
    """Judge changes by name, with their mean shift."""
    scenario: Scenario
    """The paper's stream, with this table's target cell."""

    @property
    def harshest(self) -> str:
        """The judge change that lowers scores most: the one that contaminates the main process."""
        return min(self.changes, key=lambda name: self.changes[name])

    @property
    def most_lenient(self) -> str:
        """The judge change that raises scores most."""
        return max(self.changes, key=lambda name: self.changes[name])

    def config(self, preset: Preset = "paper", **settings: object) -> MonitorConfig:
        """A monitor for this table."""
        names = {"rubrics": self.table.rubrics, "strata": self.table.stratum_names, "preset": preset}
        return MonitorConfig.from_json({**names, **settings})


@lru_cache(maxsize=8)
def open_setting(source: Source) -> Setting:
    """Load the table and work out the rest."""
    if source.dataset in REPLICAS:
        table = load_replica(source.dataset)
        _check_target(table, source.target)
        scenario = Scenario(target=source.target or TARGET_CELLS[table.name])
        return Setting(source.dataset, table, _shifts(table, ("lenient", "harsh")), scenario)
    table = _roles(source)
    _check_target(table, source.target)
    target, scenario = _target(table, source)
    return Setting(table.name, table, _shifts(table, source.after), replace(scenario, target=target))


def _check_target(table: ScoreTable, target: tuple[str, str] | None) -> None:
    if target is not None and (target[0] not in table.rubrics or target[1] not in table.stratum_names):
        raise TableError(
            f"{table.name} has no cell {target[0]}:{target[1]}; its rubrics are {', '.join(table.rubrics)}, its strata "
            f"{', '.join(table.stratum_names)}"
        )


def table_name(dataset: str) -> str:
    """What a table of the user's is called: its file, or its folder where the file is just called scores."""
    path = Path(dataset)
    return path.parent.name if path.stem == "scores" and path.parent.name else path.stem


def _shifts(table: ScoreTable, names: tuple[str, ...]) -> dict[str, float]:
    strong = table.judge("strong")
    return {name: float(np.nanmean(table.judge(name) - strong)) for name in names}


def _roles(source: Source) -> ScoreTable:
    """The table with its judges under the names the experiments use; only items that everybody scored."""
    wanted = {"cheap": source.cheap, "strong": source.strong, "human": source.human}
    wanted |= {name: name for name in source.after}
    try:
        table = read_table(source.dataset, Columns(judges=wanted), name=table_name(source.dataset))
    except TableError as error:
        known = ", ".join(REPLICAS)
        raise TableError(f"{error} Name judges with --cheap, --strong, --human and --after, or use {known}.") from error
    complete = np.all([~np.isnan(table.judge(name)).any(axis=1) for name in wanted], axis=0)
    if complete.sum() < 300:
        raise TableError(
            f"{int(complete.sum())} items of {table.name} were scored by everybody; an experiment needs 300"
        )
    return table.take(np.flatnonzero(complete))


def _target(table: ScoreTable, source: Source) -> tuple[tuple[str, str], Scenario]:
    """The named cell, or the one with most regressed-blind items.

    On tables whose scores never reach the paper's limits (strong <= 0.25, cheap >= 0.6) the limits are the quantiles
    0.25 of the strong and 0.5 of the cheap scores.
    """
    rows = np.arange(len(table))
    anchors = min(200, len(table) // 4)
    cells = [(r, s) for r in table.rubrics for s in table.stratum_names] if source.target is None else [source.target]
    for low, blind in (
        (0.25, 0.6),
        (float(np.quantile(table.judge("strong"), 0.25)), float(np.median(table.judge("cheap")))),
    ):
        scenario = Scenario(anchors=anchors, low=low, blind=blind)
        sizes = {cell: len(regressed_blind(table, cell, scenario, rows)) for cell in cells}
        best = max(cells, key=lambda cell: sizes[cell])
        if sizes[best] >= 5:
            return best, scenario
    raise TableError(
        f"no cell of {table.name} has 5 items that the strong judge scores low and the cheap one high; name one with "
        "--target"
    )
