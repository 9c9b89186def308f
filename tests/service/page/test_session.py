"""Cookies: ours or nothing."""

from __future__ import annotations

import pytest

from driftjudge.service.access import Principal
from driftjudge.service.page.session import LIFETIME, Sessions

KEYED = Principal("key:0011223344556677", "read", ("shop",))


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def sessions() -> Sessions:
    return Sessions(Clock(), "a secret for the tests")


@pytest.mark.parametrize("principal", [None, KEYED, Principal("environment", "admin")])
def test_a_session_comes_back_from_its_cookie(sessions: Sessions, principal: Principal | None) -> None:
    session = sessions.begin(principal)
    assert sessions.read(sessions.cookie(session)) == session


def test_a_changed_or_foreign_cookie_is_none(sessions: Sessions) -> None:
    cookie = sessions.cookie(sessions.begin(KEYED))
    text, _, signature = cookie.rpartition(".")
    other = signature[:-1] + ("1" if signature.endswith("0") else "0")
    for forged in ("", "x", "x.y", f"{text}.", f"{text}A.{signature}", f"{text}.{other}", "." * 9_000):
        assert sessions.read(forged) is None, forged
    assert sessions.read(Sessions(Clock(), "another secret").cookie(sessions.begin(KEYED))) is None
    assert sessions.read("é.ü") is None


def test_two_processes_with_one_secret_know_each_other(sessions: Sessions) -> None:
    session = sessions.begin(KEYED)
    assert Sessions(Clock(), "a secret for the tests").read(sessions.cookie(session)) == session


def test_a_session_ends_by_itself() -> None:
    clock = Clock()
    sessions = Sessions(clock)
    cookie = sessions.cookie(sessions.begin(KEYED))
    clock.now += LIFETIME - 1
    assert sessions.read(cookie) is not None
    clock.now += 1
    assert sessions.read(cookie) is None


def test_a_form_belongs_to_one_session(sessions: Sessions) -> None:
    mine, other = sessions.begin(KEYED), sessions.begin(KEYED)
    assert sessions.is_ours(mine, sessions.token(mine))
    assert not sessions.is_ours(mine, sessions.token(other))
    assert not sessions.is_ours(mine, "")
    assert not sessions.is_ours(mine, "ü")


def test_a_cookie_holds_no_token_of_its_forms(sessions: Sessions) -> None:
    session = sessions.begin(KEYED)
    assert sessions.token(session) not in sessions.cookie(session)
