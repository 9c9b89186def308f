"""Who comes in: nobody through a proxy without a key, and nobody with a form that is not ours."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from driftjudge.service.access import LOOPBACK, Access, UnauthorisedError
from driftjudge.service.page.door import Door, NeedsLogin
from driftjudge.service.page.routes import _form
from driftjudge.service.page.session import COOKIE, Sessions
from driftjudge.store import open_store


def _request(body: bytes = b"", **headers: str) -> Request:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": raw}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    return Request(scope, receive)


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    store = open_store(tmp_path / "door.db")
    yield Door(Access(store), Sessions(lambda: 0.0))
    store.close()


def test_this_machine_comes_in_while_there_is_no_key(door: Door) -> None:
    assert door.visit(_request()).principal == LOOPBACK


@pytest.mark.parametrize("header", ["x_forwarded_for", "forwarded"])
def test_nobody_comes_in_through_a_proxy_without_a_key(door: Door, header: str) -> None:
    cookie = door.sessions.cookie(door.sessions.begin(LOOPBACK))  # what an empty login form would give
    for headers in ({}, {"cookie": f"{COOKIE}={cookie}"}):
        with pytest.raises(NeedsLogin):
            door.visit(_request(b"", **{header: "203.0.113.9", **headers}))


def test_a_key_comes_in_through_a_proxy_until_it_is_revoked(door: Door) -> None:
    key, text = door.access.create(label="ann", role="admin", by="loopback")
    door.access.create(label="bob", role="admin", by="loopback")
    cookie = door.sessions.cookie(door.sessions.begin(door.access.authenticate(text, "203.0.113.9")))
    request = _request(x_forwarded_for="203.0.113.9", cookie=f"{COOKIE}={cookie}")
    assert door.visit(request).principal.actor == f"key:{key.id}"
    door.access.revoke(key.id, by="loopback")
    with pytest.raises(NeedsLogin):
        door.visit(request)


def test_a_form_with_more_fields_than_any_of_ours_is_empty() -> None:
    assert asyncio.run(_form(_request(b"a=1&b="))) == {"a": "1", "b": ""}
    assert asyncio.run(_form(_request(b"&".join(b"a%d=1" % i for i in range(21))))) == {}


def _cookie(door: Door) -> str:
    return door.admit(Response(), _request(), LOOPBACK).headers["set-cookie"].lower()


def test_behind_a_proxy_that_ends_https_the_cookie_is_secure_all_the_same(door: Door) -> None:
    assert "secure" not in _cookie(door)
    assert "secure" in _cookie(Door(door.access, door.sessions, secure=True))


def test_what_stays_open_is_refused_once_its_session_is_worth_nothing(door: Door) -> None:
    door.check(_request())
    door.access.create(label="ann", role="admin", by="loopback")
    with pytest.raises(UnauthorisedError, match="log in again"):
        door.check(_request())
