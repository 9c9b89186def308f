"""Items and scores come in once, however often they are sent."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from driftjudge.service.options import ServiceOptions
from tests.service.api.world import World, batch, checked_problem, draft, running, watching

ITEM = {"id": "i1", "stratum": "coding", "cheap": [0.75, 0.5]}


def test_an_item_gets_its_place_in_the_stream(world: World) -> None:
    watching(world)
    answer = world.call("POST", "/monitors/bot/items", ITEM)
    assert (answer["id"], answer["number"], answer["position"]) == ("i1", 1, 1)
    assert isinstance(answer["strong"], bool)
    assert world.call("GET", "/monitors/bot")["position"] == 1


def test_the_same_item_again_gets_the_same_answer_and_counts_once(world: World) -> None:
    watching(world)
    first = world.http.post("/api/v1/monitors/bot/items", json=ITEM)
    again = world.http.post("/api/v1/monitors/bot/items", json=ITEM)
    assert (again.status_code, again.content) == (200, first.content)
    assert again.headers["driftjudge-duplicates"] == "1"
    assert world.call("GET", "/monitors/bot")["position"] == 1


def test_another_body_under_the_same_id_is_a_conflict(world: World) -> None:
    watching(world)
    world.call("POST", "/monitors/bot/items", ITEM)
    assert "'i1'" in world.problem("POST", "/monitors/bot/items", {**ITEM, "cheap": [0.0, 0.5]}, status=409)["detail"]


def test_scores_by_rubric_name_are_the_same_as_scores_in_order(world: World) -> None:
    watching(world)
    world.call("POST", "/monitors/bot/items", ITEM)
    named = {**ITEM, "cheap": {"correctness": 0.5, "helpfulness": 0.75}}
    assert world.http.post("/api/v1/monitors/bot/items", json=named).headers["driftjudge-duplicates"] == "1"


def test_a_failure_of_the_cheap_judge_is_no_score(world: World) -> None:
    watching(world)
    world.call("POST", "/monitors/bot/items", {**ITEM, "cheap": {"failure": "refusal"}})
    assert world.call("GET", "/monitors/bot/evidence")["cost"]["cheap_unscored"] == 1


def test_a_batch_is_taken_in_order(world: World) -> None:
    watching(world)
    answer = world.call("POST", "/monitors/bot/items/batch", {"items": batch(0, 100)})
    assert [item["position"] for item in answer["items"]] == list(range(1, 101))


def test_a_batch_is_taken_as_a_whole_or_not_at_all(world: World) -> None:
    watching(world)
    items = [*batch(0, 3), {"id": "odd", "stratum": "poetry", "cheap": [0.5, 0.5]}]
    assert "'poetry'" in world.problem("POST", "/monitors/bot/items/batch", {"items": items}, status=422)["detail"]
    assert world.call("GET", "/monitors/bot")["accepted"] == 0


def test_a_batch_with_known_items_counts_only_the_new_ones(world: World) -> None:
    watching(world)
    world.call("POST", "/monitors/bot/items/batch", {"items": batch(0, 10)})
    again = world.http.post("/api/v1/monitors/bot/items/batch", json={"items": [*batch(0, 10), *batch(10, 5)]})
    assert again.headers["driftjudge-duplicates"] == "10"
    assert [item["position"] for item in again.json()["items"]] == list(range(1, 16))
    assert world.call("GET", "/monitors/bot")["accepted"] == 15


def test_an_idempotency_key_gets_the_same_answer_for_the_same_body(world: World) -> None:
    watching(world)
    key = {"Idempotency-Key": "k-1"}
    first = world.http.post("/api/v1/monitors/bot/items/batch", json={"items": batch(0, 5)}, headers=key)
    again = world.http.post("/api/v1/monitors/bot/items/batch", json={"items": batch(0, 5)}, headers=key)
    assert (again.status_code, again.content) == (200, first.content)
    detail = world.problem("POST", "/monitors/bot/items/batch", {"items": batch(0, 6)}, status=409, headers=key)[
        "detail"
    ]
    assert "k-1" in detail
    world.problem("POST", "/monitors/bot/items", ITEM, status=409, headers=key)


@pytest.mark.parametrize("key", ["", "x" * 256, "two words", "ü".encode()])
def test_an_idempotency_key_is_a_short_word(shared: World, key: Any) -> None:
    problem = shared.problem("POST", "/monitors/bot/items", ITEM, status=422, headers={"Idempotency-Key": key})
    assert "header.idempotency-key" in problem["detail"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"cheap": [0.5]}, "1 scores for the 2 rubrics"),
        ({"cheap": [0.5, 1.5]}, "body.cheap"),
        ({"cheap": {"helpfulness": 0.5}}, "lack the rubric 'correctness'"),
        ({"cheap": {"helpfulness": 0.5, "correctness": 0.5, "tone": 1.0}}, "unknown rubric 'tone'"),
        ({"cheap": {"failure": "bored"}}, "body.cheap"),
        ({"cheap": None}, "an item needs cheap scores or texts"),
        ({"cheap": [True, 0.5]}, "body.cheap"),
        ({"id": ""}, "body.id"),
        ({"id": "x" * 256}, "body.id"),
        ({"id": "a\nb"}, "body.id"),
        ({"id": 7}, "body.id"),
        ({"stratum": "poetry"}, "'poetry'"),
        ({"surprise": 1}, "body.surprise"),
        ({"texts": {"prompt": "nul \u0000"}}, "body.texts.prompt"),
        ({"texts": {str(n): "x" for n in range(40)}}, "body.texts"),
        ({"cheap": None, "texts": {"prompt": "hello"}}, "judge"),
    ],
)
def test_an_item_that_cannot_be_right_is_refused_by_name(shared: World, change: dict[str, Any], told: str) -> None:
    if not shared.call("GET", "/monitors")["monitors"]:
        watching(shared)
    problem = shared.problem("POST", "/monitors/bot/items", {**ITEM, **change}, status=422)
    assert told in problem["detail"] + str(problem.get("errors"))


@pytest.mark.parametrize("items", [[], [ITEM] * 1_001])
def test_a_batch_has_from_one_to_a_thousand_items(shared: World, items: list[Any]) -> None:
    assert "body.items" in shared.problem("POST", "/monitors/bot/items/batch", {"items": items}, status=422)["detail"]


def test_a_draft_takes_no_items(world: World) -> None:
    draft(world)
    assert "calibrat" in world.problem("POST", "/monitors/bot/items", ITEM, status=409)["detail"]


def test_what_is_asked_for_is_listed_until_its_score_is_in(world: World) -> None:
    watching(world, budget=1.0, acquisition="uniform", anchor_every=1)
    answer = world.call("POST", "/monitors/bot/items", ITEM)
    assert answer["strong"] is True
    assert world.call("GET", "/monitors/bot/wanted") == {"items": ["i1"], "anchors": answer["anchors"]}
    recorded = world.call("POST", "/monitors/bot/scores", {"scores": [{"id": "i1", "scores": [0.5, 0.5]}]})
    assert (recorded["taken"], recorded["duplicates"]) == (1, 0)
    again = world.call("POST", "/monitors/bot/scores", {"scores": [{"id": "i1", "scores": [0.5, 0.5]}]})
    assert (again["taken"], again["duplicates"]) == (0, 1)
    rescore = {"id": answer["anchors"][0], "scores": {"failure": "refusal"}, "answer_id": "r1"}
    assert world.call("POST", "/monitors/bot/rescores", {"scores": [rescore]})["taken"] == 1
    assert world.call("POST", "/monitors/bot/rescores", {"scores": [rescore]})["duplicates"] == 1
    assert world.call("GET", "/monitors/bot/wanted") == {"items": [], "anchors": []}


def test_another_score_for_the_same_item_is_a_conflict(world: World) -> None:
    watching(world, budget=1.0, acquisition="uniform")
    world.call("POST", "/monitors/bot/items", ITEM)
    world.call("POST", "/monitors/bot/scores", {"scores": [{"id": "i1", "scores": [0.5, 0.5]}]})
    world.problem("POST", "/monitors/bot/scores", {"scores": [{"id": "i1", "scores": [1.0, 0.5]}]}, status=409)


def test_a_score_nobody_asked_for_is_a_conflict(world: World) -> None:
    watching(world)
    for path in ("scores", "rescores"):
        body = {"scores": [{"id": "stranger", "scores": [0.5, 0.5]}]}
        assert "'stranger'" in world.problem("POST", f"/monitors/bot/{path}", body, status=409)["detail"]


def test_a_late_score_of_an_older_epoch_is_taken_without_complaint(world: World) -> None:
    watching(world, anchors=[], budget=1.0, acquisition="uniform")
    world.call("POST", "/monitors/bot/items", {**ITEM, "id": "late"})
    first = 0
    while world.call("GET", "/monitors/bot/verdict")["status"] != "final":
        items = [{**item, "cheap": [0.0, 0.0], "strong": [0.0, 0.0]} for item in batch(first, 50)]
        world.call("POST", "/monitors/bot/items/batch", {"items": items})
        world.call("POST", "/monitors/bot/scores", {"scores": [{"id": "late", "scores": [0.5, 0.5]}]})
        first += 50
        assert first < 2_000
    alarm = world.call("POST", "/monitors/bot/acknowledge", {"note": "seen"})
    assert alarm["state"] == "acknowledged"


def test_many_senders_at_once_lose_nothing_and_repeat_nothing(world: World) -> None:
    watching(world)

    def send(number: int) -> int:
        (item,) = batch(number, 1)
        response = world.http.post("/api/v1/monitors/bot/items", json=item)
        assert response.status_code == 200, response.text
        place: int = response.json()["position"]
        return place

    with ThreadPoolExecutor(16) as pool:
        places = list(pool.map(send, range(200)))
    assert sorted(places) == list(range(1, 201))


def test_more_than_the_writer_can_queue_is_sent_away_for_a_while(tmp_path: Path) -> None:
    with running(tmp_path, options=ServiceOptions(max_queued=50)) as world:
        watching(world)
        response = world.http.post("/api/v1/monitors/bot/items/batch", json={"items": batch(0, 100)})
        checked_problem(response, 429)
        assert int(response.headers["retry-after"]) >= 1
        assert world.call("GET", "/monitors/bot")["accepted"] == 0
        world.call("POST", "/monitors/bot/items/batch", {"items": batch(0, 40)})


def test_a_service_that_is_closing_takes_nothing_and_says_so(world: World) -> None:
    watching(world)
    world.service.close()
    response = world.http.post("/api/v1/monitors/bot/items", json=ITEM)
    checked_problem(response, 503)
    assert int(response.headers["retry-after"]) >= 1
