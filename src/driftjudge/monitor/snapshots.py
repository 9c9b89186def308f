"""A monitor's whole state as JSON-able values, and back. Floats survive JSON bit for bit; NaN is written as null."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor.anchors import AnchorSet
from driftjudge.monitor.calibration import Calibration
from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.correction import COUNT, lower_bars
from driftjudge.monitor.errors import MonitorError, SnapshotError
from driftjudge.monitor.evidence import Drop, Milestone
from driftjudge.monitor.layout import COMPONENTS, EVALUE, GROWN, WEALTH
from driftjudge.monitor.packing import pack, unpack
from driftjudge.monitor.queues import Draw, WaitingItem

if TYPE_CHECKING:
    from driftjudge.monitor.monitor import Monitor

FORMAT = 2

MAIN_STATE = ("cells", "strata")
ANCHOR_STATE = ("statistics", "progress", "shifts")
CORRECTION_STATE = ("lowered", "measured", "progress")


def take(monitor: Monitor) -> dict[str, Any]:
    """See `Monitor.snapshot`."""
    anchor = monitor._anchor
    state = {
        "format": FORMAT,
        "config": monitor.config.to_json(),
        "calibration": monitor.calibration.to_json(),
        "anchors": monitor.anchors.to_json() if monitor.anchors else None,
        "epoch": monitor.epoch,
        "clock": monitor._clock.tolist(),
        "main": {name: pack(getattr(monitor._main, name)) for name in MAIN_STATE},
        "anchor": {name: pack(getattr(anchor, name)) for name in ANCHOR_STATE} if anchor else None,
        "correction": _pack_correction(monitor),
        "items": [_pack_slots(item) for item in monitor._items],
        "draws": [_pack_slots(draw) for draw in monitor._draws],
        "seen_ids": list(monitor._seen_ids),
        "withdrawn": list(monitor._withdrawn),
        "story": [[m.position, m.kind, m.text] for m in monitor._story],
        "cells": [list(cell) for cell in monitor._cells],
        "rubrics": [list(rubric) for rubric in monitor._rubrics],
        "drops": [list(astuple(drop)) for drop in monitor._drops],
        "moved_strata": list(monitor._moved_strata),
        "dropped_too": [list(cell) for cell in monitor._dropped_too],
        "stopped": monitor._stopped,
        "stale": {anchor: count for anchor, count in monitor._stale.items() if count > 0},
    }
    return {**state, "checksum": checksum(state)}


def checksum(state: Mapping[str, Any]) -> str:
    """Of everything but itself: a snapshot that lost or changed a number on its way is refused."""
    body = {name: value for name, value in state.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def restore(cls: type[Monitor], state: Mapping[str, Any], config: MonitorConfig | None) -> Monitor:
    """See `Monitor.restore`."""
    if not _is_mapping(state) or "format" not in state:
        raise SnapshotError("this is not a monitor snapshot: it has no 'format'; pass what Monitor.snapshot() returned")
    if state["format"] != FORMAT:
        raise SnapshotError(
            f"the snapshot has format {state['format']!r} but this version reads {FORMAT}; restore it with the "
            "version that wrote it"
        )
    try:
        return _rebuild(cls, state, config)
    except SnapshotError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, MonitorError) as error:
        raise SnapshotError(
            f"the snapshot is damaged ({type(error).__name__}: {error}); take a new one, or fold the event log"
        ) from error


def _is_mapping(state: object) -> bool:
    """Callers pass what they read from a disk, whatever the annotation promises."""
    return isinstance(state, Mapping)


def _rebuild(cls: type[Monitor], state: Mapping[str, Any], config: MonitorConfig | None) -> Monitor:
    written = MonitorConfig.from_json(state["config"])
    if config is not None and config != written:
        wanted, found = config.to_json(), written.to_json()
        differing = next(name for name in wanted if wanted[name] != found[name])
        raise SnapshotError(
            f"the snapshot belongs to another config: {differing} is {found[differing]!r} there and "
            f"{wanted[differing]!r} here; restore it with its own config or start a new monitor"
        )
    if (state["anchors"] is None) != (state["anchor"] is None):
        raise SnapshotError("the snapshot is damaged: it holds anchors without their evidence, or the other way round")
    anchors = AnchorSet.from_json(state["anchors"]) if state["anchors"] is not None else None
    monitor = cls(written, calibration=Calibration.from_json(state["calibration"]), anchors=anchors)
    monitor.epoch = int(state["epoch"])
    _fill(monitor._clock, state["clock"], "clock")
    for name in MAIN_STATE:
        _fill(getattr(monitor._main, name), state["main"][name], name)
    if monitor._anchor is not None:
        for name in ANCHOR_STATE:
            _fill(getattr(monitor._anchor, name), state["anchor"][name], name)
    monitor._drops = tuple(_drop(drop, written) for drop in state["drops"])
    monitor._moved_strata = tuple(str(stratum) for stratum in state["moved_strata"])
    _restore_correction(monitor, state["correction"])
    monitor._dropped_too = tuple((str(r), str(s)) for r, s in state["dropped_too"])
    if not state["stopped"]:
        _check_evidence(monitor)
    for item in state["items"]:
        monitor._items.add(_waiting_item(item, written))
    for draw in state["draws"]:
        monitor._draws.add(_draw(draw, len(monitor._anchor_ids), len(written.rubrics)))
    for name, memory in (("seen_ids", monitor._seen_ids), ("withdrawn", monitor._withdrawn)):
        for known in state[name]:
            memory.add(str(known))
    monitor._story.extend(Milestone(int(p), str(k), str(t)) for p, k, t in state["story"])
    monitor._cells = tuple((str(r), str(s)) for r, s in state["cells"])
    monitor._rubrics = tuple((str(r), str(c)) for r, c in state["rubrics"])
    monitor._stopped = str(state["stopped"])
    monitor._stale.update({str(anchor): int(count) for anchor, count in state["stale"].items()})
    if state.get("checksum", checksum(state)) != checksum(state):
        raise SnapshotError("the snapshot is damaged: its checksum does not fit; take a new one, or fold the event log")
    monitor._verdict = monitor._read_verdict()
    return monitor


def _drop(packed: Sequence[Any], config: MonitorConfig) -> Drop:
    drop = Drop(*packed)
    if drop.rubric not in config.rubrics or drop.stratum not in config.strata:
        raise SnapshotError("the snapshot is damaged: it names a cell that the config does not have")
    return drop


def _pack_correction(monitor: Monitor) -> dict[str, Any] | None:
    correction, corrected = monitor._correction, monitor._corrected
    if correction is None or corrected is None:
        return None
    packed = {name: pack(getattr(correction, name)) for name in CORRECTION_STATE}
    packed["local"] = monitor._local
    packed["measured"] = pack(correction.measured[: int(correction.progress[COUNT])])
    return {**packed, **{name: pack(getattr(corrected, name)) for name in MAIN_STATE}}


def _restore_correction(monitor: Monitor, packed: Mapping[str, Any] | None) -> None:
    if packed is None:
        return
    if monitor._anchor is None:
        raise SnapshotError("the snapshot is damaged: it measures a judge that it has no anchors for")
    monitor._local = bool(packed["local"])
    monitor._install_correction()
    correction, corrected = monitor._correction, monitor._corrected
    assert correction is not None
    assert corrected is not None
    for name in ("lowered", "progress"):
        _fill(getattr(correction, name), packed[name], name)
    kept = correction.measured[: int(correction.progress[COUNT])]
    _fill(kept, packed["measured"] or np.empty(kept.shape), "measured")
    if not ((kept[:, 0] >= 0) & (kept[:, 0] < len(correction.usual))).all():
        raise SnapshotError("the snapshot is damaged: it measures the judge on an anchor that is not there")
    lower_bars(correction, corrected)
    for name in MAIN_STATE:
        _fill(getattr(corrected, name), packed[name], name)


def _fill(target: NDArray[Any], values: Any, name: str) -> None:
    array = unpack(values)
    if array.shape != target.shape:
        raise SnapshotError(
            f"the snapshot's {name} has the shape {array.shape} instead of {target.shape}; it is damaged or of another "
            f"config"
        )
    if target.dtype.kind == "i" and not (np.isfinite(array) & (array >= 0)).all():
        raise SnapshotError(f"the snapshot is damaged: its {name} holds a number that is no count")
    target[...] = array


def _check_evidence(monitor: Monitor) -> None:
    """Evidence is never negative, and only a cell that is not watched has no null."""
    main, anchor = monitor._main, monitor._anchor
    wealth = [main.cells[:, [WEALTH, *range(GROWN, main.cells.shape[1])]], main.strata]
    if anchor is not None:
        wealth += [anchor.statistics[:, [EVALUE, *range(COMPONENTS, anchor.statistics.shape[1])]], anchor.progress]
    if not all((np.isfinite(values) & (values >= 0.0)).all() for values in wealth):
        raise SnapshotError("the snapshot is damaged: its evidence holds a number below 0 or none at all")


def _pack_slots(record: WaitingItem | Draw) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in record.__slots__}
    return {name: pack(value) if isinstance(value, np.ndarray) else value for name, value in values.items()}


def _waiting_item(packed: Mapping[str, Any], config: MonitorConfig) -> WaitingItem:
    label = None if packed["label"] is None else unpack(packed["label"])
    item = WaitingItem(**{**packed, "cheap": unpack(packed["cheap"]), "label": label})
    rows = [item.cheap] if label is None else [item.cheap, label]
    fits = 0 <= item.stratum < len(config.strata) and 0.0 < item.pi <= 1.0
    if not fits or any(row.shape != (len(config.rubrics),) for row in rows):
        raise SnapshotError(f"the snapshot is damaged: its waiting item {item.id!r} does not fit the config")
    return item


def _draw(packed: Mapping[str, Any], anchors: int, rubrics: int) -> Draw:
    draw = Draw(**{**packed, "scores": None if packed["scores"] is None else unpack(packed["scores"])})
    if not 0 <= draw.anchor < anchors or (draw.scores is not None and draw.scores.shape != (rubrics,)):
        raise SnapshotError(f"the snapshot is damaged: its draw {draw.number} does not fit the anchors")
    return draw
