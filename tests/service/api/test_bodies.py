"""Whatever is sent, the answer has one shape and says what to do."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from driftjudge.service.api import gate
from tests.service.api.world import World, checked_problem, running

JSON = {"Content-Type": "application/json"}
ITEMS = "/api/v1/monitors/bot/items"


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        (b"", 422, "body"),
        (b"{", 400, "the body is not JSON"),
        (b"nonsense", 400, "the body is not JSON"),
        (b'{"id": NaN}', 422, "NaN, which is not JSON"),
        (b'{"id": Infinity}', 422, "Infinity, which is not JSON"),
        (b'{"id": 1e999}', 422, "1e999, which is not finite"),
        (b'{"id": ' + b"9" * 5_000 + b"}", 400, "a number that is too long"),
        (b"[" * 100_000, 400, "nested too deeply"),
        (b"\xff\xfe", 400, "not UTF-8 at byte 0"),
        (b"[]", 422, "body"),
        (b'"text"', 422, "body"),
        (b"null", 422, "body"),
        (b'{"id": "\\ud800", "stratum": "s", "cheap": [0.5]}', 422, "body.id"),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_a_body_that_cannot_be_read_is_told_why(shared: World, body: bytes, status: int, told: str) -> None:
    response = shared.http.post(ITEMS, content=body, headers=JSON)
    assert told in checked_problem(response, status)["detail"]


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1", "json", ""]
)
def test_only_json_is_taken(shared: World, kind: str) -> None:
    response = shared.http.post(ITEMS, content=b"{}", headers={"Content-Type": kind})
    assert "Content-Type: application/json" in checked_problem(response, 415)["detail"]


def test_a_misspelt_parameter_is_told_what_was_meant(shared: World) -> None:
    assert "did you mean 'limit'?" in shared.problem("GET", "/monitors?limt=5", status=422)["detail"]
    assert "known here: none" in shared.problem("GET", "/me?x=5", status=422)["detail"]


def test_a_compressed_body_is_not_unpacked(shared: World) -> None:
    response = shared.http.post(ITEMS, content=b"{}", headers={**JSON, "Content-Encoding": "gzip"})
    checked_problem(response, 415)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with running(tmp_path_factory.mktemp("small"), max_body_bytes=1_000) as made:
        yield made


def test_a_body_that_announces_too_much_is_refused_before_it_is_read(small: World) -> None:
    with socket.create_connection(("127.0.0.1", int(small.url.rpartition(":")[2])), timeout=10) as connection:
        head = f"POST {ITEMS} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 999999\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(4_096).startswith(b"HTTP/1.1 413 ")


def test_a_body_that_announces_nothing_is_cut_off_at_the_limit(small: World) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(40):
            yield b" " * 100

    response = small.http.post(ITEMS, content=endless(), headers=JSON)
    assert "larger than 1000 bytes; send smaller batches" in checked_problem(response, 413)["detail"]


def test_a_body_that_never_ends_gives_its_place_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "LONGEST_PAUSE", 0.05)
    with running(tmp_path) as world:
        port = int(world.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            head = f"POST {ITEMS} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            connection.sendall(head.encode() + b"Content-Length: 9\r\n\r\n{")
            assert connection.recv(4_096).startswith(b"HTTP/1.1 408 ")


def test_what_fits_under_the_limit_is_read(small: World) -> None:
    checked_problem(small.http.post(ITEMS, content=b"{" + b" " * 998 + b"}", headers=JSON), 422)


def test_an_unknown_address_is_a_problem_too(shared: World) -> None:
    for path in ("/api/v1/nothing", "/nothing", "/api/v1/monitors/", "/api/v2/monitors", "/api/v1/" + "x" * 2_000):
        assert "nothing lives at this address" in checked_problem(shared.http.get(path), 404)["detail"]


def test_a_wrong_method_is_told_the_right_ones(shared: World) -> None:
    response = shared.http.request("PATCH", "/api/v1/monitors")
    checked_problem(response, 405)
    assert {"GET", "POST"} & set(response.headers["allow"].replace(" ", "").split(","))


def test_what_is_not_http_gets_a_problem_as_well(shared: World) -> None:
    with socket.create_connection(("127.0.0.1", int(shared.url.rpartition(":")[2])), timeout=10) as connection:
        connection.sendall(b"hello\r\n\r\n")
        answer = connection.recv(4_096)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"application/problem+json" in answer


def test_a_defect_of_ours_tells_nothing_of_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(tmp_path) as world:
        monkeypatch.setattr(world.service, "verdict", lambda _: 1 / 0)
        problem = checked_problem(world.http.get("/api/v1/monitors/bot/verdict"), 500)
    assert problem["incident"] in problem["detail"]
    assert "zero" not in str(problem)


def test_every_answer_carries_the_headers_that_keep_browsers_in_check(shared: World) -> None:
    for response in (shared.http.get("/healthz"), shared.http.get("/nothing"), shared.http.get("/api/v1/monitors")):
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert response.headers["cache-control"] == "no-store"
        assert len(response.headers["x-request-id"]) == 16
        assert "server" not in response.headers


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[::2]"])
def test_on_loopback_only_this_machines_names_are_answered(shared: World, host: str) -> None:
    checked_problem(shared.http.get("/api/v1/monitors", headers={"Host": host}), 421)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.2:80", "[::1]:8321"])
def test_this_machine_has_several_names(shared: World, host: str) -> None:
    assert shared.http.get("/api/v1/monitors", headers={"Host": host}).status_code == 200


def test_another_sites_page_cannot_write(shared: World) -> None:
    checked_problem(shared.http.post(ITEMS, json={}, headers={"Origin": "https://evil.example"}), 403)
    checked_problem(shared.http.post(ITEMS, json={}, headers={"Origin": "null"}), 403)
    checked_problem(shared.http.post(ITEMS, json={}, headers={"Origin": shared.url}), 422)


def test_more_requests_than_there_is_room_for_are_sent_away(tmp_path: Path) -> None:
    with (
        running(tmp_path, max_requests=1) as world,
        httpx2.Client(base_url=world.url) as other,
        other.stream("GET", "/api/v1/changes") as held,
    ):
        assert held.status_code == 200
        response = world.http.get("/api/v1/monitors")
        checked_problem(response, 429)
        assert int(response.headers["retry-after"]) >= 1
        assert world.http.get("/healthz").status_code == 200
