"""At least once, in order, under one key, whatever the receiver does: on a real store, against real receivers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete

from driftjudge.service.alerts.delivery import REPEAT_EVERY, Dispatcher, Links, Sender
from driftjudge.service.alerts.outbox import CLAIM, ROUTED, SETTLED, StoreOutbox
from driftjudge.service.alerts.settings import AlertSettings, NamedSink, Route, Sink, read_alerts
from driftjudge.service.alerts.sinks.alertmanager import Alertmanager
from driftjudge.service.alerts.sinks.email import Email
from driftjudge.service.alerts.sinks.pagerduty import PagerDuty
from driftjudge.service.alerts.sinks.slack import Slack
from driftjudge.service.alerts.sinks.webhook import Webhook
from driftjudge.store import Store, alarms, open_store, registry
from driftjudge.store import outbox as store_outbox
from driftjudge.store.tables import deliveries
from tests.service.alerts.receiver import http_receiver, mail_receiver

START = 1_794_711_600.0


@dataclass
class Post:
    """An outbox, its dispatcher, and a clock that only the test moves."""

    store: Store
    now: float = START

    def clock(self) -> float:
        return self.now

    def add(self, kind: str, monitor: str = "shop") -> None:
        """What the service writes down when an alarm is attributed or closed."""
        payload = {
            "verdict": {"kind": "system", "status": "final", "epoch": 2, "cells": [["tone", "chat"]], "rubrics": []},
            "sentence": "Your system got worse.",
            "facts": ["One.", "Two.", "Three."],
            "advice": "Look.",
            "note": "fixed" if kind == "closed" else "",
        }
        with self.store.begin() as tx:
            key = f"driftjudge:{monitor}:tone:chat:2"
            store_outbox.add(tx, monitor=monitor, dedup_key=key, kind=kind, payload=payload, at=self.now)

    def dispatcher(self, settings: AlertSettings, timeout: float = 5.0) -> Dispatcher:
        sender = Sender(settings, Links(), timeout=timeout)
        return Dispatcher(StoreOutbox(self.store), sender, clock=self.clock, draw=random.Random(0))

    def waiting(self) -> int:
        with self.store.read() as tx:
            return len(store_outbox.undelivered(tx))

    def until_empty(self, dispatcher: Dispatcher, rounds: int = 30) -> None:
        for _ in range(rounds):
            dispatcher.step()
            if not self.waiting():
                return
            self.now += 3_600.0
        pytest.fail("something was never delivered")


@pytest.fixture
def post(tmp_path: Path) -> Iterator[Post]:
    store = open_store(tmp_path / "alerts.db")
    yield Post(store)
    store.close()


def only(sink: Sink, **route: Any) -> AlertSettings:
    return AlertSettings({"it": NamedSink("it", "any", sink, allow_private=True)}, (Route(("it",), **route),))


def http_sink(kind: str, url: str) -> Sink:
    sinks: dict[str, Sink] = {
        "slack": Slack(url),
        "pagerduty": PagerDuty("key", url),
        "alertmanager": Alertmanager(url, lambda: START),
        "webhook": Webhook(url, lambda: START, "hush"),
    }
    return sinks[kind]


KEY = "driftjudge:shop:tone:chat:2"


@pytest.mark.parametrize("kind", ["slack", "pagerduty", "alertmanager", "webhook"])
def test_an_alarm_arrives_although_the_receiver_refuses_fails_and_cuts(post: Post, kind: str) -> None:
    with http_receiver(["500", "429 30", "400", "404", "503", "cut", "302"]) as receiver:
        post.add("attributed")
        post.add("closed")
        post.until_empty(post.dispatcher(only(http_sink(kind, receiver.url))))
    assert [request.answer for request in receiver.requests[:7]] == ["500", "429 30", "400", "404", "503", "cut", "302"]
    assert len(receiver.accepted) == 2
    first = {request.body for request in receiver.requests[:8]}
    assert len(first) == 1, "every attempt says the same"


def test_mail_arrives_although_the_server_refuses(post: Post) -> None:
    with mail_receiver(["451 later", "554 no"]) as mailbox:
        sink = Email("127.0.0.1", mailbox.port, "a@example.org", ("b@example.org",), "none")
        post.add("attributed")
        post.until_empty(post.dispatcher(only(sink)))
    assert mailbox.attempts == 3
    assert len(mailbox.messages) == 1


def test_a_receiver_that_hangs_times_out_and_gets_it_later(post: Post) -> None:
    with http_receiver(["hang"]) as receiver:
        post.add("attributed")
        dispatcher = post.dispatcher(only(Slack(receiver.url)), timeout=0.2)
        dispatcher.step()
        assert post.waiting() == 1
        receiver.released.set()
        post.until_empty(dispatcher)
    assert [request.answer for request in receiver.requests] == ["hang", "202"]


def test_a_receiver_that_is_away_gets_it_when_it_comes_back(post: Post) -> None:
    with http_receiver() as gone:
        port = int(gone.url.rpartition(":")[2])
    post.add("attributed")
    dispatcher = post.dispatcher(only(PagerDuty("key", f"http://127.0.0.1:{port}")), timeout=1.0)
    dispatcher.step()
    assert post.waiting() == 1
    with http_receiver(port=port) as back:
        post.until_empty(dispatcher)
    assert [request.json["dedup_key"] for request in back.requests] == [KEY]


def test_the_end_of_an_alarm_never_overtakes_its_beginning(post: Post) -> None:
    with http_receiver(["500", "500"]) as receiver:
        post.add("attributed")
        post.add("closed")
        dispatcher = post.dispatcher(only(PagerDuty("key", receiver.url)))
        dispatcher.step()
        post.now += 1.0
        dispatcher.step()  # the closing message is due, its opening one still waits
        post.until_empty(dispatcher)
    assert [r.json["event_action"] for r in receiver.requests] == ["trigger", "trigger", "trigger", "resolve"]


def test_another_alarm_is_not_held_up_by_one_that_fails(post: Post) -> None:
    with http_receiver(["500"]) as receiver:
        post.add("attributed")
        post.add("attributed", "bank")
        post.dispatcher(only(PagerDuty("key", receiver.url))).step()
    assert [request.json["dedup_key"] for request in receiver.accepted] == ["driftjudge:bank:tone:chat:2"]


def test_retry_after_is_honoured(post: Post) -> None:
    with http_receiver(["429 120"]) as receiver:
        post.add("attributed")
        dispatcher = post.dispatcher(only(Slack(receiver.url)))
        dispatcher.step()
        post.now += 119.0
        assert dispatcher.step() == 0
        post.now += 2.0
        assert dispatcher.step() == 1
    assert len(receiver.accepted) == 1


def test_quiet_hours_hold_a_message_and_do_not_drop_it(post: Post) -> None:
    with http_receiver() as receiver:
        section = {
            "sinks": [{"name": "hook", "kind": "webhook", "url": receiver.url, "allow_private": True}],
            "routes": [{"sinks": ["hook"], "quiet_hours": "00:00-23:59"}],
        }
        post.add("attributed")
        dispatcher = post.dispatcher(read_alerts(section, {}))
        assert dispatcher.step() == 0
        post.now += 86_400.0
        assert dispatcher.step() == 1
    assert len(receiver.accepted) == 1


def test_an_alert_without_a_route_is_not_looked_at_again(post: Post) -> None:
    post.add("attributed")
    dispatcher = post.dispatcher(only(Slack("http://127.0.0.1:9"), subjects=("judge",)))
    assert dispatcher.step() == 0
    assert StoreOutbox(post.store).unrouted(10) == []


def test_two_processes_on_one_store_do_not_send_the_same_message(post: Post) -> None:
    post.add("attributed")
    first, second = StoreOutbox(post.store), StoreOutbox(post.store)
    for outbox in (first, second):
        for row, _ in outbox.unrouted(10):
            outbox.route(row, {"it": post.now})
    assert len(first.due(post.now, 10)) == 1
    assert second.due(post.now, 10) == []
    # The first process dies with the message in its hands: the second takes it over.
    assert len(second.due(post.now + CLAIM, 10)) == 1


def test_a_sink_that_was_removed_keeps_its_messages(post: Post) -> None:
    post.add("attributed")
    with http_receiver() as receiver:
        settings = only(Slack(receiver.url))
        post.dispatcher(replace(settings, sinks={})).step()
        assert post.waiting() == 1
        post.now += 3_600.0
        post.until_empty(post.dispatcher(settings))
    assert len(receiver.accepted) == 1


def test_a_private_target_is_refused_without_a_request(post: Post) -> None:
    with http_receiver() as receiver:
        post.add("attributed")
        settings = AlertSettings({"it": NamedSink("it", "slack", Slack(receiver.url))}, (Route(("it",)),))
        post.dispatcher(settings).step()
        counts = StoreOutbox(post.store).counts(["it"])
    assert receiver.requests == []
    assert counts["it"][:2] == (1, 0)
    assert "allow_private" in counts["it"][2]


def _verdict(kind: str, status: str) -> dict[str, Any]:
    verdict = {"kind": kind, "status": status, "epoch": 2, "cells": [["tone", "chat"]], "rubrics": []}
    return {"verdict": verdict, "sentence": "It moved.", "facts": [], "advice": "", "note": ""}


def _tell(post: Post, kind: str, payload: dict[str, Any], key: str = KEY) -> None:
    with post.store.begin() as tx:
        store_outbox.add(tx, monitor="shop", dedup_key=key, kind=kind, payload=payload, at=post.now)


def test_whoever_heard_of_a_system_alarm_hears_that_it_was_the_judge_and_that_it_is_over(post: Post) -> None:
    with http_receiver() as receiver:
        _tell(post, "opened", _verdict("system", "pending"))
        _tell(post, "attributed", _verdict("judge", "final"))
        _tell(post, "closed", _verdict("judge", "final"))
        post.until_empty(post.dispatcher(only(PagerDuty("key", receiver.url), subjects=("system",))))
        sent = [(one.json["event_action"], one.json["payload"]["class"]) for one in receiver.accepted]
    assert sent == [("trigger", "system"), ("trigger", "judge"), ("resolve", "judge")]


def test_whoever_heard_nothing_of_an_alarm_does_not_hear_of_its_end(post: Post) -> None:
    _tell(post, "opened", _verdict("system", "pending"))
    _tell(post, "attributed", _verdict("judge", "final"))
    _tell(post, "closed", _verdict("judge", "final"))
    dispatcher = post.dispatcher(
        only(Slack("http://127.0.0.1:9"), subjects=("system",), phases=("attributed", "closed"))
    )
    assert (dispatcher.step(), post.waiting()) == (0, 0)


def test_an_alarm_that_is_final_at_once_is_an_opening_too(post: Post) -> None:
    with http_receiver() as receiver:
        _tell(post, "opened", _verdict("judge", "final"))
        _tell(post, "attributed", _verdict("judge", "final"))
        _tell(post, "closed", _verdict("judge", "final"))
        post.until_empty(post.dispatcher(only(PagerDuty("key", receiver.url), phases=("opened", "closed"))))
    assert [one.json["event_action"] for one in receiver.accepted] == ["trigger", "resolve"]


def test_a_sink_that_hangs_costs_a_round_one_attempt_however_much_waits_for_it(post: Post) -> None:
    with http_receiver(["hang"] * 20) as receiver:
        for number in range(20):
            _tell(post, "opened", _verdict("system", "pending"), key=f"k{number}")
        dispatcher = post.dispatcher(only(Slack(receiver.url)), timeout=0.2)
        dispatcher.step()
        assert len(receiver.requests) == 1
        with post.store.read() as tx:
            waiting = store_outbox.undelivered(tx)
        assert [one.attempts for one in waiting] == [1] + [0] * 19
        assert [one.next_attempt_at <= post.now for one in waiting] == [False] + [True] * 19
        dispatcher.step()
        assert len(receiver.requests) == 2
        receiver.released.set()


def test_what_waits_for_a_dead_sink_leaves_room_for_the_others(post: Post) -> None:
    outbox = StoreOutbox(post.store)
    for number in range(30):
        _tell(post, "opened", _verdict("system", "pending"), key=f"k{number}")
    for row, _ in outbox.unrouted(100):
        outbox.route(row, {"dead": post.now})
    _tell(post, "opened", _verdict("system", "pending"), key="new")
    for row, _ in outbox.unrouted(100):
        outbox.route(row, {"alive": post.now})
    assert [one.alert.key for one in outbox.due(post.now, 5) if one.sink == "alive"] == ["new"]


def test_what_quiet_hours_hold_does_not_hold_what_may_go_out_now(post: Post) -> None:
    with http_receiver() as receiver:
        section = {
            "sinks": [{"name": "hook", "kind": "webhook", "url": receiver.url, "allow_private": True}],
            "routes": [
                {"sinks": ["hook"], "phases": ["opened"], "quiet_hours": "00:00-23:59"},
                {"sinks": ["hook"], "phases": ["attributed"]},
            ],
        }
        dispatcher = post.dispatcher(read_alerts(section, {}))
        _tell(post, "opened", _verdict("system", "pending"))
        _tell(post, "opened", _verdict("system", "pending"), key="another")
        assert dispatcher.step() == 0
        _tell(post, "attributed", _verdict("judge", "final"))
        assert [dispatcher.step(), dispatcher.step(), dispatcher.step()] == [1, 1, 0]
    assert [one.json["data"]["phase"] for one in receiver.accepted] == ["opened", "attributed"]
    assert post.waiting() == 1, "the other alarm is still held back"


def test_a_refused_message_is_not_hurried_by_a_later_one(post: Post) -> None:
    with http_receiver(["429 120"]) as receiver:
        post.add("attributed")
        dispatcher = post.dispatcher(only(Slack(receiver.url)))
        dispatcher.step()
        post.add("closed")
        assert dispatcher.step() == 0


def test_the_latest_refusal_is_shown_and_not_the_last_by_the_alphabet(post: Post) -> None:
    with http_receiver(["503", "400"]) as receiver:
        dispatcher = post.dispatcher(only(Slack(receiver.url)))
        _tell(post, "opened", _verdict("system", "pending"))
        dispatcher.step()
        _tell(post, "opened", _verdict("system", "pending"), key="another")
        post.now += 0.1
        dispatcher.step()
    assert StoreOutbox(post.store).counts(["it", "new"]) == {
        "it": (2, 0, "the receiver answered 400"),
        "new": (0, 0, ""),
    }


def test_what_was_assigned_long_ago_is_not_looked_at_again(post: Post) -> None:
    outbox = StoreOutbox(post.store, clock=post.clock)
    post.add("attributed")
    ((row, _),) = outbox.unrouted(10)
    outbox.route(row, {})
    for _ in range(2):  # seen, and an hour later still the same
        post.now += SETTLED
        assert outbox.unrouted(10) == []
    with post.store.begin() as tx:  # a row that would be found by whoever looked at all of them
        tx.execute(delete(deliveries).where(deliveries.c.sink == ROUTED))
    post.add("closed")
    assert [alert.phase for _, alert in outbox.unrouted(10)] == ["closed"]
    assert len(StoreOutbox(post.store).unrouted(10)) == 2, "a new process looks once at all of them"


def _open_alarm(post: Post) -> int:
    with post.store.begin() as tx:
        monitor = registry.create(tx, name="shop", config={}, settings={}, at=post.now)
        return alarms.open_(tx, monitor, epoch=2, dedup_key=KEY, verdict={}, story=[], at=post.now)


def test_alertmanager_hears_of_an_open_alarm_every_hour_and_others_do_not(post: Post) -> None:
    with http_receiver() as receiver, http_receiver() as slack:
        sinks: dict[str, Sink] = {"am": Alertmanager(receiver.url, post.clock), "slack": Slack(slack.url)}
        named = {name: NamedSink(name, "any", sink, allow_private=True) for name, sink in sinks.items()}
        dispatcher = post.dispatcher(AlertSettings(named, (Route(("am", "slack")),)))
        alarm = _open_alarm(post)
        _tell(post, "opened", _verdict("system", "pending"))
        assert dispatcher.step() == 2
        _tell(post, "attributed", _verdict("system", "final"))
        assert dispatcher.step() == 2
        assert dispatcher.step() == 0
        for _ in range(2):
            post.now += REPEAT_EVERY
            assert dispatcher.step() == 1, "the latest message alone"
            assert dispatcher.step() == 0
        with post.store.begin() as tx:
            row = alarms.get(tx, alarm)
            assert row is not None
            alarms.change(tx, row, state="closed", closed_at=post.now)
        _tell(post, "closed", _verdict("system", "final"))
        post.until_empty(dispatcher)
        post.now += REPEAT_EVERY
        assert dispatcher.step() == 0
    assert len(slack.accepted) == 3
    (_, *again, _) = (one.json[0] for one in receiver.accepted)
    assert len(again) == 3
    assert all(one == again[0] for one in again)
