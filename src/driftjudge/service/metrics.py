"""What Prometheus reads: names after its conventions, labels of bounded variety."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from driftjudge import __version__
from driftjudge.monitor.evidence import Evidence
from driftjudge.service.runtime import Service
from driftjudge.service.values import Costs, Judging, MonitorInfo

VERDICTS = ("none", "system", "judge", "unattributed")
CONDITIONS = ("judge_unavailable", "no_data", "budget_exhausted")
MOST_CELLS = 60
"""Cells of one monitor that are shown one by one; of a larger one only its strongest."""
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The registry of one service: what it counts itself, and what it reads off the monitors when asked."""

    def __init__(
        self,
        service: Service,
        *,
        monitors: int = 200,
        fresh_seconds: float = 5.0,
        attempts: Callable[[], Mapping[tuple[str, str], int]] | None = None,
    ) -> None:
        """`monitors`: most that are shown one by one; `fresh_seconds`: a second reader in that time gets the same.

        `attempts`: how often alerts were sent, by sink and outcome.
        """
        self.registry = CollectorRegistry(auto_describe=False)
        self.requests = Counter(
            "driftjudge_http_requests", "Requests answered.", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "driftjudge_http_request_duration_seconds",
            "Time to answer a request.",
            ["route"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.streams = Gauge("driftjudge_streams", "Open streams of changes.", registry=self.registry)
        self.registry.register(MonitorCollector(service, monitors, fresh_seconds))
        if attempts is not None:
            self.registry.register(_Notifications(attempts))

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answered request; `route` is the template of its path, so that labels stay few."""
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """The exposition in the text format."""
        return generate_latest(self.registry)


class MonitorCollector(Collector):
    """Reads the monitors when Prometheus asks, at most once in a while."""

    def __init__(
        self, service: Service, most: int, fresh_seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._service, self._most, self._fresh, self._clock = service, most, fresh_seconds, clock
        self._lock = threading.Lock()
        self._last: tuple[float, list[Metric]] | None = None
        self._known: dict[str, _Details] = {}

    def describe(self) -> Iterable[Metric]:
        """Nothing: what there is to show depends on the monitors."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """All families."""
        with self._lock:
            if self._last is None or self._clock() - self._last[0] > self._fresh:
                self._last = self._clock(), list(self._families())
            return self._last[1]

    def _families(self) -> Iterator[Metric]:
        families = _Families()
        health = self._service.health()
        total, after = 0, ""
        shown: set[str] = set()
        while page := self._service.monitors(after=after):
            total += len(page)
            for info in page[: self._most - len(shown)]:
                shown.add(info.name)
                self._read(info, families)
            after = page[-1].name
        self._known = {name: known for name, known in self._known.items() if name in shown}
        yield InfoMetricFamily("driftjudge_build", "The version that runs.", value={"version": __version__})
        yield GaugeMetricFamily("driftjudge_ready", "1 when the service can take items.", value=float(health.ready))
        yield GaugeMetricFamily("driftjudge_monitors", "Monitors, archived ones left out.", value=total)
        hidden = "Monitors beyond the limit that are counted but not shown one by one."
        yield GaugeMetricFamily("driftjudge_monitors_not_shown", hidden, value=total - len(shown))
        yield GaugeMetricFamily("driftjudge_queued_items", "Items that wait for the writer.", value=health.queued)
        yield GaugeMetricFamily("driftjudge_judge_calls_in_flight", "Judge calls being made.", value=health.in_flight)
        yield CounterMetricFamily("driftjudge_commits", "Transactions committed.", value=health.commits)
        yield CounterMetricFamily("driftjudge_failed_commits", "Transactions that failed.", value=health.failed_commits)
        yield from families.all

    def _read(self, info: MonitorInfo, families: _Families) -> None:
        name, now = info.name, self._service.clock.now()
        if info.last_item_at is not None:
            families.lag.add_metric([name], max(0.0, now - info.last_item_at))
        for condition in CONDITIONS:
            families.conditions.add_metric([name, condition], float(condition in info.conditions))
        if info.verdict is None:
            return
        for verdict in VERDICTS:
            families.verdict.add_metric([name, verdict], float(info.verdict.kind == verdict))
        families.add_glance(info)
        known = self._details(info)
        families.add_evidence(name, known.evidence)
        families.add_costs(name, known.costs, known.models)
        if known.anchors_at is not None:
            families.anchors_at.add_metric([name], known.anchors_at)

    def _details(self, info: MonitorInfo) -> _Details:
        """What takes a look into the monitor; an idle one is not woken from the store at every reading."""
        state = (info.position, info.verdict, info.log_e_system, info.log_e_judge, info.last_item_at)
        known = self._known.get(info.name)
        if known is None or known.state != state:
            report = self._service.anchors_report(info.name, limit=1) if info.anchored else None
            known = _Details(
                state,
                self._service.evidence(info.name),
                self._service.costs(info.name, days=31),
                None if report is None else report.last_scored_at,
                models_of(self._service.monitor(info.name).settings.judging),
            )
            self._known[info.name] = known
        return known


@dataclass(frozen=True)
class _Details:
    """One monitor as it was in a certain state."""

    state: tuple[object, ...]
    evidence: Evidence
    costs: Costs
    anchors_at: float | None
    models: Mapping[str, str]


def models_of(judging: Judging) -> dict[str, str]:
    """The configured models by role.

    >>> models_of(Judging(strong={"model": "openai:gpt-5"}))
    {'strong': 'openai:gpt-5'}
    """
    judges = {"cheap": judging.cheap, "strong": judging.strong}
    return {role: str(judge.get("model", ""))[:80] for role, judge in judges.items() if judge is not None}


class _Notifications(Collector):
    """What became of the alerts that were sent."""

    def __init__(self, attempts: Callable[[], Mapping[tuple[str, str], int]]) -> None:
        self._attempts = attempts

    def describe(self) -> Iterable[Metric]:
        """Nothing: sinks are named in the settings."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """One family."""
        sent = CounterMetricFamily("driftjudge_notifications", "Alerts sent.", labels=["sink", "outcome"])
        for (sink, outcome), count in sorted(self._attempts().items()):
            sent.add_metric([sink, outcome], count)
        yield sent


class _Families:
    """The families with one sample per monitor or more."""

    def __init__(self) -> None:
        self.log_e = GaugeMetricFamily(
            "driftjudge_log_e_value",
            "Natural log of the e-value, by cell for the system and by rubric for the judge; an empty rubric and "
            "stratum stand for the whole family.",
            labels=["monitor", "process", "rubric", "stratum"],
        )
        self.threshold = GaugeMetricFamily(
            "driftjudge_alarm_threshold_log",
            "Natural log of the family's e-value at which the alarm rises.",
            labels=["monitor", "process"],
        )
        self.verdict = GaugeMetricFamily(
            "driftjudge_verdict", "1 for the verdict in force.", labels=["monitor", "verdict"]
        )
        self.conditions = GaugeMetricFamily(
            "driftjudge_condition", "1 while the condition is open.", labels=["monitor", "condition"]
        )
        self.scores = CounterMetricFamily(
            "driftjudge_scores", "Scores taken in, unscored answers left out.", labels=["monitor", "role"]
        )
        self.unscored = CounterMetricFamily(
            "driftjudge_unscored", "Answers without a score.", labels=["monitor", "role", "reason"]
        )
        self.dollars = CounterMetricFamily(
            "driftjudge_judge_cost_usd", "Dollars spent on the judges the service calls.", labels=["monitor", "judge"]
        )
        self.budget = GaugeMetricFamily(
            "driftjudge_budget_remaining_ratio", "What is left of today's ceiling.", labels=["monitor"]
        )
        self.gap = GaugeMetricFamily(
            "driftjudge_anchor_gap_ratio",
            "Mean of judge minus human on the anchors, as far as the re-scores show it.",
            labels=["monitor", "rubric"],
        )
        self.anchors_at = GaugeMetricFamily(
            "driftjudge_anchor_last_scored_timestamp_seconds", "When an anchor was last re-scored.", labels=["monitor"]
        )
        self.lag = GaugeMetricFamily(
            "driftjudge_ingest_lag_seconds", "Seconds since the last item was accepted.", labels=["monitor"]
        )
        self.judges = InfoMetricFamily("driftjudge_judge", "Judges that answered of late.", labels=["monitor", "role"])
        self.all: tuple[Metric, ...] = tuple(vars(self).values())

    def add_glance(self, info: MonitorInfo) -> None:
        """The e-values of both families as a whole."""
        for process, log_e in (("system", info.log_e_system), ("judge", info.log_e_judge)):
            if log_e is not None and log_e == log_e:
                self.log_e.add_metric([info.name, process, "", ""], log_e)

    def add_evidence(self, name: str, evidence: Evidence) -> None:
        """E-values, thresholds, gaps and counts."""
        cells = sorted(evidence.cells, key=lambda cell: -cell.log_e if cell.log_e == cell.log_e else math.inf)
        for cell in cells[:MOST_CELLS]:
            if cell.log_e == cell.log_e:
                self.log_e.add_metric([name, "system", cell.rubric, cell.stratum], cell.log_e)
        self.threshold.add_metric([name, "system"], math.log(evidence.config.system_threshold))
        for shift in evidence.shifts[:MOST_CELLS]:
            strongest = max(shift.log_e_harsher, shift.log_e_lenient)
            if strongest == strongest:
                self.log_e.add_metric([name, "judge", shift.rubric, ""], strongest)
            gap = shift.baseline_gap + shift.shift
            self.gap.add_metric([name, shift.rubric], gap if gap == gap else shift.baseline_gap)
        if evidence.shifts:
            self.threshold.add_metric([name, "judge"], math.log(evidence.config.judge_threshold))
        cost = evidence.cost
        for role, calls, unscored in (
            ("cheap", cost.items, cost.cheap_unscored),
            ("strong", cost.strong_calls, cost.strong_unscored),
            ("anchor", cost.anchor_calls, cost.anchor_unscored),
        ):
            self.scores.add_metric([name, role], max(0, calls - unscored))
            self.unscored.add_metric([name, role, "any"], unscored)

    def add_costs(self, name: str, costs: Costs, models: Mapping[str, str]) -> None:
        """Dollars, and who judged."""
        spent: dict[str, float] = {}
        latest: dict[str, str] = {}
        for line in costs.lines:
            spent[line.fingerprint] = spent.get(line.fingerprint, 0.0) + line.dollars
            latest.setdefault(line.role, line.fingerprint)
        for fingerprint, dollars in sorted(spent.items())[:MOST_CELLS]:
            self.dollars.add_metric([name, fingerprint[:12]], dollars)
        if costs.daily_dollars:
            left = 1.0 - costs.dollars_today / costs.daily_dollars
            self.budget.add_metric([name], min(1.0, max(0.0, left)))
        for role, fingerprint in latest.items():
            model = models.get("cheap" if role == "cheap" else "strong", "")
            self.judges.add_metric([name, role], {"fingerprint": fingerprint[:12], "model": model})
