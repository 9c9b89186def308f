"""Keys over HTTP: shown once, limited to their role and their monitors, every act on record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.service.api.world import CONFIG, World, calibration, checked_problem, running, watching

ITEM = {"id": "i1", "stratum": "coding", "cheap": [0.75, 0.5]}


def _locked(world: World, *more: tuple[str, str, list[str] | None]) -> dict[str, dict[str, str]]:
    """Headers of an admin and of further keys."""
    admin = world.call("POST", "/keys", {"label": "admin", "role": "admin"}, status=201)["key"]
    headers = {"admin": {"Authorization": f"Bearer {admin}"}}
    for label, role, monitors in more:
        body = {"label": label, "role": role, "monitors": monitors}
        made = world.call("POST", "/keys", body, status=201, headers=headers["admin"])
        headers[label] = {"Authorization": f"Bearer {made['key']}"}
    return headers


def test_a_key_is_shown_once(world: World) -> None:
    made = world.call("POST", "/keys", {"label": "ops", "role": "admin"}, status=201)
    headers = {"Authorization": f"Bearer {made['key']}"}
    (listed,) = world.call("GET", "/keys", headers=headers)["keys"]
    assert listed == {key: value for key, value in made.items() if key != "key"}


def test_without_a_key_nothing_but_the_probes_answers(world: World) -> None:
    _locked(world)
    for path in ("/api/v1/monitors", "/api/v1/keys", "/api/v1/changes", "/api/v1/me", "/api/v1/nothing", "/metrics"):
        response = world.http.get(path)
        checked_problem(response, 401)
        assert response.headers["www-authenticate"] == 'Bearer realm="driftjudge"'
    for path in ("/healthz", "/readyz", "/api/v1/openapi.json"):
        assert world.http.get(path).status_code == 200


@pytest.mark.parametrize("header", ["dj_x", "Basic abc", "Bearer", "bearer dj_000000000000_" + "A" * 43])
def test_a_header_that_is_no_key_is_refused(world: World, header: str) -> None:
    _locked(world)
    checked_problem(world.http.get("/api/v1/me", headers={"Authorization": header}), 401)


def test_a_wrong_key_is_refused_even_where_none_is_needed(shared: World) -> None:
    checked_problem(shared.http.get("/api/v1/me", headers={"Authorization": "Bearer wrong"}), 401)


def test_guessing_is_answered_with_a_wait(tmp_path: Path) -> None:
    with running(tmp_path, environment_key="k" * 32) as world:
        for _ in range(10):
            checked_problem(world.http.get("/api/v1/me", headers={"Authorization": "Bearer wrong"}), 401)
        response = world.http.get("/api/v1/me", headers={"Authorization": "Bearer wrong"})
        checked_problem(response, 429)
        assert int(response.headers["retry-after"]) > 1


def test_who_am_i(world: World) -> None:
    assert world.call("GET", "/me") == {"actor": "loopback", "role": "admin"}
    headers = _locked(world, ("ci", "ingest", ["bot"]))
    me = world.call("GET", "/me", headers=headers["ci"])
    assert (me["role"], me["monitors"]) == ("ingest", ["bot"])


ADMIN_ACTS: list[tuple[str, str, Any]] = [
    ("POST", "/monitors", {"name": "new", "config": CONFIG}),
    ("PUT", "/monitors/bot/settings", {"description": "x"}),
    ("DELETE", "/monitors/bot", None),
    ("PUT", "/monitors/bot/anchors", {"anchors": [{"id": "a", "human": [1.0]}, {"id": "b", "human": [1.0]}]}),
    ("POST", "/monitors/bot/anchors/freeze", None),
    ("POST", "/monitors/bot/calibration", {"items": calibration(2)}),
    ("POST", "/monitors/bot/reanchor", {"items": calibration(2)}),
    ("POST", "/monitors/bot/acknowledge", {}),
    ("POST", "/monitors/bot/alarms/1/close", {}),
    ("POST", "/keys", {"label": "x", "role": "read"}),
    ("GET", "/keys", None),
    ("DELETE", "/keys/abc", None),
    ("GET", "/audit", None),
]
READS = ["", "/verdict", "/evidence", "/trace", "/events", "/costs", "/anchors", "/alarms", "/conditions"]


def test_each_role_does_its_own_and_nothing_else(world: World) -> None:
    watching(world)
    headers = _locked(world, ("reader", "read", None), ("sender", "ingest", None))
    for label in ("reader", "sender"):
        for method, path, body in ADMIN_ACTS:
            problem = world.problem(method, path, body, status=403, headers=headers[label])
            assert "needs the role admin" in problem["detail"]
    for path in READS:
        world.call("GET", f"/monitors/bot{path}", headers=headers["reader"])
        world.problem("GET", f"/monitors/bot{path}", status=403, headers=headers["sender"])
    for path in ("/monitors", "/changes"):
        world.problem("GET", path, status=403, headers=headers["sender"])
    world.call("POST", "/monitors/bot/items", ITEM, headers=headers["sender"])
    world.call("GET", "/monitors/bot/wanted", headers=headers["sender"])
    world.problem("POST", "/monitors/bot/items", ITEM, status=403, headers=headers["reader"])
    checked_problem(world.http.get("/metrics", headers=headers["sender"]), 403)
    assert world.http.get("/metrics", headers=headers["reader"]).status_code == 200


def test_a_key_for_one_monitor_does_not_even_learn_of_others(world: World) -> None:
    for name in ("mine", "theirs"):
        watching(world, name)
    headers = _locked(world, ("me", "read", ["mine", "ghost"]), ("boss", "admin", ["mine"]), ("in", "ingest", ["mine"]))
    world.problem("GET", "/monitors/theirs", status=403, headers=headers["me"])
    world.problem("GET", "/monitors/nobody", status=403, headers=headers["me"])
    listed = world.call("GET", "/monitors", headers=headers["me"])["monitors"]
    assert [monitor["name"] for monitor in listed] == ["mine"]
    world.call("PUT", "/monitors/mine/settings", {"description": "x"}, headers=headers["boss"])
    world.problem("POST", "/monitors", {"name": "new", "config": CONFIG}, status=403, headers=headers["boss"])
    world.problem("POST", "/keys", {"label": "x", "role": "read"}, status=403, headers=headers["boss"])
    judging = {"judging": {"strong": {"model": "openai:gpt-5-mini"}}}
    problem = world.problem("PUT", "/monitors/mine/settings", judging, status=403, headers=headers["boss"])
    assert "only an admin key for all monitors may configure judges" in problem["detail"]
    world.problem("GET", "/monitors", status=403, headers=headers["in"])
    checked_problem(world.http.get("/metrics", headers=headers["me"]), 403)


def test_an_idempotency_key_is_its_senders_own(world: World) -> None:
    watching(world)
    headers = _locked(world, ("one", "ingest", None), ("two", "ingest", None))
    key = {"Idempotency-Key": "same"}
    world.call("POST", "/monitors/bot/items", ITEM, headers={**headers["one"], **key})
    other = {**ITEM, "id": "i2"}
    world.problem("POST", "/monitors/bot/items", other, status=409, headers={**headers["one"], **key})
    world.call("POST", "/monitors/bot/items", other, headers={**headers["two"], **key})


def test_a_revoked_key_stops_working_and_the_last_admin_key_stays(world: World) -> None:
    headers = _locked(world, ("ci", "read", None))
    rows = {row["label"]: row["id"] for row in world.call("GET", "/keys", headers=headers["admin"])["keys"]}
    world.call("GET", "/me", headers=headers["ci"])
    world.call("DELETE", f"/keys/{rows['ci']}", status=204, headers=headers["admin"])
    world.problem("GET", "/me", status=401, headers=headers["ci"])
    world.problem("DELETE", f"/keys/{rows['admin']}", status=409, headers=headers["admin"])
    world.problem("DELETE", "/keys/abc", status=404, headers=headers["admin"])


def test_every_administrative_act_is_on_record(world: World) -> None:
    watching(world)
    headers = _locked(world)
    world.call("DELETE", "/monitors/bot", headers=headers["admin"])
    acts = world.call("GET", "/audit?limit=3", headers=headers["admin"])
    assert acts["acts"][0]["monitor"] == "bot"
    assert acts["acts"][0]["by"].startswith("key:")
    rest = world.call("GET", f"/audit?before={acts['next']}", headers=headers["admin"])["acts"]
    everything = [*acts["acts"], *rest]
    assert len(everything) == len({act["id"] for act in everything}) == 6
    assert {act["by"] for act in rest} == {"loopback"}


def test_behind_a_proxy_a_key_is_needed(shared: World) -> None:
    for header in ("X-Forwarded-For", "Forwarded"):
        shared.problem("GET", "/me", status=401, headers={header: "203.0.113.9"})
