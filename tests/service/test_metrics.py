"""Metrics stay few: beyond a limit monitors are counted, not shown."""

from __future__ import annotations

from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from driftjudge.monitor import MonitorConfig
from driftjudge.service.metrics import Metrics
from driftjudge.service.runtime import Service
from driftjudge.store import open_store


def _values(metrics: Metrics, name: str) -> dict[tuple[str, ...], float]:
    families = text_string_to_metric_families(metrics.text().decode())
    found = [sample for family in families for sample in family.samples if sample.name == name]
    return {tuple(value for _, value in sorted(sample.labels.items())): sample.value for sample in found}


def test_beyond_the_limit_monitors_are_counted_and_not_shown(tmp_path: Path) -> None:
    store = open_store(tmp_path / "m.db")
    with Service(store).start() as service:
        for name in ("a", "b", "c"):
            service.create_monitor(name, MonitorConfig(rubrics=("r",), strata=("s",)))
        metrics = Metrics(service, monitors=2, fresh_seconds=0.0)
        assert _values(metrics, "driftjudge_monitors") == {(): 3.0}
        assert _values(metrics, "driftjudge_monitors_not_shown") == {(): 1.0}
        assert {monitor for _, monitor in _values(metrics, "driftjudge_condition")} == {"a", "b"}
    store.close()


def test_a_second_reader_within_seconds_gets_the_same_answer(tmp_path: Path) -> None:
    store = open_store(tmp_path / "m.db")
    with Service(store).start() as service:
        kept, live = Metrics(service, fresh_seconds=3_600.0), Metrics(service, fresh_seconds=0.0)
        assert _values(kept, "driftjudge_monitors") == _values(live, "driftjudge_monitors") == {(): 0.0}
        service.create_monitor("a", MonitorConfig(rubrics=("r",), strata=("s",)))
        assert _values(kept, "driftjudge_monitors") == {(): 0.0}
        assert _values(live, "driftjudge_monitors") == {(): 1.0}
    store.close()


def test_alerts_are_counted_by_sink_and_outcome(tmp_path: Path) -> None:
    store = open_store(tmp_path / "m.db")
    with Service(store).start() as service:
        metrics = Metrics(service, attempts=lambda: {("oncall", "failed"): 3, ("oncall", "accepted"): 1})
        sent = _values(metrics, "driftjudge_notifications_total")
    store.close()
    assert sent == {("accepted", "oncall"): 1.0, ("failed", "oncall"): 3.0}
