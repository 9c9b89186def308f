"""Commands that lay a monitor's foundation, or a new one: anchors, calibration, re-anchoring.

Where scores are missing the judges make them first; their answers are kept one by one, so that a restart pays for none
of them again, and with the last answer the monitor starts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from driftjudge.judges.protocol import Usage
from driftjudge.monitor import AnchorSet, Calibration, Monitor
from driftjudge.monitor.errors import MonitorError
from driftjudge.monitor.events import Reanchored
from driftjudge.monitor.scores import Failure, score_matrix
from driftjudge.service import alarms
from driftjudge.service.batch import Batch
from driftjudge.service.checks import checked_id, checked_scores, checked_texts, scores_to_json
from driftjudge.service.errors import BadRequestError, ConflictError
from driftjudge.service.host import Host
from driftjudge.service.stream import begin_epoch, needs_running
from driftjudge.service.values import MOST_ANCHORS, MOST_CALIBRATION, AnchorIn, CalibrationIn, ScoresIn
from driftjudge.store import payloads, registry, setup_calls
from driftjudge.store.log import found
from driftjudge.store.setup_calls import SetupCall

Passes = Sequence[Sequence[Sequence[float | None]]]
MOST_BASELINE_CALLS = 200_000


def set_anchors(
    tx: Connection, host: Host, batch: Batch, given: Sequence[AnchorIn], passes: Passes, resolution: float | None
) -> None:
    """Upload a set; it can be replaced until it is frozen."""
    _not_archived(host)
    draft = registry.anchors_draft(tx, host.id)
    if draft is not None and draft["frozen"]:
        raise ConflictError("the uploaded anchors are frozen: items and labels cannot be changed any more")
    if not 2 <= len(given) <= MOST_ANCHORS:
        raise BadRequestError(f"{len(given)} anchors; give from 2 to {MOST_ANCHORS}")
    for anchor in given:
        checked_id(anchor.id, "an anchor")
        if anchor.texts is not None:
            checked_texts(anchor.texts, f"anchor {anchor.id!r}")
    human = score_matrix([list(anchor.human) for anchor in given], len(host.config.rubrics), "human labels")
    ids = [anchor.id for anchor in given]
    strata = _strata(host, given)
    # Made once here so that everything an anchor set refuses is refused before it is stored.
    AnchorSet(ids=ids, human=human, passes=_numbers(passes) if passes else human, resolution=resolution, strata=strata)
    textless = next((anchor.id for anchor in given if anchor.texts is None), None)
    if not passes and (textless is not None or host.settings.judging.strong is None):
        raise BadRequestError(
            f"anchor {textless!r} has no texts and there are no passes; send the strong judge's scores as passes"
            if textless is not None
            else "there are no passes and no strong judge is configured; send its scores as passes, or configure one"
        )
    batch.touch(host)
    body = {"ids": ids, "human": human.tolist(), "passes": [*passes], "resolution": resolution, "frozen": None}
    body["strata"] = strata
    registry.change(tx, host.id, anchors_draft=body)
    payloads.drop(tx, host.id, "next_anchor")
    texts = [(anchor.id, anchor.texts) for anchor in given if anchor.texts is not None]
    payloads.add(tx, [payloads.row_of(host.id, "next_anchor", i, "", t, needed=True, at=batch.at) for i, t in texts])
    if host.monitor is None:
        host.summary.update(anchors=len(ids), frozen=None)


def freeze_anchors(tx: Connection, host: Host, batch: Batch) -> None:
    """Items and labels stay as they are from here on; asking twice changes nothing."""
    _not_archived(host)
    draft = registry.anchors_draft(tx, host.id)
    if draft is None:
        raise ConflictError(f"monitor {host.name!r} has no uploaded anchors to freeze; upload a set first")
    if draft["frozen"]:
        return
    batch.touch(host)
    draft["frozen"] = AnchorSet(
        ids=draft["ids"], human=draft["human"], passes=draft["human"], strata=draft.get("strata")
    ).freeze_hash
    registry.change(tx, host.id, anchors_draft=draft)
    if host.monitor is None:
        host.summary["frozen"] = draft["frozen"]


def calibrate(
    tx: Connection, host: Host, batch: Batch, given: Sequence[CalibrationIn], *, skip_low_bars: bool, by: str
) -> None:
    """Start a draft, at once or when the judges are done."""
    if host.state != "draft":
        raise ConflictError(
            f"monitor {host.name!r} is {host.state}: it is calibrated once; new bars come with acknowledge or reanchor"
        )
    draft = registry.anchors_draft(tx, host.id)
    if draft is not None and not draft["frozen"]:
        raise ConflictError("the uploaded anchors are not frozen; freeze them before calibrating")
    _begin(tx, host, batch, given, draft, {"purpose": "start", "skip_low_bars": skip_low_bars, "by": by})


def reanchor(
    tx: Connection, host: Host, batch: Batch, given: Sequence[CalibrationIn], *, skip_low_bars: bool, by: str
) -> None:
    """Accept the current judge with the set uploaded since, or with the same anchors scored anew."""
    needs_running(host)
    assert host.monitor is not None
    if "setup" in host.summary:
        raise ConflictError(f"monitor {host.name!r} is being re-anchored already; wait for it")
    draft = registry.anchors_draft(tx, host.id)
    if draft is None:
        current = host.monitor.anchors
        if current is None:
            raise ConflictError("there are no anchors to score anew; upload a set first")
        if host.settings.judging.strong is None:
            raise ConflictError("no strong judge is configured; upload the anchors with its passes, then re-anchor")
        body = {"ids": list(current.ids), "human": current.human.tolist(), "passes": []}
        draft = {**body, "resolution": current.resolution, "frozen": current.freeze_hash, "strata": current.strata}
        texts = payloads.get(tx, host.id, "anchor", current.ids)
        if len(texts) < len(current):
            raise ConflictError("the anchors were uploaded without texts; upload them with the judge's new passes")
        # Checked before anything is written: a request that is refused must leave no frozen draft behind.
        _calibration_calls(host, given)
        _baseline_calls(host, draft)
        registry.change(tx, host.id, anchors_draft=draft)
        rows = [
            payloads.row_of(host.id, "next_anchor", i, "", one.fields, needed=True, at=batch.at)
            for i, one in texts.items()
        ]
        payloads.drop(tx, host.id, "next_anchor")
        payloads.add(tx, rows)
    _begin(tx, host, batch, given, draft, {"purpose": "reanchor", "skip_low_bars": skip_low_bars, "by": by})


def _begin(
    tx: Connection, host: Host, batch: Batch, given: Sequence[CalibrationIn], draft: dict[str, Any] | None,
    setup: dict[str, Any],
) -> None:  # fmt: skip
    calls = _calibration_calls(host, given) + _baseline_calls(host, draft)
    missing = [call for call in calls if call.scores is None]
    if missing and host.settings.judging.strong is None:
        raise BadRequestError(
            f"{missing[0].role} item {missing[0].subject!r} has no scores and monitor {host.name!r} has no strong "
            "judge; send scores, or configure one"
        )
    if not missing:
        _finish(tx, host, batch, calls, draft, setup)
        return
    batch.touch(host)
    texts = [(one.id, one.stratum, one.texts) for one in given if one.scores is None and one.texts is not None]
    payloads.drop(tx, host.id, "calibration")
    payloads.add(tx, [payloads.row_of(host.id, "calibration", i, s, t, needed=True, at=batch.at) for i, s, t in texts])
    setup_calls.clear(tx, host.id)
    setup_calls.add(tx, host.id, calls)
    host.summary["setup"] = setup
    host.summary.pop("setup_error", None)
    if host.state == "draft":
        host.state = "scoring"


def _calibration_calls(host: Host, given: Sequence[CalibrationIn]) -> list[SetupCall]:
    if not 1 <= len(given) <= MOST_CALIBRATION:
        raise BadRequestError(f"{len(given)} calibration items; give from 1 to {MOST_CALIBRATION}")
    calls = []
    for place, one in enumerate(given):
        checked_id(one.id, "a calibration item")
        if one.stratum not in host.config.strata:
            raise BadRequestError(f"calibration item {one.id!r} has the unknown stratum {one.stratum[:80]!r}")
        scores = None
        if one.scores is not None:
            checked = checked_scores(one.scores, host.config.rubrics, "calibration scores of item", one.id)
            scores = scores_to_json(checked)
        elif one.texts is None:
            raise BadRequestError(f"calibration item {one.id!r} has neither scores nor texts; send one of them")
        else:
            checked_texts(one.texts, f"calibration item {one.id!r}")
        calls.append(SetupCall("calibration", 0, place, one.id, one.stratum, scores))
    if len({one.id for one in given}) != len(given):
        raise BadRequestError("a calibration item stands twice; give every item once")
    return calls


def _baseline_calls(host: Host, draft: dict[str, Any] | None) -> list[SetupCall]:
    if draft is None or draft["passes"]:
        return []
    passes = host.settings.judging.passes
    if passes * len(draft["ids"]) > MOST_BASELINE_CALLS:
        raise BadRequestError(
            f"{passes} passes over {len(draft['ids'])} anchors are more than {MOST_BASELINE_CALLS} calls; take fewer"
        )
    return [
        SetupCall("baseline", number, place, anchor, "", None)
        for number in range(passes)
        for place, anchor in enumerate(draft["ids"])
    ]


def record(
    tx: Connection, host: Host, batch: Batch, call: SetupCall, scores: ScoresIn, fingerprint: str, usage: Usage | None
) -> None:
    """An answer of the judge; with the last one the monitor starts, or says why it cannot."""
    if "setup" not in host.summary:
        return
    scores = checked_scores(scores, host.config.rubrics, f"{call.role} scores of", call.subject)
    if not setup_calls.record(tx, host.id, call, scores_to_json(scores)):
        return
    batch.touch(host)
    batch.spend(host, call.role, fingerprint, usage, unscored=isinstance(scores, Failure))
    done, wanted = setup_calls.progress(tx, host.id)
    if done < wanted:
        return
    setup, draft = host.summary["setup"], registry.anchors_draft(tx, host.id)
    try:
        _finish(tx, host, batch, setup_calls.everything(tx, host.id), draft, setup)
    except (MonitorError, ConflictError) as error:
        host.summary["setup_error"] = str(error)
        host.state = "draft" if host.monitor is None else host.state
    host.summary.pop("setup")
    setup_calls.clear(tx, host.id)
    payloads.drop(tx, host.id, "calibration")


def _finish(
    tx: Connection, host: Host, batch: Batch, calls: Sequence[SetupCall], draft: dict[str, Any] | None,
    setup: dict[str, Any],
) -> None:  # fmt: skip
    calibration = bars(host, [call for call in calls if call.role == "calibration"], setup["skip_low_bars"])
    anchors = None if draft is None else _anchor_set(host, draft, [call for call in calls if call.role == "baseline"])
    if setup["purpose"] == "start":
        monitor = Monitor(host.config, calibration=calibration, anchors=anchors)
        batch.touch(host)
        found(tx, host.id, host.config, calibration, anchors)
        host.monitor, host.state, host.last_item_at = monitor, "running", batch.at
        host.start()
    else:
        assert anchors is not None
        assert host.monitor is not None
        event, outstanding = Reanchored(anchors, calibration), host.monitor.pending_items
        host.monitor.apply(event)
        batch.touch(host)
        host.new_events.append((event, ""))
        host.forget_rescored()
        alarms.close_all(tx, host, batch, note="re-anchored: the current judge is accepted", by=setup["by"])
        host.told = host.monitor.verdict
        begin_epoch(tx, host, batch, outstanding)
    if draft is not None:
        registry.change(tx, host.id, anchors_draft=None)
        payloads.drop(tx, host.id, "anchor")
        payloads.rename(tx, host.id, "next_anchor", "anchor")


def bars(host: Host, calls: Sequence[SetupCall], skip_low_bars: bool) -> Calibration:
    """Bars of calibration items; a failure leaves its item unscored."""
    rubrics = len(host.config.rubrics)
    rows = [call.scores if isinstance(call.scores, list) else [math.nan] * rubrics for call in calls]
    strata, ids = [call.stratum for call in calls], [call.subject for call in calls]
    low = "skip" if skip_low_bars else "refuse"
    return Calibration.from_scores(strata, rows, host.config, ids=ids, low_bars=low)  # type: ignore[arg-type]


def calibration_of(host: Host, given: Sequence[CalibrationIn], skip_low_bars: bool = False) -> Calibration:
    """Bars of items whose scores are all there."""
    calls = _calibration_calls(host, given)
    missing = next((call.subject for call in calls if call.scores is None), None)
    if missing is not None:
        raise BadRequestError(f"calibration item {missing!r} has no scores; send them with it")
    return bars(host, calls, skip_low_bars)


def _anchor_set(host: Host, draft: dict[str, Any], calls: Sequence[SetupCall]) -> AnchorSet:
    passes = _numbers(draft["passes"])
    if calls:
        rubrics, anchors = len(host.config.rubrics), len(draft["ids"])
        rows = [call.scores if isinstance(call.scores, list) else [math.nan] * rubrics for call in calls]
        passes = [rows[start : start + anchors] for start in range(0, len(rows), anchors)]
    return AnchorSet(
        ids=draft["ids"],
        human=draft["human"],
        passes=passes,
        resolution=draft["resolution"],
        strata=draft.get("strata"),
    )


def _strata(host: Host, given: Sequence[AnchorIn]) -> list[str] | None:
    """The anchors' strata, where all of them have one the monitor knows."""
    named = [anchor.stratum for anchor in given if anchor.stratum is not None]
    if not named:
        return None
    if len(named) < len(given):
        without = next(anchor.id for anchor in given if anchor.stratum is None)
        raise BadRequestError(
            f"anchor {without!r} has no stratum and others have; name one for all anchors or for none"
        )
    for anchor in given:
        if anchor.stratum not in host.config.strata:
            raise BadRequestError(
                f"anchor {anchor.id!r} has the unknown stratum {anchor.stratum!r}; the monitor has "
                f"{', '.join(map(repr, host.config.strata[:8]))}"
            )
    return named


def _numbers(passes: Passes) -> list[list[list[float]]]:
    return [[[math.nan if x is None else float(x) for x in row] for row in one] for one in passes]


def _not_archived(host: Host) -> None:
    if host.state in ("archived", "scoring"):
        raise ConflictError(f"monitor {host.name!r} is {host.state}: its anchors cannot be changed now")
