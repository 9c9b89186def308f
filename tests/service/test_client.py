"""The client sends until it was answered, and what it sends happens once."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from driftjudge import Failure, MonitorConfig
from driftjudge.service.client import Client, ClientError, ProblemError, new_item
from tests.service.api.world import CONFIG, RUBRICS, STRATA, World, anchor_set, batch, calibration, running


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with running(tmp_path) as made:
        yield made


@pytest.fixture
def client(world: World) -> Iterator[Client]:
    with Client(world.url) as made:
        yield made


def _watching(client: Client, **config: Any) -> None:
    client.create_monitor("bot", MonitorConfig(rubrics=tuple(RUBRICS), strata=tuple(STRATA), seed=7, **config))
    client.upload_anchors("bot", anchor_set())
    client.freeze_anchors("bot")
    client.calibrate("bot", calibration())


def test_a_monitor_is_driven_through_its_life(client: Client) -> None:
    _watching(client, budget=1.0, acquisition="uniform", anchor_every=1)
    first = client.send("bot", "i1", "coding", [0.75, 0.5])
    assert (first.position, first.strong) == (1, True)
    assert client.wanted("bot").items == ["i1"]
    assert client.record_strong("bot", {"i1": Failure("refusal")}).taken == 1
    assert client.record_anchors("bot", [(first.anchors[0], [0.5, 0.5])], fingerprint="j1").taken == 1
    items = [new_item("i2", "coding", {"helpfulness": 0.5, "correctness": 1.0}, strong=[0.5, 0.5])]
    assert [item.position for item in client.send_many("bot", items)] == [2]
    assert client.verdict("bot").kind == "none"
    assert client.evidence("bot").cost.strong_unscored == 1
    assert client.trace("bot").position[-1] == 2
    assert client.costs("bot").relative is not None
    assert client.anchors("bot", limit=3).total == 40
    assert next(client.events("bot")).kind == "Observed"
    assert client.alarms("bot") == []
    assert [monitor.name for monitor in client.monitors()] == ["bot"]
    assert client.monitor("bot").config["rubrics"] == RUBRICS


def test_a_drop_is_acknowledged_and_closed(client: Client) -> None:
    client.create_monitor("bot", CONFIG)
    client.calibrate("bot", calibration())
    for start in range(0, 2_000, 100):
        rows = [{**item, "cheap": [0.0, 0.0], "strong": [0.0, 0.0]} for item in batch(start, 100)]
        client.send_many("bot", rows)
        if client.verdict("bot").kind != "none":
            break
    change = next(change for change in client.changes("bot", after=0) if change.id is not None)
    assert change.monitor == "bot"
    assert client.acknowledge("bot", note="seen").state == "acknowledged"
    (alarm,) = client.alarms("bot")
    assert client.close_alarm("bot", alarm.id).state == "closed"


def test_a_refusal_is_an_error_that_says_what_to_do(client: Client) -> None:
    with pytest.raises(ProblemError, match="'nobody'") as refused:
        client.verdict("nobody")
    assert refused.value.status == 404
    with pytest.raises(ProblemError) as invalid:
        client.create_monitor("a b", CONFIG)
    assert invalid.value.errors[0]["where"] == "body.name"


def test_a_key_opens_what_is_locked(world: World, client: Client) -> None:
    key = client.create_key("me", "admin").key
    with pytest.raises(ProblemError, match="no API key was given"):
        client.me()
    with Client(world.url, key) as keyed:
        assert keyed.me().role == "admin"
        limited = keyed.create_key("ci", "ingest", ["bot"])
        assert limited.monitors == ["bot"]


def test_the_same_key_for_another_body_is_a_conflict(client: Client) -> None:
    _watching(client)
    client.send_many("bot", batch(0, 2), idempotency_key="k")
    with pytest.raises(ProblemError) as refused:
        client.send_many("bot", batch(0, 3), idempotency_key="k")
    assert refused.value.status == 409


@contextmanager
def _scripted(*answers: tuple[int, dict[str, str], Any] | None) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A server that answers by the script (None: hangs up), and the headers of what it was sent."""
    script, seen = list(answers), []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            seen.append(dict(self.headers))
            answer = script.pop(0)
            if answer is None:
                self.close_connection = True
                self.connection.close()
                return
            status, headers, body = answer
            text = json.dumps(body).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(text))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


PLACED = {"id": "i", "number": 1, "position": 1, "strong": False, "anchors": []}
BUSY = {"type": "urn:x", "title": "Too many requests", "status": 429, "detail": "come back"}


def test_what_was_not_answered_is_sent_again_under_the_same_key() -> None:
    pauses: list[float] = []
    answers: Any = ((429, {"Retry-After": "7"}, BUSY), None, (503, {}, BUSY), (200, {}, PLACED))
    with _scripted(*answers) as (url, seen), Client(url, sleep=pauses.append) as client:
        assert client.send("bot", "i", "s", [0.5]).position == 1
    assert len({headers["Idempotency-Key"] for headers in seen}) == 1
    assert len(seen) == 4
    assert pauses[0] == 7.0
    assert all(0.0 < pause <= 30.0 for pause in pauses)


def test_two_calls_have_two_keys() -> None:
    with _scripted((200, {}, PLACED), (200, {}, PLACED)) as (url, seen), Client(url) as client:
        client.send("bot", "i", "s", [0.5])
        client.send("bot", "j", "s", [0.5])
    assert len({headers["Idempotency-Key"] for headers in seen}) == 2


def test_after_the_last_attempt_the_last_error_is_raised() -> None:
    def failing(url: str) -> None:
        with Client(url, attempts=2, sleep=lambda _: None) as client:
            client.send("bot", "i", "s", [0.5])

    with _scripted((429, {}, BUSY), (429, {}, BUSY)) as (url, _), pytest.raises(ProblemError, match="come back"):
        failing(url)
    with _scripted(None, None) as (url, _), pytest.raises(ClientError, match="did not answer"):
        failing(url)


def test_a_refusal_is_not_sent_again() -> None:
    refused = {"type": "urn:x", "title": "t", "status": 422, "detail": "no"}
    with _scripted((422, {}, refused)) as (url, seen), Client(url) as client, pytest.raises(ProblemError):
        client.send("bot", "i", "s", [0.5])
    assert len(seen) == 1


def test_a_new_key_is_asked_for_once_only() -> None:
    with _scripted(None) as (url, seen), Client(url, sleep=lambda _: None) as client, pytest.raises(ClientError):
        client.create_key("me", "admin")
    assert len(seen) == 1


def test_something_else_at_the_address_is_told_apart() -> None:
    with _scripted((200, {}, {"hello": "world"}), (404, {}, "nope")) as (url, _), Client(url) as client:
        for _ in range(2):
            with pytest.raises(ClientError, match="like a driftjudge service"):
                client.send("bot", "i", "s", [0.5])
