"""Liveness, readiness and metrics, read by the machines they are for."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from tests.service.api.world import RUBRICS, STRATA, World, batch, watching


def test_alive_and_ready(shared: World) -> None:
    assert shared.http.get("/healthz").json() == {"status": "alive"}
    assert shared.http.get("/readyz").json()["ready"] is True


def test_a_service_that_is_closing_is_alive_and_not_ready(world: World) -> None:
    world.service.close()
    assert world.http.get("/healthz").status_code == 200
    response = world.http.get("/readyz")
    assert response.status_code == 503
    assert response.json()["ready"] is False


def _samples(world: World) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    response = world.http.get("/metrics")
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(response.text):
        assert family.documentation
        for sample in family.samples:
            labels = tuple(sorted(sample.labels.items()))
            assert labels not in found.setdefault(sample.name, {}), sample
            found[sample.name][labels] = sample.value
    return found


def test_a_prometheus_parser_reads_every_metric_of_a_watching_monitor(world: World) -> None:
    watching(world, anchor_every=10)
    world.call("POST", "/monitors/bot/items/batch", {"items": batch(0, 100)})
    anchor = world.call("GET", "/monitors/bot/wanted")["anchors"][0]
    world.call("POST", "/monitors/bot/rescores", {"scores": [{"id": anchor, "scores": [0.5, 0.5]}]})
    samples = _samples(world)
    cells = {(dict(labels)["rubric"], dict(labels)["stratum"]) for labels in samples["driftjudge_log_e_value"]}
    assert cells >= {(rubric, stratum) for rubric in RUBRICS for stratum in STRATA}
    assert samples["driftjudge_verdict"][(("monitor", "bot"), ("verdict", "none"))] == 1.0
    assert sum(samples["driftjudge_verdict"].values()) == 1.0
    assert samples["driftjudge_scores_total"][(("monitor", "bot"), ("role", "cheap"))] == 100.0
    assert {dict(labels)["role"] for labels in samples["driftjudge_unscored_total"]} == {"cheap", "strong", "anchor"}
    for name in (
        "driftjudge_alarm_threshold_log",
        "driftjudge_anchor_gap_ratio",
        "driftjudge_anchor_last_scored_timestamp_seconds",
        "driftjudge_ingest_lag_seconds",
        "driftjudge_condition",
        "driftjudge_build_info",
        "driftjudge_ready",
        "driftjudge_commits_total",
        "driftjudge_http_request_duration_seconds_bucket",
    ):
        assert samples[name], name
    route = "/api/v1/monitors/{name}/items/batch"
    assert samples["driftjudge_http_requests_total"][(("method", "POST"), ("route", route), ("status", "200"))] == 1.0


def test_labels_stay_few_whatever_is_asked(world: World) -> None:
    for number in range(20):
        world.http.get(f"/api/v1/nothing/{number}")
        world.http.request(f"VERB{number}", "/api/v1/monitors")
    requests = _samples(world)["driftjudge_http_requests_total"]
    assert {dict(labels)["route"] for labels in requests} <= {"other", "/api/v1/monitors"}
    assert {dict(labels)["method"] for labels in requests} <= {"GET", "other"}
