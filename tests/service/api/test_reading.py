"""What a monitor knows can be read: verdict, evidence over time, log, costs, anchors, conditions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.service.api.world import RUBRICS, STRATA, World, anchor_set, batch, running, watching


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A monitor that has seen 300 healthy items, with every anchor re-score it asked for."""
    with running(tmp_path_factory.mktemp("read")) as world:
        watching(world, anchor_every=10)
        usual = {anchor["id"]: anchor["passes"][0] for anchor in anchor_set()}
        for first in range(0, 300, 50):
            world.call("POST", "/monitors/bot/items/batch", {"items": batch(first, 50)})
            wanted = world.call("GET", "/monitors/bot/wanted")["anchors"]
            answers = [{"id": anchor, "scores": usual[anchor]} for anchor in wanted]
            world.call("POST", "/monitors/bot/rescores", {"scores": answers})
        yield world


def test_the_verdict_says_who_drifted_in_a_sentence_and_how_sure_that_is(read: World) -> None:
    verdict = read.call("GET", "/monitors/bot/verdict")
    assert (verdict["kind"], verdict["status"]) == ("none", "watching")
    assert verdict["text"].startswith("Nothing drifted")
    assert "0.1" in verdict["promise"]


def test_the_evidence_names_every_cell_and_every_rubric(read: World) -> None:
    evidence = read.call("GET", "/monitors/bot/evidence")
    cells = [(cell["rubric"], cell["stratum"]) for cell in evidence["cells"]]
    assert cells == [(rubric, stratum) for stratum in STRATA for rubric in RUBRICS]
    assert [shift["rubric"] for shift in evidence["shifts"]] == RUBRICS
    assert evidence["cost"]["items"] == 300
    assert evidence["assumptions"]


def test_evidence_over_time_ends_at_the_present(read: World) -> None:
    trace = read.call("GET", "/monitors/bot/trace")
    assert trace["position"][-1] == 300
    assert len({len(trace[line]) for line in ("position", "system", "judge", "strong_calls", "anchor_calls")}) == 1
    assert trace["position"] == sorted(set(trace["position"]))


def test_the_log_is_read_page_by_page_without_a_gap(read: World) -> None:
    seqs: list[int] = []
    kinds = set()
    after = 0
    while True:
        page = read.call("GET", f"/monitors/bot/events?after={after}&limit=150")
        seqs += [event["seq"] for event in page["events"]]
        kinds |= {event["kind"] for event in page["events"]}
        if "next" not in page:
            break
        after = page["next"]
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))
    assert {"Observed", "StrongScored", "AnchorRescored"} <= kinds


def test_costs_are_told_in_calls(read: World) -> None:
    costs = read.call("GET", "/monitors/bot/costs")
    assert costs["relative"]["items"] == 300
    assert costs["relative"]["strong_calls"] > 0
    assert costs["dollars_total"] == 0.0


def test_the_anchors_report_goes_anchor_by_anchor(read: World) -> None:
    report = read.call("GET", "/monitors/bot/anchors?limit=5")
    assert (report["total"], report["passes"], len(report["lines"])) == (40, 4, 5)
    assert report["frozen"] == read.call("GET", "/monitors/bot")["frozen"]
    assert [line["disagreement"] for line in report["lines"]] == sorted(
        (line["disagreement"] for line in report["lines"]), reverse=True
    )


def test_nothing_keeps_this_monitor_from_seeing(read: World) -> None:
    assert read.call("GET", "/monitors/bot/conditions") == {"conditions": []}


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "after=-1", "after=1e3"])
def test_a_page_has_its_limits(read: World, query: str) -> None:
    assert "query." in read.problem("GET", f"/monitors/bot/events?{query}", status=422)["detail"]
