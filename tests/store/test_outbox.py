from __future__ import annotations

import pytest

from driftjudge.store import Store, alarms, conditions, outbox, registry


def _add(store: Store, kind: str = "opened", at: float = 1.0, key: str = "k") -> outbox.Message:
    with store.begin() as tx:
        return outbox.add(tx, monitor="m", dedup_key=key, kind=kind, payload={"position": 7}, at=at)


def test_a_message_is_told_only_if_its_change_happens(either: Store) -> None:
    def half() -> None:
        with either.begin() as tx:
            outbox.add(tx, monitor="m", dedup_key="k", kind="opened", payload={}, at=1.0)
            raise RuntimeError("the verdict was not written")

    with pytest.raises(RuntimeError):
        half()
    kept = _add(either)
    with either.read() as tx:
        assert outbox.messages(tx, after=0) == [kept]
        assert outbox.last_id(tx) == kept.id
        assert outbox.messages(tx, after=kept.id) == []


def test_a_delivery_is_due_until_its_sink_accepts_it(either: Store) -> None:
    message = _add(either)
    with either.begin() as tx:
        assert outbox.enroll(tx, "slack", after=0, now=10.0) == 1
        assert outbox.enroll(tx, "slack", after=0, now=10.0) == 0
        assert [one.message for one in outbox.due(tx, now=10.0, sinks=["slack"])] == [message]
        outbox.failed(tx, message.id, "slack", error="500" * 1_000, next_attempt_at=20.0, at=11.0)
        assert outbox.due(tx, now=19.0, sinks=["slack"]) == []
        (again,) = outbox.due(tx, now=20.0, sinks=["slack"])
        assert (again.attempts, len(again.last_error)) == (1, outbox.MOST_ERROR)
        outbox.accepted(tx, message.id, "slack", at=21.0)
        assert outbox.due(tx, now=99.0, sinks=["slack"]) == []
        assert outbox.undelivered(tx) == []


def test_sinks_do_not_share_their_fate(store: Store) -> None:
    message = _add(store)
    with store.begin() as tx:
        for sink in ("slack", "mail"):
            outbox.enroll(tx, sink, after=0, now=1.0)
        outbox.accepted(tx, message.id, "slack", at=2.0)
        assert [one.sink for one in outbox.due(tx, now=2.0, sinks=["slack", "mail"])] == ["mail"]


def test_what_was_taken_by_all_is_forgotten_and_nothing_else(store: Store) -> None:
    old, waiting, new = _add(store, key="old"), _add(store, key="waiting"), _add(store, at=9.0, key="new")
    with store.begin() as tx:
        outbox.enroll(tx, "slack", after=0, now=1.0)
        for one in (old, new):
            outbox.accepted(tx, one.id, "slack", at=2.0)
        assert outbox.forget(tx, before=5.0) == 1
        assert [one.id for one in outbox.messages(tx, after=0)] == [waiting.id, new.id]


def test_the_messages_of_an_alarm_go_together_once_it_is_over(either: Store) -> None:
    """Who is told of the end depends on who was told of the beginning."""
    with either.begin() as tx:
        monitor = registry.create(tx, name="m", config={}, settings={}, at=0.0)
        alarm = alarms.open_(tx, monitor, epoch=1, dedup_key="k", verdict={}, story=[], at=1.0)
        condition = conditions.open_(tx, monitor, "m", "no_data", detail="silent", at=1.0)
        assert condition is not None
    first = _add(either)
    with either.begin() as tx:
        outbox.enroll(tx, "slack", after=0, now=1.0)
        for one in (condition, first):
            outbox.accepted(tx, one.id, "slack", at=2.0)
        assert outbox.forget(tx, before=5.0) == 0, "both are open"
        row = alarms.get(tx, alarm)
        assert row is not None
        alarms.change(tx, row, state="closed", closed_at=9.0)
    last = _add(either, "closed", at=9.0)
    with either.begin() as tx:
        assert outbox.forget(tx, before=20.0) == 0, "nobody was told of the end yet"
        outbox.enroll(tx, "slack", after=0, now=9.0)
        outbox.accepted(tx, last.id, "slack", at=10.0)
        assert outbox.forget(tx, before=5.0) == 0, "the end is not old enough"
        assert outbox.forget(tx, before=20.0) == 2
        assert [one.id for one in outbox.messages(tx, after=0)] == [condition.id]
