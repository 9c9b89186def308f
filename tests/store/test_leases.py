from __future__ import annotations

import threading

import pytest

from driftjudge.store import Store, leases, registry


@pytest.fixture
def monitor(either: Store) -> int:
    with either.begin() as tx:
        return registry.create(tx, name="m", config={}, settings={}, at=0.0)


def _take(store: Store, monitor: int, owner: str, now: float) -> leases.Lease:
    with store.begin() as tx:
        return leases.take(tx, monitor, owner=owner, address=f"http://{owner}", now=now, until=now + 10.0)


def test_a_free_monitor_is_taken_and_a_held_one_names_its_holder(either: Store, monitor: int) -> None:
    assert _take(either, monitor, "a", 0.0) == leases.Lease(monitor, "a", "http://a", 1, 10.0)
    assert _take(either, monitor, "b", 5.0) == leases.Lease(monitor, "a", "http://a", 1, 10.0)


def test_an_expired_lease_changes_hands_under_a_higher_token(either: Store, monitor: int) -> None:
    first = _take(either, monitor, "a", 0.0)
    second = _take(either, monitor, "b", 10.0)
    assert (second.owner, second.token) == ("b", first.token + 1)
    with either.begin() as tx:
        assert leases.lost(tx, {monitor: first.token}) == {monitor}
        assert leases.lost(tx, {monitor: second.token}) == set()


def test_the_same_owner_takes_its_own_back_at_once(either: Store, monitor: int) -> None:
    first = _take(either, monitor, "a", 0.0)
    assert _take(either, monitor, "a", 1.0).token == first.token + 1


def test_renewing_keeps_what_is_ours_and_only_that(either: Store, monitor: int) -> None:
    first = _take(either, monitor, "a", 0.0)
    with either.begin() as tx:
        assert leases.renew(tx, {monitor: first.token}, now=9.0, seconds=10.0) == {monitor}
        assert leases.expired(tx, now=18.9, limit=10) == []
        assert leases.expired(tx, now=19.0, limit=10) == [monitor]
    _take(either, monitor, "b", 20.0)
    with either.begin() as tx:
        assert leases.renew(tx, {monitor: first.token}, now=21.0, seconds=10.0) == set()


def test_a_released_monitor_is_free(either: Store, monitor: int) -> None:
    first = _take(either, monitor, "a", 0.0)
    with either.begin() as tx:
        leases.release(tx, {monitor: first.token})
    assert _take(either, monitor, "b", 0.1).owner == "b"


def test_of_many_who_try_at_once_one_gets_it(either: Store, monitor: int) -> None:
    _take(either, monitor, "old", 0.0)
    got: list[leases.Lease] = []
    threads = [threading.Thread(target=lambda i=i: got.append(_take(either, monitor, f"p{i}", 11.0))) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {lease.token for lease in got} == {2}
    assert len({lease.owner for lease in got}) == 1
