"""An alarm rises, is taken note of and is closed; a judge's is answered by re-anchoring."""

from __future__ import annotations

from typing import Any

from tests.service.api.world import World, anchor_set, batch, calibration, watching


def _drop(world: World) -> dict[str, Any]:
    """Feed bad items, with the anchors scored as ever, until the system is blamed for good."""
    usual = {anchor["id"]: anchor["passes"][0] for anchor in anchor_set()}
    for first in range(0, 4_000, 100):
        items = [{**item, "cheap": [0.1, 0.1], "strong": [0.1, 0.1]} for item in batch(first, 100)]
        world.call("POST", "/monitors/bot/items/batch", {"items": items})
        while wanted := world.call("GET", "/monitors/bot/wanted")["anchors"]:
            answers = [{"id": anchor, "scores": usual[anchor]} for anchor in wanted]
            world.call("POST", "/monitors/bot/rescores", {"scores": answers})
        verdict: dict[str, Any] = world.call("GET", "/monitors/bot/verdict")
        if verdict["status"] == "final":
            return verdict
    raise AssertionError("no alarm")


def test_a_system_alarm_lives_from_opened_to_closed(world: World) -> None:
    watching(world)
    verdict = _drop(world)
    assert verdict["kind"] == "system"
    (alarm,) = world.call("GET", "/monitors/bot/alarms?open_only=true")["alarms"]
    assert (alarm["state"], alarm["verdict"]["kind"]) == ("open", "system")
    world.problem("POST", f"/monitors/bot/alarms/{alarm['id']}/close", {}, status=409)
    taken = world.call("POST", "/monitors/bot/acknowledge", {"note": "rolled back"})
    assert taken["state"] == "acknowledged"
    assert world.call("GET", "/monitors/bot/verdict")["epoch"] == 2
    closed = world.call("POST", f"/monitors/bot/alarms/{alarm['id']}/close", {"note": "all good"})
    assert closed["state"] == "closed"
    assert [line["by"] for line in closed["story"] if line["by"]] == ["loopback", "loopback"]
    assert world.call("GET", "/monitors/bot/alarms?open_only=true")["alarms"] == []
    assert len(world.call("GET", "/monitors/bot/alarms")["alarms"]) == 1


def test_there_is_nothing_to_acknowledge_in_peace(world: World) -> None:
    watching(world)
    assert "nothing" in world.problem("POST", "/monitors/bot/acknowledge", {}, status=409)["detail"]


def test_a_judge_that_moved_is_accepted_by_reanchoring(world: World) -> None:
    watching(world, anchor_every=1)
    for first in range(0, 2_000, 20):
        world.call("POST", "/monitors/bot/items/batch", {"items": batch(first, 20)})
        wanted = world.call("GET", "/monitors/bot/wanted")["anchors"]
        answers = [{"id": anchor, "scores": [0.0, 0.0]} for anchor in wanted]
        world.call("POST", "/monitors/bot/rescores", {"scores": answers})
        if world.call("GET", "/monitors/bot/verdict")["kind"] == "judge":
            break
    assert world.call("GET", "/monitors/bot/verdict")["kind"] == "judge"
    world.problem("POST", "/monitors/bot/acknowledge", {}, status=409)
    lenient = [{**anchor, "passes": [[0.0, 0.0]] * 4} for anchor in anchor_set()]
    world.call("PUT", "/monitors/bot/anchors", {"anchors": lenient})
    world.call("POST", "/monitors/bot/reanchor", {"items": calibration()})
    verdict = world.call("GET", "/monitors/bot/verdict")
    assert (verdict["kind"], verdict["epoch"]) == ("none", 2)
    (alarm,) = world.call("GET", "/monitors/bot/alarms")["alarms"]
    assert alarm["state"] == "closed"


def test_an_unknown_alarm_cannot_be_closed(world: World) -> None:
    watching(world)
    world.problem("POST", "/monitors/bot/alarms/17/close", {}, status=404)


def test_frozen_anchors_cannot_be_changed_on_a_draft(world: World) -> None:
    world.call("POST", "/monitors", {"name": "bot", "config": {"rubrics": ["r"], "strata": ["s"]}}, status=201)
    anchors = [{"id": f"a{n}", "human": [1.0], "passes": [[1.0], [1.0]]} for n in range(3)]
    world.call("PUT", "/monitors/bot/anchors", {"anchors": anchors})
    world.call("PUT", "/monitors/bot/anchors", {"anchors": anchors[:2]})
    frozen = world.call("POST", "/monitors/bot/anchors/freeze")
    assert frozen["anchors"] == 2
    assert len(frozen["frozen"]) == 64
    world.problem("PUT", "/monitors/bot/anchors", {"anchors": anchors}, status=409)


def test_every_pass_scores_every_anchor(world: World) -> None:
    world.call("POST", "/monitors", {"name": "bot", "config": {"rubrics": ["r"], "strata": ["s"]}}, status=201)
    anchors = [{"id": "a1", "human": [1.0], "passes": [[1.0], None]}, {"id": "a2", "human": [1.0], "passes": [[1.0]]}]
    problem = world.problem("PUT", "/monitors/bot/anchors", {"anchors": anchors}, status=422)
    assert "anchor 'a2' has 1 baseline passes and others have 2" in problem["detail"]


def test_calibration_that_cannot_bear_the_bars_is_told_what_is_missing(world: World) -> None:
    world.call("POST", "/monitors", {"name": "bot", "config": {"rubrics": ["r"], "strata": ["s", "t"]}}, status=201)
    items = [{"id": f"c{n}", "stratum": "s", "scores": [0.5]} for n in range(30)]
    problem = world.problem("POST", "/monitors/bot/calibration", {"items": items}, status=422)
    assert "no calibration scores for rubric 'r' in stratum 't'" in problem["detail"]


def test_a_calibration_item_the_judge_refused_is_no_score(world: World) -> None:
    world.call("POST", "/monitors", {"name": "bot", "config": {"rubrics": ["r"], "strata": ["s"]}}, status=201)
    items: list[dict[str, Any]] = [{"id": f"c{n}", "stratum": "s", "scores": {"r": 0.5}} for n in range(200)]
    items.append({"id": "refused", "stratum": "s", "scores": {"failure": "refusal"}})
    world.call("POST", "/monitors/bot/calibration", {"items": items})
    (cell,) = world.call("GET", "/monitors/bot/evidence")["cells"]
    assert (cell["calibration_items"], cell["bar"]) == (200, 0.5)
