"""The verdict on scores you already have: a whole table through the Monitor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor import AnchorSet, Block, Calibration, Monitor, MonitorConfig, Verdict
from driftjudge.monitor.calibration import LowBars
from driftjudge.monitor.evidence import Evidence, Trace
from driftjudge.monitor.trace import traced_run
from driftjudge.tables.errors import TableError
from driftjudge.tables.schema import ScoreTable

DEFAULT_ANCHORS = 200
"""The paper's k; a quarter of the table where that is less."""
TABLE_PASSES = 6
"""Baseline passes over a table that stands in for the judge (`strong_after`): it repeats itself by construction."""


NO_RESCORES = (
    "The table holds no later re-scores of the anchors (--rescored), so the judge was not watched and an alarm cannot "
    "be attributed."
)
TABLE_REPEATS = (
    "A judge change is tried out on a table, whose judge repeats itself exactly; a live judge is noisier and needs "
    "real baseline passes."
)
ONE_PASS = (
    "The table holds one time-0 score per anchor, which does not show how noisy the judge is; name more with --passes "
    "to see smaller changes."
)


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
    """Judges of the anchors' table that are repeated time-0 scorings by the strong judge."""
    rescored: Mapping[str, int] = field(default_factory=dict)
    """Judges of the anchors' table that are later re-scorings by whatever the strong judge was then, each with the
    position of the stream from which it shows the judge in force."""

    @property
    def watch_judge(self) -> bool:
        """Whether anything shows how the judge scores the anchors later on."""
        return bool(self.rescored) or self.strong_after is not None


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
    watched: tuple[str, ...]
    """Ids of the items that were watched, in order: position 1 is the first."""
    split: tuple[int, int, int]
    """How many items became anchors, calibrated, and were watched."""
    monitor: Monitor

    def id_at(self, position: int | None) -> str | None:
        """The item at a position of the stream: where in one's own table an alarm rose."""
        return None if position is None else self.watched[position - 1]

    def to_json(self) -> dict[str, Any]:
        """The verdict and its support as one JSON-able mapping."""
        verdict, cost = self.verdict, self.evidence.cost
        return {
            "verdict": verdict.kind,
            "status": verdict.status,
            "explanation": verdict.explain(),
            "details": list(self.evidence.details),
            "system_alarm_at": verdict.system_alarm_at,
            "judge_alarm_at": verdict.judge_alarm_at,
            "system_alarm_id": self.id_at(verdict.system_alarm_at),
            "judge_alarm_id": self.id_at(verdict.judge_alarm_at),
            "anchors": self.split[0],
            "calibration_items": self.split[1],
            "cells": [list(cell) for cell in verdict.cells],
            "rubrics": [list(rubric) for rubric in verdict.rubrics],
            "judge_strata": list(verdict.strata),
            "system_during_judge": verdict.system_during_judge,
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
    low_bars: LowBars = "skip",
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
    _check_names(table, config, roles, anchors)
    rng = np.random.default_rng(config.seed)
    order = rng.permutation(len(table)) if shuffle else np.arange(len(table))
    anchor_table, rest = _set_aside(table, roles, anchors, order, calibration, shuffle, rng)
    healthy, stream = _split(rest, calibration)
    if resample is not None:
        stream = rng.choice(stream, size=resample, replace=True)
    monitor = Monitor(
        config,
        calibration=_calibration(table, config, roles, healthy, low_bars),
        anchors=_anchor_set(anchor_table, config, roles) if anchor_table is not None else None,
    )
    first_after = _position(change_at, len(stream), roles)
    block = _block(monitor, table, anchor_table, roles, stream, first_after)
    trace = traced_run(monitor, block, on_progress=on_progress)
    evidence = _with_notes(monitor.evidence(), roles)
    watched = tuple(table.ids[row] for row in stream)
    split = (0 if anchor_table is None else len(anchor_table), len(healthy), len(stream))
    return Replay(table.name, table.replica, monitor.verdict, evidence, trace, first_after, watched, split, monitor)


def _check_names(table: ScoreTable, config: MonitorConfig, roles: Roles, anchors: object) -> None:
    labelled = anchors if isinstance(anchors, ScoreTable) else table
    wanted = [
        (table, "cheap", roles.cheap),
        (table, "strong", roles.strong),
        (table, "strong-after", roles.strong_after),
    ]
    wanted += [(labelled, "human", roles.human), *((labelled, "passes", name) for name in roles.passes)]
    wanted += [(labelled, "rescored", name) for name in roles.rescored]
    for where, role, name in wanted:
        if name is not None and name not in where.scores:
            known = ", ".join(where.judge_names)
            without = ', or give --human "" to go without anchors' if role == "human" else ""
            raise TableError(
                f"{where.name} has no judge {name!r} for the {role} role; name one of {known} with --{role}{without}"
            )
    own = isinstance(anchors, ScoreTable) and roles.watch_judge
    if own and not roles.passes and roles.strong not in labelled.scores:
        raise TableError(f"{labelled.name} has no time-0 scores of the strong judge; name its columns with --passes")
    if roles.cheap == roles.strong:
        raise TableError(
            f"{roles.cheap!r} plays both the cheap and the strong judge; name two with --cheap and --strong"
        )
    if roles.strong_after is not None and roles.rescored:
        raise TableError("--strong-after tries a judge change out, --rescored reports real ones; give one of the two")
    missing = [rubric for rubric in config.rubrics if rubric not in table.rubrics or rubric not in labelled.rubrics]
    if missing:
        raise TableError(f"{table.name} has no rubric {missing[0]!r}; it has {', '.join(table.rubrics)}")
    unknown = sorted(set(table.strata) - set(config.strata))
    if unknown:
        raise TableError(
            f"{table.name} has the stratum {unknown[0]!r}, which the config does not name; add it to strata"
        )


def _set_aside(
    table: ScoreTable,
    roles: Roles,
    anchors: int | ScoreTable | None,
    order: NDArray[np.int64],
    calibration: float,
    shuffle: bool,
    rng: np.random.Generator,
) -> tuple[ScoreTable | None, NDArray[np.int64]]:
    """The anchors, and the other rows in stream order.

    Without later re-scores there is nothing to watch the judge by: a stored score would only repeat itself, and every
    alarm would be charged to the system. Time-0 scores must be early ones, so anchors come from the front of the table
    unless its order is not time or their passes are given.
    """
    if roles.human is None or anchors == 0 or not roles.watch_judge:
        return None, order
    if isinstance(anchors, ScoreTable):
        held_out = set(anchors.ids)
        return anchors, np.array([row for row in order.tolist() if table.ids[row] not in held_out], dtype=np.int64)
    labelled = np.flatnonzero(~np.isnan(table.judge(roles.human)).any(axis=1))
    wanted = min(DEFAULT_ANCHORS, len(table) // 4) if anchors is None else anchors
    if wanted < 2:
        raise TableError(f"--anchors is {wanted}; give at least 2 (the paper uses 200), or 0 to go without attribution")
    if not shuffle and not roles.passes:
        early = wanted + (calibration if calibration >= 1 else calibration * (len(table) - wanted))
        labelled = labelled[labelled < early]
    if wanted > len(labelled) or wanted >= len(table):
        raise TableError(
            f"{wanted} anchors were wanted but {len(labelled)} of the items that may serve carry human labels on every "
            f"rubric (early ones, unless --passes or --shuffle is given); lower --anchors or label more"
        )
    chosen = set(rng.choice(labelled, size=wanted, replace=False).tolist())
    others = np.array([row for row in order.tolist() if row not in chosen], dtype=np.int64)
    return table.take(sorted(chosen)), others


def _split(rest: NDArray[np.int64], calibration: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows to calibrate on, from the front, and rows to watch."""
    if not calibration > 0:
        raise TableError(f"--calibration is {calibration:g}; give a share below 1 or a number of items")
    count = int(calibration if calibration >= 1 else calibration * len(rest))
    if not 0 < count < len(rest):
        raise TableError(
            f"{len(rest)} items are left after the anchors, of which {count} would calibrate and the rest be watched; "
            f"give a longer table or other --calibration and --anchors"
        )
    return rest[:count], rest[count:]


def _scores(table: ScoreTable, judge: str, config: MonitorConfig) -> NDArray[np.float64]:
    """A judge's scores with the rubrics in the config's order."""
    return np.ascontiguousarray(table.judge(judge)[:, [table.rubrics.index(rubric) for rubric in config.rubrics]])


def _calibration(
    table: ScoreTable, config: MonitorConfig, roles: Roles, rows: NDArray[np.int64], low_bars: LowBars
) -> Calibration:
    strata = [table.strata[row] for row in rows]
    absent = sorted(set(config.strata) - set(strata))
    if absent:
        raise TableError(
            f"no calibration item belongs to the stratum {absent[0]!r}; calibrate on more items with --calibration, or "
            f"add --shuffle if the table's order is not time"
        )
    ids = [table.ids[row] for row in rows]
    scores = _scores(table, roles.strong, config)[rows]
    return Calibration.from_scores(strata, scores, config, ids=ids, low_bars=low_bars)


def _anchor_set(table: ScoreTable, config: MonitorConfig, roles: Roles) -> AnchorSet:
    assert roles.human is not None
    passes = [_scores(table, name, config) for name in roles.passes]
    if not passes:
        # Only a table that answers for the judge by construction repeats itself; a logged judge was asked once.
        repeats = TABLE_PASSES if roles.strong_after is not None and config.baseline_share > 0.0 else 1
        passes = [_scores(table, roles.strong, config)] * repeats
    placed = set(table.strata) <= set(config.strata)  # a table of anchors alone may not say where they belong
    strata = list(table.strata) if placed and len(config.strata) > 1 else None
    return AnchorSet(ids=table.ids, human=_scores(table, roles.human, config), passes=passes, strata=strata)


def _position(change_at: float | None, length: int, roles: Roles) -> int | None:
    for name, position in roles.rescored.items():
        if not 1 <= position <= length:
            raise TableError(f"--rescored {name}@{position} lies outside the stream of {length} items")
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
    anchor_table: ScoreTable | None,
    roles: Roles,
    stream: NDArray[np.int64],
    first_after: int | None,
) -> Block:
    config = monitor.config
    index = {name: t for t, name in enumerate(config.strata)}
    versions = np.zeros(len(stream), dtype=np.int64)
    strong = _scores(table, roles.strong, config)[stream]
    judges = [roles.passes or (roles.strong,)]
    later = dict(roles.rescored)
    if roles.strong_after is not None and first_after is not None:
        strong[first_after - 1 :] = _scores(table, roles.strong_after, config)[stream][first_after - 1 :]
        later = {roles.strong_after: first_after}
    for version, (name, position) in enumerate(sorted(later.items(), key=lambda entry: entry[1]), start=1):
        versions[position - 1 :] = version
        judges.append((name,) * len(judges[0]))
    rescored = np.empty((len(judges), 1, 0, len(config.rubrics)))
    if anchor_table is not None and monitor.baseline is not None:
        kept = monitor.baseline.kept
        rescored = np.array([[_scores(anchor_table, name, config)[kept] for name in names] for names in judges])
    return Block(
        strata=np.array([index[table.strata[row]] for row in stream], dtype=np.int64),
        cheap=_scores(table, roles.cheap, config)[stream],
        strong=strong,
        versions=versions,
        rescored=rescored,
    )


def _with_notes(evidence: Evidence, roles: Roles) -> Evidence:
    if roles.passes and roles.watch_judge:
        return evidence
    watched = TABLE_REPEATS if roles.strong_after is not None else ONE_PASS
    note = watched if roles.watch_judge else NO_RESCORES
    return replace(evidence, assumptions=(*evidence.assumptions, note))
