"""The desk between the judges and the monitors: what is wanted goes out with its texts, answers come in and stay."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol

from sqlalchemy import Connection

from driftjudge.judges.protocol import Item, Judgement
from driftjudge.monitor.errors import ScoreError, UnaskedError
from driftjudge.monitor.scores import Failure
from driftjudge.service import setup, stream
from driftjudge.service.batch import Batch
from driftjudge.service.clock import day_of
from driftjudge.service.host import Host
from driftjudge.service.values import AnchorScoreIn, StrongIn
from driftjudge.service.workers import Call, Wanted
from driftjudge.store import payloads, setup_calls, spending


class Submit(Protocol):
    """Queues a command; its future is done when its effects are durable."""

    def __call__(self, name: str | None, run: Callable[[Connection, Host | None, Batch], Any], /) -> Future[Any]:
        """The future of its answer."""


class Desk:
    """Implements `workers.Desk` with commands of the service."""

    def __init__(self, submit: Submit) -> None:
        self._submit = submit

    def wanted(self, name: str, limit: int) -> Future[Wanted]:
        """What the judges of a monitor are to score now, with the texts."""

        def look(tx: Connection, host: Host | None, batch: Batch) -> Wanted:
            assert host is not None
            return Wanted(
                calls=_calls(tx, host, limit),
                config=host.config,
                judging=host.settings.judging,
                dollars_today=_spent_today(tx, host, batch.at),
                conditions=frozenset(host.open_conditions),
            )

        return self._submit(name, look)

    def record(self, name: str, call: Call, judgement: Judgement, answer_id: str) -> Future[None]:
        """Record a judge's answer; recorded already, or no longer wanted: nothing happens."""
        scores, mark, usage = judgement.scores, judgement.fingerprint, judgement.usage

        def take(tx: Connection, host: Host | None, batch: Batch) -> None:
            assert host is not None
            try:
                record(tx, host, batch, scores)
            except ScoreError as error:  # a judge that does not keep to the protocol
                record(tx, host, batch, Failure("out_of_range", str(error)))
            except UnaskedError:
                pass  # the epoch ended meanwhile, or the answer is in already

        def record(tx: Connection, host: Host, batch: Batch, scores: tuple[float, ...] | Failure) -> None:
            subject = call.item.id
            if call.setup is not None:
                setup.record(tx, host, batch, call.setup, scores, mark, usage)
            elif host.state != "running":
                return
            elif call.role == "cheap":
                stream.record_cheap(tx, host, batch, subject, scores, mark, usage)
            elif call.role == "strong":
                stream.record_strong(tx, host, batch, [StrongIn(subject, scores, mark)], usage)
            else:
                stream.record_anchors(tx, host, batch, [AnchorScoreIn(subject, scores, answer_id, mark)], usage)

        return self._submit(name, take)

    def condition(self, name: str, kind: str, detail: str | None) -> Future[None]:
        """Open a condition, or with None close it."""

        def change(tx: Connection, host: Host | None, batch: Batch) -> None:
            assert host is not None
            if detail is None:
                stream.close_condition(tx, host, batch, kind, "it works again")
            else:
                stream.open_condition(tx, host, batch, kind, detail)

        return self._submit(name, change)


def _spent_today(tx: Connection, host: Host, now: float) -> float:
    if host.settings.judging.daily_dollars is None:
        return 0.0
    return spending.dollars(tx, host.id, day=day_of(now))


def _calls(tx: Connection, host: Host, limit: int) -> list[Call]:
    """The calls that can be made: those whose judge is configured and whose texts are there."""
    judging = host.settings.judging
    wanted = stream.wanted(host, limit)
    calls: list[Call] = []
    for role, texts_of, judge in (
        ("cheap", "item", judging.cheap),
        ("strong", "item", judging.strong),
        ("anchor", "anchor", judging.strong),
    ):
        subjects = wanted[role] if judge is not None else ()
        texts = payloads.get(tx, host.id, texts_of, list(dict.fromkeys(subjects)))
        calls += [_call(role, texts[one], one) for one in subjects if one in texts]
    if "setup" in host.summary and judging.strong is not None:
        todo = setup_calls.wanted(tx, host.id, limit=limit)
        for role, texts_of in (("baseline", "next_anchor"), ("calibration", "calibration")):
            mine = [one for one in todo if one.role == role]
            texts = payloads.get(tx, host.id, texts_of, list({one.subject: None for one in mine}))
            calls += [
                Call(role, Item(one.subject, texts[one.subject].fields, one.stratum), one)
                for one in mine
                if one.subject in texts
            ]
    return calls


def _call(role: str, texts: payloads.Texts, subject: str) -> Call:
    return Call(role, Item(subject, texts.fields, texts.stratum))
