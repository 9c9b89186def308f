"""What is kept beside the log: items, texts, points, sums, conditions, keys of idempotency, the audit trail."""

from __future__ import annotations

import pytest

from driftjudge.store import (
    Store,
    audit,
    conditions,
    idempotency,
    items,
    outbox,
    payloads,
    registry,
    rescores,
    setup_calls,
    spending,
    trace,
)
from driftjudge.store.errors import KeyReusedError
from driftjudge.store.items import Accepted
from driftjudge.store.setup_calls import SetupCall


@pytest.fixture
def monitor(either: Store) -> int:
    with either.begin() as tx:
        return registry.create(tx, name="m", config={}, settings={}, at=0.0)


def _item(name: str, number: int, position: int | None = None) -> Accepted:
    return Accepted(name, number, b"hash", "coding", position, None if position is None else True, ("a1",), None, None)


def test_an_item_is_known_for_ever(either: Store, monitor: int) -> None:
    many = [_item(f"i{i}", i, i) for i in range(1, 1_201)]
    with either.begin() as tx:
        items.add(tx, [items.row_of(monitor, one) for one in many])
        known = items.known(tx, monitor, [f"i{i}" for i in range(600, 2_000)])
    assert known == {one.item_id: one for one in many[599:]}


def test_waiting_items_keep_their_order_and_their_answers(either: Store, monitor: int) -> None:
    with either.begin() as tx:
        items.add(tx, [items.row_of(monitor, _item(name, n)) for n, name in enumerate("zyx", 1)])
        items.keep_cheap(tx, [(monitor, "x", {"scores": [0.1 + 0.2]})])
        assert [(one.item_id, one.cheap) for one in items.waiting(tx, monitor, limit=9)] == [
            ("z", None),
            ("y", None),
            ("x", {"scores": [0.1 + 0.2]}),
        ]
        items.place(tx, [items.place_row(monitor, "z", 7, False, ())])
        assert [one.item_id for one in items.waiting(tx, monitor, limit=9)] == ["y", "x"]
        placed = items.known(tx, monitor, ["z"])["z"]
        assert (placed.position, placed.asked, placed.anchors) == (7, False, ())
        assert (items.count_waiting(tx, monitor), items.last_waiting(tx, monitor)) == (2, 3)
        items.mark_strong(tx, [(monitor, "z", b"scores")])
        assert items.known(tx, monitor, ["z"])["z"].strong_hash == b"scores"


def test_texts_go_with_age_once_no_judge_needs_them_and_evidence_stays(either: Store, monitor: int) -> None:
    with either.begin() as tx:
        rows = [("old", False, 1.0), ("needed", True, 1.0), ("new", False, 9.0)]
        payloads.add(
            tx, [payloads.row_of(monitor, "item", n, "coding", {"t": n}, needed=x, at=at) for n, x, at in rows]
        )
        payloads.add(tx, [payloads.row_of(monitor, "anchor", "old", "", {"t": "anchor"}, needed=False, at=0.0)])
        assert payloads.purge(tx, monitor, before=5.0) == 1
        assert set(payloads.get(tx, monitor, "item", ["old", "needed", "new"])) == {"needed", "new"}
        payloads.release(tx, [(monitor, "needed")])
        assert payloads.purge(tx, monitor, before=5.0) == 1
        assert payloads.get(tx, monitor, "anchor", ["old"])["old"].fields == {"t": "anchor"}
        payloads.rename(tx, monitor, "anchor", "former")
        assert payloads.get(tx, monitor, "anchor", ["old"]) == {}


def test_setup_calls_are_answered_once(either: Store, monitor: int) -> None:
    calls = [SetupCall("baseline", p, i, f"a{i}", "", None) for p in range(2) for i in range(2)]
    with either.begin() as tx:
        setup_calls.add(tx, monitor, calls)
        assert setup_calls.record(tx, monitor, calls[0], [0.5])
        assert not setup_calls.record(tx, monitor, calls[0], [0.9])
        assert setup_calls.progress(tx, monitor) == (1, 4)
        assert [one.subject for one in setup_calls.wanted(tx, monitor, limit=9)] == ["a1", "a0", "a1"]
        assert [one.scores for one in setup_calls.everything(tx, monitor)] == [[0.5], None, None, None]
        setup_calls.clear(tx, monitor)
        assert setup_calls.progress(tx, monitor) == (0, 0)


def test_a_trace_never_has_more_points_than_its_limit(either: Store, monitor: int) -> None:
    stride = 1
    with either.begin() as tx:
        for position in range(1, 4_001):
            if position // stride >= trace.MOST_POINTS:
                stride *= 2
                trace.thin(tx, monitor, stride)
            if position % stride == 0:
                trace.add(tx, [trace.row_of(monitor, trace.Point(position, 0.5, None, 1, 2, 3.0))])
        points = trace.read(tx, monitor)
    assert stride == trace.stride_of(4_000) == 8
    assert [point.position for point in points] == list(range(8, 4_001, 8))


def test_rescores_are_summed_and_start_anew_with_an_epoch(either: Store, monitor: int) -> None:
    one = rescores.Rescored("a", 1, 0, 0, (), None, 0.0)
    one = one.with_scores((0.5, 1.0), 1.0).with_scores(None, 2.0).with_scores((0.25, 0.0), 3.0)
    with either.begin() as tx:
        for _ in range(2):
            rescores.write(tx, monitor, {"a": one})
        assert rescores.read(tx, monitor, epoch=1) == {"a": one}
        assert rescores.read(tx, monitor, epoch=2) == {}
    assert (one.count, one.unscored, one.totals, one.last) == (2, 1, (0.75, 1.0), (0.25, 0.0))


def test_spending_adds_up_by_day(either: Store, monitor: int) -> None:
    key = (monitor, "2026-01-01", "strong", "f")
    with either.begin() as tx:
        for _ in range(3):
            spending.add(tx, {key: spending.Spent(answers=1, calls=2, dollars=0.25)})
        spending.add(tx, {(monitor, "2026-01-02", "cheap", "f"): spending.Spent(answers=1, dollars=1.0)})
        assert spending.lines(tx, monitor, limit=9)[1] == (key, spending.Spent(answers=3, calls=6, dollars=0.75))
        assert spending.dollars(tx, monitor, day="2026-01-01") == 0.75
        assert spending.dollars(tx, monitor) == 1.75


def test_a_condition_is_open_once_and_told_twice(either: Store, monitor: int) -> None:
    with either.begin() as tx:
        opened = conditions.open_(tx, monitor, "m", "no_data", detail="silence", at=1.0)
        assert conditions.open_(tx, monitor, "m", "no_data", detail="silence", at=2.0) is None
        assert conditions.open_kinds(tx, [monitor]) == {monitor: ("no_data",)}
        closed = conditions.close(tx, monitor, "m", "no_data", detail="items", at=3.0)
        assert conditions.close(tx, monitor, "m", "no_data", detail="items", at=4.0) is None
        assert outbox.messages(tx, after=0) == [opened, closed]
        assert opened is not None
        assert closed is not None
        assert opened.dedup_key == closed.dedup_key
        (row,) = conditions.page(tx, monitor_id=monitor, open_only=False, limit=9)
        assert (row.opened_at, row.closed_at, row.detail) == (1.0, 3.0, "silence")


def test_the_same_key_gets_the_same_answer_and_another_body_none(either: Store) -> None:
    with either.begin() as tx:
        assert idempotency.answer(tx, "me", "k", "body") is None
        idempotency.keep(tx, "me", "k", "body", {"answer": [1]}, at=1.0)
        assert idempotency.answer(tx, "me", "k", "body") == {"answer": [1]}
        assert idempotency.answer(tx, "you", "k", "other") is None
        with pytest.raises(KeyReusedError, match="another request"):
            idempotency.answer(tx, "me", "k", "other")
        assert idempotency.forget(tx, before=2.0) == 1
        assert idempotency.answer(tx, "me", "k", "other") is None


def test_a_name_is_given_once(either: Store, monitor: int) -> None:
    with either.begin() as tx:
        with pytest.raises(KeyReusedError, match="already"):
            registry.create(tx, name="m", config={}, settings={}, at=0.0)
        registry.create(tx, name="n", config={"a": 1}, settings={}, at=0.0)
        registry.change(tx, monitor, state="archived", summary={"position": 3})
        assert [row.name for row in registry.page(tx, after="", limit=9, archived=False)] == ["n"]
        assert [row.name for row in registry.page(tx, after="m", limit=9, archived=True)] == ["n"]
        found = registry.get(tx, "m")
        assert found is not None
        assert found.summary == {"position": 3}


def test_the_audit_trail_is_read_newest_first(store: Store) -> None:
    with store.begin() as tx:
        for i in range(3):
            audit.note(tx, actor=f"p{i}", action="x", monitor="m" if i else "", detail={"i": i}, at=float(i))
        acts = audit.page(tx, limit=2)
        assert [act.actor for act in acts] == ["p2", "p1"]
        assert [act.actor for act in audit.page(tx, before=acts[-1].id)] == ["p0"]
        assert [act.detail for act in audit.page(tx, monitor="m")] == [{"i": 2}, {"i": 1}]
