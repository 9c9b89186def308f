"""Commands of the stream: items, strong scores, re-scores. Each is checked whole before anything is applied."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from sqlalchemy import Connection

from driftjudge.judges.protocol import Usage
from driftjudge.monitor.errors import UnaskedError, UnknownStratumError
from driftjudge.monitor.scores import Failure
from driftjudge.service import alarms
from driftjudge.service.batch import Batch
from driftjudge.service.checks import checked_scores, hash_of, item_hash, scores_from_json, scores_to_json
from driftjudge.service.errors import BackPressureError, BadRequestError, ConflictError
from driftjudge.service.host import Host, Line
from driftjudge.service.values import AnchorScoreIn, ItemIn, ItemOut, Recorded, ScoresIn, StrongIn
from driftjudge.store import conditions, idempotency, items, payloads
from driftjudge.store.items import Accepted

BEHIND_SECONDS = 5.0
"""When to come back while the judges are behind."""


def ingest(tx: Connection, host: Host, batch: Batch, given: Sequence[ItemIn], max_waiting: int) -> tuple[ItemOut, ...]:
    """Take in items, all or none, in order. Those that were accepted before get the answer they got then."""
    needs_running(host)
    hashes = {item.id: item_hash(item) for item in given}
    known = {item.id: host.fresh[item.id] for item in given if item.id in host.fresh}
    known |= items.known(tx, host.id, [item.id for item in given if item.id not in known])
    for item_id, before in known.items():
        if before.body_hash != hashes[item_id]:
            raise ConflictError(
                f"item {item_id!r} was accepted before with another body; give every item an id of its own"
            )
    new = [item for item in given if item.id not in known]
    ready = [_checked(host, item) for item in new]
    _check_room(host, new, max_waiting)
    made = dict(known)
    for item, (cheap, strong) in zip(new, ready, strict=True):
        made[item.id] = _accept(host, batch, item, cheap, strong, hashes[item.id])
    if new:
        host.last_item_at = batch.at
        if "no_data" in host.open_conditions:
            close_condition(tx, host, batch, "no_data", "items arrive again")
        alarms.tell(tx, host, batch)
    return tuple(_answer(made[item.id], item.id in known) for item in given)


def needs_running(host: Host) -> None:
    """Refuse what only a running monitor can take."""
    if host.state != "running":
        todo = {"draft": "calibrate it first", "scoring": "the judges still score what it starts from"}
        raise ConflictError(f"monitor {host.name!r} is {host.state}: {todo.get(host.state, 'it takes nothing more')}")


def _checked(host: Host, item: ItemIn) -> tuple[ScoresIn | None, ScoresIn | None]:
    if item.stratum not in host.config.strata:
        raise UnknownStratumError(
            f"item {item.id!r} has the unknown stratum {item.stratum[:80]!r}; the config has "
            f"{', '.join(map(repr, host.config.strata[:8]))}"
        )
    if item.cheap is None and host.settings.judging.cheap is None:
        raise BadRequestError(
            f"item {item.id!r} comes without cheap scores and monitor {host.name!r} has no cheap judge; send scores, "
            "or configure one"
        )
    rubrics = host.config.rubrics
    cheap = None if item.cheap is None else checked_scores(item.cheap, rubrics, "cheap scores of item", item.id)
    strong = None if item.strong is None else checked_scores(item.strong, rubrics, "strong scores of item", item.id)
    return cheap, strong


def _check_room(host: Host, new: Sequence[ItemIn], max_waiting: int) -> None:
    assert host.monitor is not None
    raw = sum(item.cheap is None for item in new)
    if raw and len(host.line) + raw > max_waiting:
        raise BackPressureError(
            f"{len(host.line)} items of {host.name!r} wait for the cheap judge; come back in a while", BEHIND_SECONDS
        )
    # The monitor refuses an item when its line is full; whoever is let in here must fit whole.
    scored = len(new) - raw
    if scored and host.monitor.waiting + scored > host.config.max_pending:
        raise BackPressureError(
            f"{host.monitor.waiting} items of {host.name!r} wait for strong scores and {host.config.max_pending} may; "
            "record scores or failures for the oldest, or wait for the judge",
            BEHIND_SECONDS,
        )


def _accept(
    host: Host, batch: Batch, item: ItemIn, cheap: ScoresIn | None, strong: ScoresIn | None, body_hash: bytes
) -> Accepted:
    host.accepted += 1
    number = host.accepted
    if cheap is None:
        batch.touch(host)
        host.line.append(Line(item.id, item.stratum, number))
        accepted = Accepted(item.id, number, body_hash, item.stratum, None, None, (), None, None)
        needed = True
    else:
        position, ask = host.observe(batch, item.id, item.stratum, cheap, "")
        strong_hash = None
        if ask.strong and strong is not None:
            host.strong(batch, item.id, strong, "", None)
            strong_hash = hash_of(scores_to_json(strong))
        asked, anchors = ask.strong, ask.anchors
        accepted = Accepted(item.id, number, body_hash, item.stratum, position, asked, anchors, None, strong_hash)
        needed = asked and strong_hash is None
        batch.spend(host, "cheap", "", None, unscored=isinstance(cheap, Failure))
    batch.items.append(items.row_of(host.id, accepted))
    host.fresh[item.id] = accepted
    if item.texts is not None:
        batch.payloads.append(
            payloads.row_of(host.id, "item", item.id, item.stratum, item.texts, needed=needed, at=batch.at)
        )
    return accepted


def _answer(item: Accepted, duplicate: bool) -> ItemOut:
    return ItemOut(item.item_id, item.number, item.position, item.asked, item.anchors, duplicate)


def record_cheap(
    tx: Connection, host: Host, batch: Batch, item_id: str, scores: ScoresIn, fingerprint: str, usage: Usage | None
) -> None:
    """The cheap judge's answer: kept, and observed as soon as no older item waits. The same again changes nothing."""
    if host.state != "running" or item_id in host.answers or all(line.item_id != item_id for line in host.line):
        return
    assert host.monitor is not None
    scores = checked_scores(scores, host.config.rubrics, "cheap scores of item", item_id)
    batch.touch(host)
    batch.spend(host, "cheap", fingerprint, usage, unscored=isinstance(scores, Failure))
    answer = {"scores": scores_to_json(scores), "fingerprint": fingerprint}
    host.answers[item_id] = answer
    drained = drain(host, batch)
    if item_id not in drained:
        batch.cheap.append((host.id, item_id, answer))
    if drained:
        alarms.tell(tx, host, batch)


def drain(host: Host, batch: Batch) -> set[str]:
    """Observe the items at the head of the line whose cheap scores are in, as far as the monitor has room."""
    assert host.monitor is not None
    drained: set[str] = set()
    while host.line and host.line[0].item_id in host.answers and host.monitor.waiting < host.config.max_pending:
        first = host.line.popleft()
        kept = host.answers.pop(first.item_id)
        cheap = scores_from_json(kept["scores"])
        position, ask = host.observe(batch, first.item_id, first.stratum, cheap, kept["fingerprint"])
        batch.placed.append(items.place_row(host.id, first.item_id, position, ask.strong, ask.anchors))
        if not ask.strong:
            batch.released.append((host.id, first.item_id))
        drained.add(first.item_id)
    return drained


def record_strong(tx: Connection, host: Host, batch: Batch, given: Sequence[StrongIn], usage: Usage | None) -> Recorded:
    """Strong scores, all or none; those that were recorded before count once."""
    needs_running(host)
    assert host.monitor is not None
    monitor = host.monitor
    # What is still wanted has no scores yet: only the others are looked up.
    unclear = [one.item_id for one in given if not monitor.awaits(one.item_id)]
    before = items.known(tx, host.id, unclear) if unclear else {}
    new: list[tuple[StrongIn, ScoresIn, bytes]] = []
    for one in given:
        scores = checked_scores(one.scores, host.config.rubrics, "strong scores of item", one.item_id)
        mark = hash_of(scores_to_json(scores))
        marked = host.marked.get(one.item_id)
        if marked is None and one.item_id in before:
            marked = before[one.item_id].strong_hash
        if marked is None and one.item_id in host.fresh:
            marked = host.fresh[one.item_id].strong_hash
        if marked is not None:
            if marked != mark:
                raise ConflictError(f"item {one.item_id!r} has other strong scores already; the first ones stay")
            continue
        if len(given) > 1 and not (monitor.awaits(one.item_id) or monitor.ignores(one.item_id)):
            raise UnaskedError(f"nobody asked for a strong score of {one.item_id[:80]!r}; see which ones are wanted")
        new.append((one, scores, mark))
    for one, scores, mark in new:
        host.strong(batch, one.item_id, scores, one.fingerprint, usage)
        batch.strong.append((host.id, one.item_id, mark))
        batch.released.append((host.id, one.item_id))
        host.marked[one.item_id] = mark
    if new:
        drain(host, batch)
        alarms.tell(tx, host, batch)
    return _recorded(host, len(new), len(given) - len(new))


def record_anchors(
    tx: Connection, host: Host, batch: Batch, given: Sequence[AnchorScoreIn], usage: Usage | None
) -> Recorded:
    """Re-scores of anchors, all or none; an answer id is taken once."""
    needs_running(host)
    assert host.monitor is not None
    scope = f"answer:{host.id}"
    new: list[tuple[AnchorScoreIn, ScoresIn]] = []
    given_now: dict[str, str] = {}
    taken: set[str] = set()
    for one in given:
        scores = checked_scores(one.scores, host.config.rubrics, "re-score of anchor", one.anchor_id)
        if one.answer_id is not None:
            body = _answer_body(one, scores)
            if given_now.setdefault(one.answer_id, body) != body:
                raise ConflictError(f"the answer id {one.answer_id[:80]!r} stands for two answers; give each its own")
            if idempotency.answer(tx, scope, one.answer_id, body) or one.answer_id in taken:
                continue
            taken.add(one.answer_id)
        new.append((one, scores))
    _check_asked(host, [one.anchor_id for one, _ in new])
    for one, scores in new:
        host.anchor(batch, one.anchor_id, scores, one.fingerprint, usage)
        if one.answer_id is not None:
            idempotency.keep(tx, scope, one.answer_id, _answer_body(one, scores), True, at=batch.at)
    if new:
        alarms.tell(tx, host, batch)
    return _recorded(host, len(new), len(given) - len(new))


def _answer_body(one: AnchorScoreIn, scores: ScoresIn) -> str:
    return hash_of([one.anchor_id, scores_to_json(scores)]).hex()


def _check_asked(host: Host, anchors: Sequence[str]) -> None:
    """The monitor says no by itself; asked before, so that a request is taken whole or not at all."""
    assert host.monitor is not None
    if len(anchors) < 2:
        return
    left: dict[str, int] = {}
    for anchor in host.monitor.pending_anchors:
        left[anchor] = left.get(anchor, 0) + 1
    for anchor in anchors:
        left[anchor] = left.get(anchor, 0) - 1
        if left[anchor] < 0:
            raise UnaskedError(f"nobody asked for this many re-scores of anchor {anchor[:80]!r}; see which are wanted")


def _recorded(host: Host, taken: int, duplicates: int) -> Recorded:
    assert host.monitor is not None
    return Recorded(taken, duplicates, host.monitor.verdict, host.monitor.pending_anchors)


def begin_epoch(tx: Connection, host: Host, batch: Batch, outstanding: Sequence[str]) -> None:
    """After a step that ended an epoch: the strong judge will not be asked for what was outstanding any more, so those

    texts may go when they are old; and items that waited for room in the monitor have it now.
    """
    assert host.monitor is not None
    batch.released += [(host.id, item_id) for item_id in outstanding if not host.monitor.awaits(item_id)]
    if drain(host, batch):
        alarms.tell(tx, host, batch)


def open_condition(tx: Connection, host: Host, batch: Batch, kind: str, detail: str) -> None:
    """Something keeps the monitor from seeing; told once."""
    if kind not in host.open_conditions and host.state != "archived":
        batch.touch(host)
        message = conditions.open_(tx, host.id, host.name, kind, detail=detail, at=batch.at)
        batch.messages += [message] if message is not None else []
        host.open_conditions.add(kind)


def close_condition(tx: Connection, host: Host, batch: Batch, kind: str, detail: str) -> None:
    """It sees again."""
    if kind in host.open_conditions:
        batch.touch(host)
        message = conditions.close(tx, host.id, host.name, kind, detail=detail, at=batch.at)
        batch.messages += [message] if message is not None else []
        host.open_conditions.discard(kind)


def wanted(host: Host, limit: int) -> dict[str, Sequence[str]]:
    """What the judges are to score now: cheap and strong item ids, and anchors, one entry per re-score."""
    cheap = list(islice((line.item_id for line in host.line if line.item_id not in host.answers), limit))
    strong: Sequence[str] = ()
    anchors: Sequence[str] = ()
    if host.monitor is not None and host.state == "running":
        strong, anchors = host.monitor.pending_items[:limit], host.monitor.pending_anchors[:limit]
    return {"cheap": cheap, "strong": strong, "anchor": anchors}
