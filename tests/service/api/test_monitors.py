"""Monitors are created, looked at, configured and archived over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.api.world import CONFIG, World, draft, watching


def test_a_new_monitor_is_a_draft_at_its_address(world: World) -> None:
    response = world.http.post("/api/v1/monitors", json={"name": "bot", "config": CONFIG})
    assert response.status_code == 201
    assert response.json()["state"] == "draft"
    assert world.http.get(response.headers["location"]).json()["config"]["rubrics"] == CONFIG["rubrics"]


def test_a_name_is_taken_once(world: World) -> None:
    draft(world)
    assert "'bot'" in world.problem("POST", "/monitors", {"name": "bot", "config": CONFIG}, status=409)["detail"]


def test_settings_are_replaced_and_statistics_are_not_among_them(world: World) -> None:
    draft(world)
    changed = world.call("PUT", "/monitors/bot/settings", {"description": "the bot", "keep_texts_days": 3.0})
    assert changed["settings"]["description"] == "the bot"
    assert world.call("GET", "/monitors/bot")["settings"]["keep_texts_days"] == 3.0
    world.problem("PUT", "/monitors/bot/settings", {"seed": 3}, status=422)


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"rubrics": [], "strata": ["s"]}, "body.config.rubrics"),
        ({"rubrics": ["r"]}, "body.config.strata"),
        ({"rubrics": ["r"], "strata": ["s"], "alpha": 0.1}, "body.config.alpha"),
        ({"rubrics": ["r", "r"], "strata": ["s"]}, "rubrics names 'r' twice"),
        ({"rubrics": ["r"], "strata": ["s"], "budget": 2.0}, "budget is 2.0"),
        ({"rubrics": ["r"], "strata": ["s"], "budget": "0.3"}, "body.config.budget"),
        ({"rubrics": ["r"], "strata": ["s"], "max_pending": 1_000_000}, "a service takes at most 100000"),
        ({"rubrics": ["r"], "strata": ["\u0000"]}, "body.config.strata[0]"),
    ],
)
def test_a_config_that_cannot_work_is_refused_by_name(shared: World, config: dict[str, Any], told: str) -> None:
    problem = shared.problem("POST", "/monitors", {"name": "odd", "config": config}, status=422)
    assert told in problem["detail"]


@pytest.mark.parametrize("name", ["", "a b", "../x", "ü", "x" * 101, ".hidden", "-"])
def test_a_name_must_fit_into_an_address(shared: World, name: str) -> None:
    assert "body.name" in shared.problem("POST", "/monitors", {"name": name, "config": CONFIG}, status=422)["detail"]


@pytest.mark.parametrize("variable", ["DRIFTJUDGE_ADMIN_KEY", "DRIFTJUDGE_API_KEY", "PATH", "HOME_API_KEY;x", 3])
def test_a_judge_gets_no_secret_that_is_not_a_judges(shared: World, variable: Any) -> None:
    settings = {"judging": {"strong": {"model": "openai:gpt-5-mini", "api_key_env": variable}}}
    body = {"name": "thief", "config": CONFIG, "settings": settings}
    problem = shared.problem("POST", "/monitors", body, status=422)
    assert "api_key_env of the strong judge is not a name like OPENAI_API_KEY" in problem["detail"]
    assert str(variable) not in problem["detail"]


def test_monitors_are_listed_page_by_page_in_the_order_of_their_names(world: World) -> None:
    for name in ("c", "a", "b"):
        draft(world, name)
    first = world.call("GET", "/monitors?limit=2")
    assert [monitor["name"] for monitor in first["monitors"]] == ["a", "b"]
    rest = world.call("GET", f"/monitors?limit=2&after={first['next']}")
    assert [monitor["name"] for monitor in rest["monitors"]] == ["c"]
    assert "next" not in rest


def test_an_archived_monitor_takes_in_nothing_and_stays_readable(world: World) -> None:
    watching(world)
    assert world.call("DELETE", "/monitors/bot")["state"] == "archived"
    world.problem("POST", "/monitors/bot/items", {"id": "i", "stratum": "coding", "cheap": [0.5, 0.5]}, status=409)
    assert world.call("GET", "/monitors/bot/verdict")["kind"] == "none"
    assert world.call("GET", "/monitors")["monitors"] == []
    assert len(world.call("GET", "/monitors?archived=true")["monitors"]) == 1


def test_a_draft_has_no_verdict_yet(world: World) -> None:
    draft(world)
    assert "calibrat" in world.problem("GET", "/monitors/bot/verdict", status=409)["detail"]


@pytest.mark.parametrize("path", ["", "/verdict", "/evidence", "/trace", "/events", "/costs", "/anchors", "/alarms"])
def test_nobody_knows_a_monitor_that_was_never_created(shared: World, path: str) -> None:
    assert "'nobody'" in shared.problem("GET", f"/monitors/nobody{path}", status=404)["detail"]
