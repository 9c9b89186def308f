"""The stream of changes: what happens arrives, what was missed is made up, and nothing waits for ever."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.service.api.world import World, batch, checked_problem, running, watching


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[World]:
    with running(tmp_path, heartbeat_seconds=0.05, max_streams=2) as made:
        yield made


def _drop(world: World, name: str = "bot") -> None:
    """Without anchors, bad scores alone open an alarm."""
    for first in range(0, 2_000, 100):
        items = [{**item, "cheap": [0.0, 0.0], "strong": [0.0, 0.0]} for item in batch(first, 100)]
        world.call("POST", f"/monitors/{name}/items/batch", {"items": items})
        if world.call("GET", f"/monitors/{name}/verdict")["kind"] != "none":
            return
    raise AssertionError("no alarm")


def _changes(source: httpx2.EventSource, count: int) -> list[dict[str, Any]]:
    """The next changes that are more than progress."""
    found = []
    for event in source:
        if event.data and event.event != "progress":
            change = json.loads(event.data)
            assert (event.event, event.id) == (change["kind"], str(change["id"]))
            found.append(change)
            if len(found) == count:
                return found
    raise AssertionError("the stream ended")


def test_an_alarm_arrives_while_the_stream_is_open(quick: World) -> None:
    watching(quick, anchors=[])
    with quick.http.sse("/api/v1/changes") as source:
        assert source.response.headers["content-type"].startswith("text/event-stream")
        with httpx2.Client(base_url=quick.url, timeout=30.0) as other:
            _drop(World(quick.url, quick.service, quick.access, quick.app, other, quick.server))
        (change,) = _changes(source, 1)
    assert (change["monitor"], change["payload"]["verdict"]["kind"]) == ("bot", "unattributed")


def test_what_was_missed_is_made_up_from_the_last_event(quick: World) -> None:
    watching(quick, anchors=[])
    _drop(quick)
    with quick.http.sse("/api/v1/changes", headers={"Last-Event-ID": "0"}) as source:
        (first,) = _changes(source, 1)
    quick.call("POST", "/monitors/bot/acknowledge", {})
    with quick.http.sse("/api/v1/monitors/bot/changes", headers={"Last-Event-ID": str(first["id"])}) as source:
        (second,) = _changes(source, 1)
    assert first["payload"]["verdict"]["kind"] == "unattributed"
    assert second["kind"] == "acknowledged"


def test_a_stream_hears_only_of_what_its_key_may_read(quick: World) -> None:
    for name in ("mine", "theirs"):
        watching(quick, name, anchors=[])
    admin = quick.call("POST", "/keys", {"label": "a", "role": "admin"}, status=201)["key"]
    quick.http.headers["Authorization"] = f"Bearer {admin}"
    key = quick.call("POST", "/keys", {"label": "m", "role": "read", "monitors": ["mine"]}, status=201)["key"]
    _drop(quick, "theirs")
    _drop(quick, "mine")
    headers = {"Last-Event-ID": "0", "Authorization": f"Bearer {key}"}
    with quick.http.sse("/api/v1/changes", headers=headers) as source:
        (change,) = _changes(source, 1)
    assert change["monitor"] == "mine"


def test_a_silent_stream_says_that_it_is_alive(quick: World) -> None:
    with quick.http.stream("GET", "/api/v1/changes") as response:
        lines = response.iter_lines()
        seen = [next(lines) for _ in range(4)]
    assert seen[0].startswith("retry: ")
    assert ": still here" in seen


def test_there_are_so_many_streams_and_no_more(quick: World) -> None:
    with httpx2.Client(base_url=quick.url) as other, other.stream("GET", "/api/v1/changes") as first:
        lines = first.iter_lines()
        next(lines)
        with other.stream("GET", "/api/v1/changes") as second:
            more_lines = second.iter_lines()
            next(more_lines)
            response = quick.http.get("/api/v1/changes")
            assert "2 streams are open already" in checked_problem(response, 429)["detail"]
            assert response.headers["retry-after"] == "30"


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "9" * 30])
def test_a_last_event_id_is_a_number_of_ours(quick: World, last: str) -> None:
    checked_problem(quick.http.get("/api/v1/changes", headers={"Last-Event-ID": last}), 422)


def test_the_changes_of_an_unknown_monitor_are_not_found(quick: World) -> None:
    quick.problem("GET", "/monitors/nobody/changes", status=404)


def test_an_open_stream_does_not_hold_up_the_shutdown(tmp_path: Path) -> None:
    with (
        running(tmp_path, heartbeat_seconds=3_600.0) as world,
        httpx2.Client(base_url=world.url, timeout=20.0) as other,
        other.stream("GET", "/api/v1/changes") as response,
    ):
        lines = response.iter_lines()
        next(lines)
        world.server.handle_exit(0, None)
        assert list(lines) == [""]


@pytest.mark.parametrize("busy", [False, True])
def test_a_stream_ends_with_the_key_that_opened_it(quick: World, busy: bool) -> None:
    watching(quick, anchors=[])
    admin = quick.call("POST", "/keys", {"label": "a", "role": "admin"}, status=201)["key"]
    quick.http.headers["Authorization"] = f"Bearer {admin}"
    made = quick.call("POST", "/keys", {"label": "r", "role": "read"}, status=201)
    with (
        httpx2.Client(base_url=quick.url, timeout=20.0, headers={"Authorization": f"Bearer {made['key']}"}) as reader,
        reader.stream("GET", "/api/v1/changes") as response,
    ):
        lines = response.iter_lines()
        while next(lines) != ": still here":
            pass
        quick.call("DELETE", f"/keys/{made['id']}", status=204)
        for number, _ in enumerate(lines):  # ends, because the service ends it
            assert number < 1_000, "it goes on for ever"
            if busy:
                quick.call("POST", "/monitors/bot/items/batch", {"items": batch(10 * number, 10)})
        checked_problem(reader.get("/api/v1/changes"), 401)
