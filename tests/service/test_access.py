"""Keys open what their role says, are kept as hashes, and wrong ones are refused slowly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from driftjudge.service.access import LOOPBACK, Access, Failures, Principal, Role, UnauthorisedError, UnknownKeyError
from driftjudge.service.errors import BackPressureError, BadRequestError, ConflictError
from driftjudge.store import Store, audit, open_store

HERE = "127.0.0.1"


class Time:
    """A clock in the test's hand."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "keys.db")
    yield opened
    opened.close()


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def access(store: Store, time: Time) -> Access:
    return Access(store, clock=time)


def _admin(access: Access) -> str:
    return access.create(label="admin", role="admin", by="loopback")[1]


def test_without_any_key_this_machine_may_do_everything(access: Access) -> None:
    assert access.authenticate(None, HERE) == LOOPBACK
    assert LOOPBACK.may("admin")


def test_from_the_first_key_on_nothing_works_without_one(access: Access) -> None:
    assert access.authenticate(None, HERE) == LOOPBACK
    key = _admin(access)
    assert access.recall(None) is None
    with pytest.raises(UnauthorisedError, match="no API key was given; send it as"):
        access.authenticate(None, HERE)
    assert access.authenticate(key, HERE).role == "admin"


def test_a_key_made_by_another_process_locks_this_one_too(store: Store, access: Access, time: Time) -> None:
    assert access.recall(None) is None
    assert access.authenticate(None, HERE) == access.recall(None) == LOOPBACK
    _admin(Access(store))
    time.now += 6.0
    with pytest.raises(UnauthorisedError):
        access.authenticate(None, HERE)


def test_away_from_loopback_a_key_is_needed_from_the_start(store: Store) -> None:
    access = Access(store, open_on_loopback=False)
    assert not access.has_key
    with pytest.raises(UnauthorisedError):
        access.authenticate(None, HERE)


def test_the_first_key_must_be_able_to_make_others(access: Access) -> None:
    with pytest.raises(ConflictError, match="the first key must be an admin key for all monitors"):
        access.create(label="ci", role="ingest", by="loopback")
    with pytest.raises(ConflictError):
        access.create(label="ops", role="admin", monitors=["m"], by="loopback")
    assert access.rows() == []


def test_only_a_hash_of_a_key_is_kept(store: Store, access: Access) -> None:
    secret = _admin(access).rpartition("_")[2]
    with store.read() as tx:
        (row,) = tx.execute(text("SELECT * FROM api_keys")).all()
    assert secret not in repr(tuple(row))


@pytest.mark.parametrize(
    "wrong", ["", "x", "dj_", "dj_abc_def", "dj_0123456789ab_" + "A" * 43, "é" * 50, "\ud800", "k" * 10_000]
)
def test_a_wrong_key_is_refused(access: Access, wrong: str) -> None:
    _admin(access)
    with pytest.raises(UnauthorisedError, match="unknown or was revoked"):
        access.authenticate(wrong, HERE)


def test_the_right_id_with_a_wrong_secret_is_refused(access: Access) -> None:
    key = _admin(access)
    flipped = key[:-1] + ("A" if key[-1] != "A" else "B")
    with pytest.raises(UnauthorisedError):
        access.authenticate(flipped, HERE)


def test_the_key_of_the_environment_is_an_administrators_and_is_not_stored(store: Store) -> None:
    access = Access(store, environment_key="e" * 32)
    assert access.authenticate("e" * 32, HERE) == Principal("environment", "admin")
    assert access.rows() == []
    with pytest.raises(UnauthorisedError):
        access.authenticate(None, HERE)


@pytest.mark.parametrize(
    ("role", "may"),
    [("admin", {"admin", "read", "ingest"}), ("read", {"read"}), ("ingest", {"ingest"})],
)
def test_a_role_grants_what_it_says_and_no_more(role: Role, may: set[Role]) -> None:
    roles: tuple[Role, ...] = ("admin", "read", "ingest")
    assert {wanted for wanted in roles if Principal("key:x", role).may(wanted, "m")} == may


def test_a_key_for_some_monitors_opens_those_and_not_the_service(access: Access) -> None:
    admin = access.authenticate(_admin(access), HERE)
    _, key = access.create(label="ci", role="admin", monitors=["a", "b", "a"], by=admin.actor)
    limited = access.authenticate(key, HERE)
    assert limited.monitors == ("a", "b")
    assert limited.may("admin", "a")
    assert not limited.may("read", "c")
    assert not limited.may("admin")


def test_a_revoked_key_opens_nothing_at_once(access: Access) -> None:
    _admin(access)
    row, key = access.create(label="ci", role="read", by="x")
    principal = access.authenticate(key, HERE)
    assert access.renewed(principal) == principal
    access.revoke(row.id, by="x")
    access.revoke(row.id, by="x")
    with pytest.raises(UnauthorisedError):
        access.authenticate(key, HERE)
    with pytest.raises(UnauthorisedError, match="was revoked; log in with another one"):
        access.renewed(principal)


def test_another_process_notices_a_revocation_within_seconds(store: Store, access: Access, time: Time) -> None:
    _admin(access)
    row, key = access.create(label="ci", role="read", by="x")
    other = Access(store, clock=time)
    assert other.authenticate(key, HERE) == other.recall(key)
    access.revoke(row.id, by="x")
    time.now += 6.0
    with pytest.raises(UnauthorisedError):
        other.authenticate(key, HERE)


def test_the_last_admin_key_cannot_be_revoked(access: Access) -> None:
    _admin(access)
    (row,) = access.rows()
    with pytest.raises(ConflictError, match="the last admin key; create another one before"):
        access.revoke(row.id, by="x")
    _admin(access)
    access.revoke(row.id, by="x")
    assert sorted(key.revoked_at is None for key in access.rows()) == [False, True]


def test_an_unknown_key_cannot_be_revoked(access: Access) -> None:
    with pytest.raises(UnknownKeyError, match="no key has the id 'abc'"):
        access.revoke("abc", by="x")


@pytest.mark.parametrize("label", ["", "x" * 81, "two\nlines"])
def test_a_label_is_a_short_line(access: Access, label: str) -> None:
    with pytest.raises(BadRequestError, match="the label is"):
        access.create(label=label, role="admin", by="x")


def test_every_act_on_keys_is_in_the_audit_trail_without_the_key(store: Store, access: Access) -> None:
    _admin(access)
    row, key = access.create(label="ci", role="read", by="key:abc")
    access.revoke(row.id, by="key:abc")
    with store.read() as tx:
        acts = audit.page(tx)
    assert [act.action for act in acts] == ["key_revoked", "key_created", "key_created"]
    assert acts[0].actor == "key:abc"
    assert key.rpartition("_")[2] not in repr(acts)


def test_a_session_of_the_environment_ends_with_it(store: Store) -> None:
    principal = Access(store, environment_key="e" * 32).authenticate("e" * 32, HERE)
    with pytest.raises(UnauthorisedError):
        Access(store).renewed(principal)
    assert Access(store).renewed(LOOPBACK) == LOOPBACK


def test_after_ten_wrong_keys_an_address_has_to_wait(access: Access, time: Time) -> None:
    key = _admin(access)
    for _ in range(10):
        with pytest.raises(UnauthorisedError):
            access.authenticate("wrong", "10.0.0.9")
    with pytest.raises(BackPressureError) as error:
        access.authenticate(key, "10.0.0.9")
    assert error.value.retry_after == 60.0
    assert access.authenticate(key, "10.0.0.8").role == "admin"
    time.now += 61.0
    assert access.authenticate(key, "10.0.0.9").role == "admin"


def test_a_key_in_use_is_not_locked_out_by_a_neighbours_guesses(access: Access) -> None:
    key = _admin(access)
    access.authenticate(key, HERE)
    for _ in range(10):
        with pytest.raises(UnauthorisedError):
            access.authenticate("wrong", HERE)
    assert access.authenticate(key, HERE).role == "admin"


def test_an_ipv6_subscriber_is_one_address_however_many_it_has() -> None:
    failures = Failures(most=2)
    failures.add("2001:db8::1")
    failures.add("2001:db8::2")
    with pytest.raises(BackPressureError):
        failures.check("2001:db8::3")
    failures.check("2001:db8:1::1")


def test_the_memory_of_failures_is_bounded() -> None:
    failures = Failures(most=1, addresses=3)
    for last in range(5):
        failures.add(f"10.0.0.{last}")
    failures.check("10.0.0.0")
    with pytest.raises(BackPressureError):
        failures.check("10.0.0.4")


def test_a_neighbours_wrong_keys_do_not_keep_out_who_came_in_before(access: Access, time: Time) -> None:
    key = _admin(access)
    access.authenticate(key, HERE)
    for _ in range(10):
        with pytest.raises(UnauthorisedError):
            access.authenticate("dj_000000000000_wrong", HERE)
    time.now += 6.0  # what was remembered must be looked up again
    assert access.authenticate(key, HERE).role == "admin"
    with pytest.raises(BackPressureError):
        access.authenticate("dj_000000000000_wrong", HERE)


def test_however_many_keys_were_revoked_the_door_stays_locked(
    access: Access, store: Store, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = access.create(label="admin", role="admin", by="loopback")[0]
    spare = access.create(label="spare", role="admin", by="loopback")[0]
    monkeypatch.setattr("driftjudge.store.keys.MOST_KEYS", 2)
    for _ in range(2):
        time.now += 10.0
        access.revoke(access.create(label="newer", role="read", by="loopback")[0].id, by="loopback")
    time.now += 10.0
    assert all(one.revoked_at is not None for one in access.rows()), "the list ends before the keys in force"
    other = Access(store, clock=time)
    assert other.locked
    assert other.has_key
    assert other.renewed(Principal(f"key:{key.id}", "admin")).actor == f"key:{key.id}"
    other.revoke(spare.id, by="loopback")
    with pytest.raises(ConflictError, match="last admin key"):
        other.revoke(key.id, by="loopback")
