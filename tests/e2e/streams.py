"""Seeded worlds for the service: a stream with a drop, judges that always answer the same, and who drives them."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from driftjudge.judges.protocol import Item, Judge, Judgement, Usage
from driftjudge.monitor import MonitorConfig
from driftjudge.monitor.scores import Failure
from driftjudge.service.values import (
    AnchorIn,
    AnchorScoreIn,
    CalibrationIn,
    Idempotency,
    ItemIn,
    ItemOut,
    Judging,
    MonitorSettings,
    Recorded,
    StrongIn,
)

RUBRICS, STRATA = ("helpfulness", "correctness"), ("coding", "creative")
MARKS = (0.0, 0.25, 0.5, 0.75, 1.0)
NAME = "stream"

Mode = Literal["client", "strong", "raw"]
"""Who judges: the client everything, the service what it asks, or the service everything.

With `strong` the client waits after each request until nothing is wanted, because when an alarm rises decides what is
asked next. With `raw` items are observed one by one as the cheap judge answers, so that stream has no alarm in it.
"""


def scores_of(text: str) -> tuple[float, ...]:
    """The same scores for the same text: texts say how good they are, the rest is noise that looks like chance."""
    digest = hashlib.sha256(text.encode()).digest()
    good = "bad" not in text
    chances = (0.0, 0.05, 0.25, 0.4, 0.3) if good else (0.6, 0.3, 0.1, 0.0, 0.0)
    return tuple(
        float(np.searchsorted(np.cumsum(chances), int.from_bytes(digest[4 * r : 4 * r + 4], "big") / 2**32) / 4)
        for r in range(len(RUBRICS))
    )


class SteadyJudge:
    """Answers what `scores_of` says, after a moment that differs from item to item."""

    rubrics = RUBRICS
    fingerprint = "steady"

    def __init__(self, on_call: Callable[[], None] | None = None, pause: float = 0.002) -> None:
        self._on_call, self._pause = on_call, pause

    async def score(self, item: Item) -> Judgement:
        """Scores, or a failure on the way where `on_call` raises."""
        await asyncio.sleep(self._pause * (hashlib.md5(item.id.encode()).digest()[0] / 255))
        try:
            if self._on_call is not None:
                self._on_call()
        except ConnectionError as error:
            return Judgement(Failure("transport", str(error)), self.fingerprint)
        return Judgement(scores_of(item.fields["response"]), self.fingerprint, Usage(10, 2, 0.5, 1))


def steady_judges(_kind: str, _config: MonitorConfig, _judging: Judging) -> Judge:
    return SteadyJudge()


class Client(Protocol):
    """A service, near or far: calls a method by name, and goes on asking until it gets an answer."""

    def call(self, method: str, *arguments: Any, **named: Any) -> Any:
        """What the service answers."""


@dataclass
class Drive:
    """What a client does with a service from beginning to end; doing it again changes nothing."""

    mode: Mode
    seed: int
    items: int = 60
    anchors: int = 12
    request: int = 10
    calibration: int = 300
    answers: dict[str, ItemOut] = field(default_factory=dict)

    @property
    def config(self) -> MonitorConfig:
        return MonitorConfig(
            rubrics=RUBRICS,
            strata=STRATA,
            budget=0.5,
            acquisition="uniform",  # any other follows the evidence, which late scores make a matter of timing
            burst=8,
            anchor_every=7,
            seed=self.seed,
            slack=0.05,
            id_memory=20,  # far fewer than items: the store alone can recognise old ids
        )

    def texts(self, what: str, i: int) -> dict[str, str]:
        dropped = what == "item" and i >= self.items // 3 and self.mode != "raw"
        return {"response": f"{'bad' if dropped else 'good'} {what} {self.seed} {i}"}

    def stream(self) -> Iterator[ItemIn]:
        for i in range(self.items):
            texts = self.texts("item", i)
            cheap = None if self.mode == "raw" else scores_of(texts["response"])
            yield ItemIn(f"i{i}", STRATA[i % 2], cheap=cheap, texts=None if self.mode == "client" else texts)

    def set_up(self, client: Client) -> None:
        judge = {"model": "steady"}
        judging = Judging(
            cheap=judge if self.mode == "raw" else None, strong=None if self.mode == "client" else judge, concurrency=4
        )
        settings = MonitorSettings(judging=judging)
        anchors = [AnchorIn(f"a{i}", self._human(i), self.texts("anchor", i)) for i in range(self.anchors)]
        scored = [scores_of(self.texts("anchor", i)["response"]) for i in range(self.anchors)]
        calibration = [
            CalibrationIn(f"c{i}", STRATA[i % 2], scores_of(self.texts("calibration", i)["response"]))
            for i in range(self.calibration)
        ]
        client.call("create_monitor", NAME, self.config, settings, idempotency=self._key("create"))
        client.call("set_anchors", NAME, anchors, [scored] * 4, idempotency=self._key("anchors"))
        client.call("freeze_anchors", NAME, idempotency=self._key("freeze"))
        client.call("calibrate", NAME, calibration, idempotency=self._key("calibrate"))

    def _human(self, i: int) -> tuple[float, ...]:
        return tuple(max(0.0, score - 0.25) for score in scores_of(self.texts("anchor", i)["response"]))

    @staticmethod
    def _key(what: str) -> Idempotency:
        return Idempotency("tests", what, what)

    def run(self, client: Client) -> None:
        """The whole life of a monitor."""
        self.set_up(client)
        self.go_on(client)

    def go_on(self, client: Client) -> None:
        """The stream, and then every item once more."""
        given = list(self.stream())
        for number, first in enumerate(range(0, len(given), self.request)):
            part = given[first : first + self.request]
            out = client.call("ingest", NAME, part, idempotency=self._key(f"request {number}"))
            self.answers.update({one.id: one for one in out})
            if self.mode == "client":
                self._judge(client, [one.id for one in out if one.asked_strong], first)
            elif self.mode == "strong" or number % 2:
                self._wait(client)
            self._acknowledge(client, number)
        self._wait(client)
        self._send_again(client, given)

    def _judge(self, client: Client, asked: list[str], first: int) -> None:
        if asked:
            scores = [StrongIn(one, scores_of(self.texts("item", int(one[1:]))["response"])) for one in asked]
            client.call("record_strong", NAME, scores)
        wanted = client.call("wanted_anchors", NAME)
        for turn in range(100):
            if not wanted:
                return
            anchor = wanted[0]
            response = self.texts("anchor", int(anchor[1:]))["response"]
            score = AnchorScoreIn(anchor, scores_of(response), answer_id=f"{first}.{turn}")
            recorded: Recorded = client.call("record_anchors", NAME, [score])
            wanted = recorded.wanted_anchors
        raise AssertionError("the anchors never end")

    @staticmethod
    def _wait(client: Client) -> None:
        deadline = time.monotonic() + 60.0
        while time.monotonic() < deadline:
            detail = client.call("monitor", NAME)
            if not (detail.waiting_cheap or detail.waiting_strong or detail.waiting_anchors):
                return
            time.sleep(0.002)
        raise AssertionError("the judges never finish")

    def _acknowledge(self, client: Client, number: int) -> None:
        if self.mode == "raw":
            return
        verdict = client.call("verdict", NAME)
        if verdict.kind == "system" and verdict.status == "final":
            client.call("acknowledge", NAME, note="seen", by="tests", idempotency=self._key(f"acknowledge {number}"))

    def _send_again(self, client: Client, given: list[ItemIn]) -> None:
        """Without keys: every item is known by its id alone, and gets the answer it got."""
        for first in range(0, len(given), 50):
            for one in client.call("ingest", NAME, given[first : first + 50]):
                assert one.duplicate, f"item {one.id} was lost"
                before = self.answers[one.id]
                if before.position is not None:
                    assert (one.number, one.position, one.asked_strong) == (
                        before.number,
                        before.position,
                        before.asked_strong,
                    )


def state_of(client: Client, mode: Mode) -> dict[str, Any]:
    """Everything that must be the same however often the service died on the way."""
    snapshot = client.call("snapshot", NAME)
    costs = client.call("costs", NAME)
    alarms = client.call("alarms", NAME)
    trace = client.call("trace", NAME)
    log = client.call("events", NAME)
    report = client.call("anchors_report", NAME)
    state = {
        "snapshot": snapshot,
        "spent": [(line.role, line.answers, line.unscored, line.calls, line.dollars) for line in costs.lines],
        "alarms": [(one.dedup_key, one.state, one.verdict, [x.kind for x in one.story]) for one in alarms],
        "observed": [row.body["item_id"] for row in log if row.body["event"] == "Observed"],
        "scored": sorted(row.body["item_id"] for row in log if row.body["event"] == "StrongScored"),
        "rescored": [(line.id, line.rescores, line.last, line.mean) for line in report.lines],
        "told": [(one.kind, one.dedup_key) for one in client.call("changes", after=0)],
    }
    if mode != "raw":  # there, when a late score comes in decides what a point on the way shows
        state["trace"] = [trace.position.tolist(), trace.system.tolist(), trace.strong_calls.tolist()]
    return state
