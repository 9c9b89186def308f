"""Scores that were paid for are kept, so that an interrupted run goes on where it stopped and pays for nothing twice.

A score is kept under the item's content, the judge's fingerprint and the number of the pass, so that no score
survives a change of the judge that we can see: another prompt, rubric, scale, model or sampling setting is another
fingerprint. A provider may point the same model name at another model. Where it says so (the answer names the model
that gave it), only scores of the model that answered last are served; the older ones stay in the file and are asked
for again. Where it does not say so, no cache can know: that is what the anchors are for, and their re-scores never
come from here.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Self

from driftjudge.judges.database import Database
from driftjudge.judges.ledger import Ledger, Spending
from driftjudge.judges.protocol import Item, Judgement, Usage
from driftjudge.monitor.scores import Failure


def content_hash(item: Item) -> str:
    """A hash of the item's texts; its id and stratum are not shown to a judge.

    >>> content_hash(Item("1", {"prompt": "hi"})) == content_hash(Item("2", {"prompt": "hi"}))
    True
    """
    text = json.dumps(dict(item.fields), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class ScoreCache:
    """The durable cache, with the ledger in the same file, so that an answer and its price are written as one."""

    def __init__(self, path: str | Path | Database) -> None:
        self._database = path if isinstance(path, Database) else Database(path)
        self.ledger = Ledger(self._database)
        self._last_model: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"ScoreCache({str(self._database.path)!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return int(str(self._database.read("SELECT COUNT(*) FROM scores")[0][0]))

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def find(self, item: str, judge: str, pass_number: int = 0) -> Judgement | None:
        """The judgement kept for a content hash, by the model that answered last for this judge."""
        rows = self._database.read(
            "SELECT scores.answer, scores.input_tokens, scores.output_tokens, scores.model FROM scores JOIN models "
            "ON models.judge = scores.judge AND models.model = scores.model "
            "WHERE scores.item = ? AND scores.judge = ? AND scores.pass = ?",
            (item, judge, pass_number),
        )
        if not rows:
            return None
        answer, _, _, model = rows[0]
        return Judgement(_unpack(str(answer)), judge, Usage(0, 0, 0.0, 0), model=str(model))

    def keep(
        self,
        item: str | None,
        judgement: Judgement,
        role: str,
        day: date,
        spending: Spending,
        pass_number: int = 0,
    ) -> None:
        """Write an answer and its price in one transaction; `item` None books the price alone."""
        with self._database.write() as connection:
            self.ledger.add(connection, day, role, judgement.fingerprint, judgement.model, spending)
            if isinstance(judgement.scores, Failure) and judgement.scores.reason == "transport":
                return  # nothing was answered
            self._answered_by(connection, judgement)
            if item is not None:
                connection.execute(
                    "INSERT OR REPLACE INTO scores (item, judge, pass, model, answer, input_tokens, output_tokens, "
                    "dollars) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        item,
                        judgement.fingerprint,
                        pass_number,
                        judgement.model,
                        _pack(judgement.scores),
                        judgement.usage.input_tokens,
                        judgement.usage.output_tokens,
                        judgement.usage.dollars,
                    ),
                )

    def _answered_by(self, connection: sqlite3.Connection, judgement: Judgement) -> None:
        """Remember which model answered last; one that did not say its name changes nothing but an empty record."""
        judge, model = judgement.fingerprint, judgement.model
        if self._last_model.get(judge) == model:
            return
        connection.execute(
            "INSERT INTO models VALUES (?, ?) ON CONFLICT DO UPDATE SET model = excluded.model WHERE excluded.model "
            "<> ''",
            (judge, model),
        )
        self._last_model[judge] = model


def _pack(scores: tuple[float, ...] | Failure) -> str:
    if isinstance(scores, Failure):
        return json.dumps({"reason": scores.reason, "detail": scores.detail})
    return json.dumps(scores)


def _unpack(text: str) -> tuple[float, ...] | Failure:
    found = json.loads(text)
    return Failure(found["reason"], found["detail"]) if isinstance(found, dict) else tuple(found)


def as_cached(judgement: Judgement) -> Judgement:
    """The same answer, for somebody who did not pay for it."""
    return replace(judgement, usage=Usage(0, 0, 0.0, 0))
