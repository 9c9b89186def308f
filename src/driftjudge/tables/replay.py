"""The verdict on scores you already have: a whole table through the Monitor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor import AnchorSet, Block, Calibration, Monitor, MonitorConfig, Verdict
from driftjudge.monitor.evidence import Evidence, Trace
from driftjudge.monitor.trace import traced_run
from driftjudge.tables.errors import TableError
from driftjudge.tables.schema import ScoreTable

DEFAULT_ANCHORS = 200
"""The paper's k; a quarter of the table where that is less."""
TABLE_PASSES = 6
"""Baseline passes over a table that holds one score per anchor: it repeats itself, and saying so six times bounds how
often a judge like it departs from its usual score."""


@dataclass(frozen=True)
class Roles:
    """Which judge of the table plays which part."""

    cheap: str = "cheap"
    strong: str = "strong"
    human: str | None = "human"
    """None: there are no human labels, hence no anchors, and alarms stay unattributed."""
    strong_after: str | None = None
    """The judge that silently takes over at `change_at`: for trying out what a judge change would look like."""
    passes: tuple[str, ...] = ()
    """Judges of the table that are repeated time-0 scorings by the strong judge."""


@dataclass(frozen=True)
class Replay:
    """What a replay found."""

    table: str
    replica: bool
    verdict: Verdict
    evidence: Evidence
    trace: Trace
    change_at: int | None
    """Position at which `strong_after` took over, if any."""
    monitor: Monitor

    def to_json(self) -> dict[str, Any]:
        """The verdict and its support as one JSON-able mapping."""
        verdict, cost = self.verdict, self.evidence.cost
        return {
            "verdict": verdict.kind,
            "status": verdict.status,
            "explanation": verdict.explain(),
            "system_alarm_at": verdict.system_alarm_at,
            "judge_alarm_at": verdict.judge_alarm_at,
            "cells": [list(cell) for cell in verdict.cells],
            "rubrics": [list(rubric) for rubric in verdict.rubrics],
            "items": cost.items,
            "strong_calls": cost.strong_calls,
            "anchor_calls": cost.anchor_calls,
            "unscored": {"cheap": cost.cheap_unscored, "strong": cost.strong_unscored, "anchor": cost.anchor_unscored},
            "cost_fraction": cost.fraction,
            "promise": verdict.promise,
            "table": self.table,
            "replica": self.replica,
            "preset": self.evidence.config.preset,
            "change_at": self.change_at,
            "assumptions": list(self.evidence.assumptions),
        }


def replay(
    table: ScoreTable,
    config: MonitorConfig | None = None,
    *,
    roles: Roles | None = None,
    change_at: float | None = None,
    anchors: int | ScoreTable | None = None,
    calibration: float = 0.3,
    shuffle: bool = False,
    resample: int | None = None,
    low_bars: str = "skip",
    on_progress: Callable[[Trace], None] | None = None,
) -> Replay:
    """Run a scored table, in its order, through a Monitor.

    `anchors`: how many items with human labels to set aside, or a table of their own. `calibration`: share (below 1)
    or number of the remaining items, taken from the front, that show what healthy looks like. `change_at`: share or
    position of the stream at which `roles.strong_after` takes over. `shuffle` for tables whose order is not time;
    `resample` draws a stream of that length with replacement. All choices are keyed by `config.seed`.
    """
    roles = roles or Roles()
    config = config or MonitorConfig(rubrics=table.rubrics, strata=table.stratum_names)
    _check_names(table, config, roles)
    rng = np.random.default_rng(config.seed)
    order = rng.permutation(len(table)) if shuffle else np.arange(len(table))
    anchor_rows, rest = _set_aside(table, roles, anchors, order, rng)
    anchor_table = anchors if isinstance(anchors, ScoreTable) else table.take(anchor_rows)
    counted = calibration if calibration >= 1 else calibration * len(rest)
    healthy, stream = rest[: int(counted)], rest[int(counted) :]
    if len(healthy) == 0 or len(stream) == 0:
        raise TableError(
            f"{len(rest)} items are left after the anchors, of which {len(healthy)} would calibrate and {len(stream)} "
            f"be watched; give a longer table or other --calibration and --anchors"
        )
    if resample is not None:
        stream = rng.choice(stream, size=resample, replace=True)
    columns = _columns(table, config)
    monitor = Monitor(
        config,
        calibration=_calibration(table, config, roles, healthy, columns, low_bars),
        anchors=_anchor_set(anchor_table, config, roles, _columns(anchor_table, config))
        if len(anchor_table) and roles.human
        else None,
    )
    first_after = _position(change_at, len(stream), roles)
    block = _block(monitor, table, anchor_table, roles, stream, columns, first_after)
    trace = traced_run(monitor, block, on_progress=on_progress)
    evidence = monitor.evidence()
    return Replay(
        table.name, table.replica, monitor.verdict, _with_notes(evidence, roles, low_bars), trace, first_after, monitor
    )


def _check_names(table: ScoreTable, config: MonitorConfig, roles: Roles) -> None:
    for role, name in (
        ("cheap", roles.cheap),
        ("strong", roles.strong),
        ("human", roles.human),
        ("strong-after", roles.strong_after),
    ):
        if name is not None and name not in table.scores:
            known = ", ".join(table.judge_names)
            raise TableError(f"the table has no judge {name!r} for the {role} role; name one of {known} with --{role}")
    for name in roles.passes:
        table.judge(name)
    missing = [rubric for rubric in config.rubrics if rubric not in table.rubrics]
    if missing:
        raise TableError(f"the table has no rubric {missing[0]!r}; it has {', '.join(table.rubrics)}")
    unknown = sorted(set(table.strata) - set(config.strata))
    if unknown:
        raise TableError(f"the table has the stratum {unknown[0]!r}, which the config does not name; add it to strata")


def _set_aside(
    table: ScoreTable,
    roles: Roles,
    anchors: int | ScoreTable | None,
    order: NDArray[np.int64],
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows that become anchors, and the others in stream order."""
    if roles.human is None or anchors == 0:
        return np.empty(0, dtype=np.int64), order
    if isinstance(anchors, ScoreTable):
        used = set(anchors.ids)
        return np.empty(0, dtype=np.int64), np.array(
            [row for row in order if table.ids[row] not in used], dtype=np.int64
        )
    labelled = np.flatnonzero(~np.isnan(table.judge(roles.human)).any(axis=1))
    wanted = min(DEFAULT_ANCHORS, len(table) // 4) if anchors is None else anchors
    if wanted < 2 or wanted > len(labelled) or wanted >= len(table):
        raise TableError(
            f"{wanted} anchors were wanted but {len(labelled)} of {len(table)} items carry human labels on every "
            "rubric; "
            f"lower --anchors, label more items, or give --anchors 0 to go without attribution"
        )
    chosen = np.sort(rng.choice(labelled, size=wanted, replace=False))
    held_out = set(chosen.tolist())
    return chosen, np.array([row for row in order.tolist() if row not in held_out], dtype=np.int64)


def _columns(table: ScoreTable, config: MonitorConfig) -> list[int]:
    return [table.rubrics.index(rubric) for rubric in config.rubrics]


def _calibration(
    table: ScoreTable, config: MonitorConfig, roles: Roles, rows: NDArray[np.int64], columns: list[int], low_bars: str
) -> Calibration:
    strata = [table.strata[row] for row in rows]
    absent = sorted(set(config.strata) - set(strata))
    if absent:
        raise TableError(
            f"no calibration item belongs to the stratum {absent[0]!r}; calibrate on more items with --calibration, or "
            f"add --shuffle if the table's order is not time"
        )
    scores = table.judge(roles.strong)[rows][:, columns]
    ids = [table.ids[row] for row in rows]
    return Calibration.from_scores(strata, scores, config, ids=ids, low_bars="skip" if low_bars == "skip" else "refuse")


def _anchor_set(table: ScoreTable, config: MonitorConfig, roles: Roles, columns: list[int]) -> AnchorSet:
    assert roles.human is not None
    passes = [table.judge(name)[:, columns] for name in roles.passes]
    if not passes:
        repeats = 1 if config.baseline_share == 0.0 else TABLE_PASSES
        passes = [table.judge(roles.strong)[:, columns]] * repeats
    human = table.judge(roles.human)[:, columns]
    return AnchorSet(ids=table.ids, human=human, passes=passes)


def _position(change_at: float | None, length: int, roles: Roles) -> int | None:
    if roles.strong_after is None:
        if change_at is not None:
            raise TableError("--change-at needs --strong-after: name the judge that takes over")
        return None
    wanted = 0.5 if change_at is None else change_at
    position = int(wanted) if wanted >= 1 else int(wanted * length) + 1
    if not 1 <= position <= length:
        raise TableError(
            f"--change-at {wanted:g} lies outside the stream of {length} items; give a share or a position"
        )
    return position


def _block(
    monitor: Monitor,
    table: ScoreTable,
    anchor_table: ScoreTable,
    roles: Roles,
    stream: NDArray[np.int64],
    columns: list[int],
    first_after: int | None,
) -> Block:
    index = {name: t for t, name in enumerate(monitor.config.strata)}
    versions = np.zeros(len(stream), dtype=np.int64)
    strong = table.judge(roles.strong)[stream][:, columns]
    names = [roles.passes or (roles.strong,)]
    if roles.strong_after is not None and first_after is not None:
        versions[first_after - 1 :] = 1
        after = table.judge(roles.strong_after)[stream][:, columns]
        strong = np.where(versions[:, None] == 1, after, strong)
        names.append((roles.strong_after,) * len(names[0]))
    kept = monitor.baseline.kept if monitor.baseline is not None else np.empty(0, dtype=np.int64)
    rescored = np.array([[anchor_table.judge(name)[kept][:, columns] for name in repeats] for repeats in names])
    return Block(
        strata=np.array([index[table.strata[row]] for row in stream], dtype=np.int64),
        cheap=np.ascontiguousarray(table.judge(roles.cheap)[stream][:, columns]),
        strong=np.ascontiguousarray(strong),
        versions=versions,
        rescored=np.ascontiguousarray(rescored),
    )


def _with_notes(evidence: Evidence, roles: Roles, low_bars: str) -> Evidence:
    del low_bars
    if roles.human is None or roles.passes:
        return evidence
    note = (
        "The table holds one score per anchor, so its judge repeats itself exactly; a live judge is noisier and needs "
        "real baseline passes."
    )
    return replace(evidence, assumptions=(*evidence.assumptions, note))
