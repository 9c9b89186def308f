"""What can be said of a request without knowing the monitor's state."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from driftjudge.monitor.scores import Failure, score_row
from driftjudge.service.errors import BadRequestError
from driftjudge.service.values import (
    LONGEST_ID,
    LONGEST_NAME,
    MOST_FIELDS,
    MOST_ITEMS,
    MOST_TEXT,
    ItemIn,
    MonitorSettings,
    ScoresIn,
)

MOST_DETAIL = 500
LONGEST_NOTE = 2_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def checked_name(name: str) -> str:
    """A monitor's name, which is part of its address."""
    if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise BadRequestError(
            f"{name[:LONGEST_NAME]!r} is no name for a monitor; use up to {LONGEST_NAME} letters, digits, '.', '_' "
            "and '-'"
        )
    return name


def checked_id(item_id: str, what: str) -> str:
    """An id that any database and any log line can hold."""
    if not 1 <= len(item_id) <= LONGEST_ID or not item_id.isprintable():
        raise BadRequestError(
            f"{item_id[:40]!r} cannot be the id of {what}; give 1 to {LONGEST_ID} printable characters"
        )
    return item_id


def checked_texts(texts: Mapping[str, str], whose: str) -> dict[str, str]:
    """Named texts within their limits."""
    if not 1 <= len(texts) <= MOST_FIELDS:
        raise BadRequestError(f"{whose} has {len(texts)} texts; give from 1 to {MOST_FIELDS}")
    for name in texts:
        if not name.isidentifier() or len(name) > LONGEST_ID:
            raise BadRequestError(f"{whose}: {name[:40]!r} cannot name a text; use letters, digits and '_'")
    if sum(map(len, texts.values())) > MOST_TEXT:
        raise BadRequestError(f"the texts of {whose} are longer than {MOST_TEXT} characters together; shorten them")
    return dict(texts)


def checked_scores(scores: ScoresIn, rubrics: tuple[str, ...], what: str, whose: str) -> ScoresIn:
    """Scores as plain numbers of [0, 1], one per rubric; a failure's detail is cut to its limit."""
    if isinstance(scores, Failure):
        return replace(scores, detail=scores.detail[:MOST_DETAIL])
    row = score_row(scores, rubrics, what, whose)
    assert row is not None
    return tuple(row.tolist())


def scores_to_json(scores: ScoresIn | None) -> Any:
    """Scores or a failure as JSON."""
    if isinstance(scores, Failure):
        return {"failure": scores.reason, "detail": scores.detail}
    return None if scores is None else list(scores)


def scores_from_json(body: Any) -> ScoresIn:
    """What `scores_to_json` wrote."""
    if isinstance(body, Mapping):
        return Failure(body["failure"], body.get("detail", ""))
    return tuple(body)


def hash_of(body: Any) -> bytes:
    """Tells one body from another."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).digest()[:16]


def item_hash(item: ItemIn) -> bytes:
    """The same item again has the same hash, however its numbers were written."""
    cheap, strong = (_floats(scores_to_json(scores)) for scores in (item.cheap, item.strong))
    return hash_of([item.stratum, cheap, strong, None if item.texts is None else dict(item.texts)])


def _floats(body: Any) -> Any:
    if not isinstance(body, list):
        return body
    try:
        return [float(one) for one in body]
    except (TypeError, ValueError) as error:
        raise BadRequestError(f"scores are numbers, got {str(body)[:80]}") from error


def checked_items(items: Sequence[ItemIn]) -> None:
    """The parts of items that need no monitor."""
    if not 1 <= len(items) <= MOST_ITEMS:
        raise BadRequestError(f"{len(items)} items in one request; send from 1 to {MOST_ITEMS}")
    seen: set[str] = set()
    for item in items:
        checked_id(item.id, "an item")
        if item.id in seen:
            raise BadRequestError(f"item {item.id!r} stands twice in one request; give every item an id of its own")
        seen.add(item.id)
        if item.texts is not None:
            checked_texts(item.texts, f"item {item.id!r}")
        if item.cheap is None and item.texts is None:
            raise BadRequestError(f"item {item.id!r} has neither cheap scores nor texts; send one of them")


def check_settings(settings: MonitorSettings) -> None:
    """Settings of a monitor that can work."""
    judging = settings.judging
    low, high = judging.scale
    for wrong, sentence in (
        (not 1 <= judging.concurrency <= 256, f"concurrency is {judging.concurrency}; give from 1 to 256"),
        (not low < high, f"the scale goes from {low} to {high}; give the lowest mark first"),
        (not 1 <= judging.passes <= 1_000, f"passes is {judging.passes}; give from 1 to 1000"),
        (
            judging.calls_per_second is not None and not 0.001 <= judging.calls_per_second <= 10_000,
            f"calls_per_second is {judging.calls_per_second}; give from 0.001 to 10000",
        ),
        (
            judging.daily_dollars is not None and not 0.0 <= judging.daily_dollars <= 1e9,
            f"daily_dollars is {judging.daily_dollars}; give a ceiling at or above 0",
        ),
        (
            settings.no_data_after is not None and not 1.0 <= settings.no_data_after <= 1e9,
            f"no_data_after is {settings.no_data_after}; give at least 1 second",
        ),
        (not 0.0 <= settings.keep_texts_days <= 1e5, f"keep_texts_days is {settings.keep_texts_days}; give 0 or more"),
        (len(settings.description) > LONGEST_NOTE, f"the description is longer than {LONGEST_NOTE} characters"),
    ):
        if wrong:
            raise BadRequestError(sentence)


def check_many(ids: Sequence[str], what: str, *, distinct: bool) -> None:
    """Scores of one request: not too many, and where they must be, of different items."""
    if not 1 <= len(ids) <= MOST_ITEMS:
        raise BadRequestError(f"{len(ids)} {what} in one request; send from 1 to {MOST_ITEMS}")
    if distinct and len(set(ids)) != len(ids):
        raise BadRequestError(f"an item stands twice among the {what}; send each once")
