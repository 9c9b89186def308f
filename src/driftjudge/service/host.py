"""One monitor in memory: a cache of the fold over its log, with what the store keeps beside it."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from driftjudge.judges.protocol import Usage
from driftjudge.monitor import Ask, Monitor, MonitorConfig
from driftjudge.monitor.events import AnchorRescored, Event, Observed, StrongScored
from driftjudge.monitor.evidence import Trace
from driftjudge.monitor.scores import Failure
from driftjudge.monitor.summary import log_evalue
from driftjudge.monitor.verdict import Verdict
from driftjudge.service.batch import Batch
from driftjudge.service.codec import from_json, to_json
from driftjudge.service.values import MonitorSettings, ScoresIn
from driftjudge.store import conditions, items, registry, rescores, trace
from driftjudge.store.items import Accepted
from driftjudge.store.log import load_monitor, read_snapshot


@dataclass(frozen=True)
class Line:
    """An accepted item whose cheap scores are not observed yet."""

    item_id: str
    stratum: str
    number: int


class Host:
    """A monitor, held by this process. Only the writer changes it; readers take `lock`."""

    def __init__(self, row: registry.Row, config: MonitorConfig) -> None:
        self.id = row.id
        self.name = row.name
        self.state = row.state
        self.config = config
        self.settings = from_json(MonitorSettings, row.settings)
        self.created_at = row.created_at
        self.last_item_at = row.last_item_at
        self.summary: dict[str, Any] = dict(row.summary or {})
        self.accepted = int(self.summary.get("accepted", 0))
        self.lock = threading.RLock()
        self.stale = False
        """Memory knows more than the disk: a commit failed, and nobody may look at it any more."""
        self.monitor: Monitor | None = None
        self.seq = 0
        self.snapshot_seq = 0
        self.stride = 1
        self.line: deque[Line] = deque()
        self.answers: dict[str, Any] = {}
        self.fresh: dict[str, Accepted] = {}
        """Items accepted in the transaction that is being made."""
        self.marked: dict[str, bytes] = {}
        """Hashes of strong scores recorded in that transaction."""
        self.new_events: list[tuple[Event, str]] = []
        self.rescored: dict[str, rescores.Rescored] = {}
        self._rescored_now: set[str] = set()
        self.told: Verdict | None = None
        self.open_conditions: set[str] = set()

    @classmethod
    def load(cls, tx: Connection, row: registry.Row) -> Host:
        """The monitor as the database has it."""
        host = cls(row, MonitorConfig.from_json(row.config))
        host.open_conditions = set(conditions.open_kinds(tx, [row.id]).get(row.id, ()))
        if row.state == "running" or (row.state == "archived" and "verdict" in host.summary):
            cached = read_snapshot(tx, row.id)
            host.snapshot_seq = cached[1] if cached is not None else 0
            host.monitor, host.seq = load_monitor(tx, row.id)
            host.start()
            host.rescored = rescores.read(tx, row.id, epoch=host.anchor_epoch)
            after = 0
            while page := items.waiting(tx, row.id, after=after, limit=1_000):
                for item in page:
                    host.line.append(Line(item.item_id, item.stratum, item.number))
                    if item.cheap is not None:
                        host.answers[item.item_id] = item.cheap
                after = page[-1].number
        return host

    def start(self) -> None:
        """The monitor runs: what was told of it so far is what it says now."""
        assert self.monitor is not None
        self.stride = trace.stride_of(self.monitor.position)
        self.told = self.monitor.verdict

    @property
    def running(self) -> Monitor:
        """The monitor of a host that has one."""
        assert self.monitor is not None
        return self.monitor

    @property
    def unsaved(self) -> int:
        """Events since the last snapshot."""
        return self.seq - self.snapshot_seq

    @property
    def anchor_epoch(self) -> int:
        """How often the anchors started anew."""
        return int(self.summary.get("anchor_epoch", 1))

    # Inputs. Each applies an event and puts it into the batch.

    def observe(self, batch: Batch, item_id: str, stratum: str, cheap: ScoresIn, fingerprint: str) -> tuple[int, Ask]:
        """The next item of the stream; returns its position and what is wanted."""
        assert self.monitor is not None
        event = Observed(item_id, stratum, cheap)
        ask = self.monitor.apply(event)
        assert ask is not None
        batch.touch(self)
        self.new_events.append((event, fingerprint))
        position = self.monitor.position
        if position // self.stride >= trace.MOST_POINTS:
            self.stride *= 2
            batch.thinned[self.id] = self.stride
        if position % self.stride == 0:
            batch.points.append(trace.row_of(self.id, self.point(batch.at)))
        return position, ask

    def strong(self, batch: Batch, item_id: str, scores: ScoresIn, fingerprint: str, usage: Usage | None) -> None:
        """Strong scores of an item."""
        assert self.monitor is not None
        event = StrongScored(item_id, scores)
        self.monitor.apply(event)
        batch.touch(self)
        self.new_events.append((event, fingerprint))
        batch.spend(self, "strong", fingerprint, usage, unscored=isinstance(scores, Failure))

    def anchor(self, batch: Batch, anchor_id: str, scores: ScoresIn, fingerprint: str, usage: Usage | None) -> None:
        """A re-score of an anchor."""
        assert self.monitor is not None
        event = AnchorRescored(anchor_id, scores)
        self.monitor.apply(event)
        batch.touch(self)
        self.new_events.append((event, fingerprint))
        failed = isinstance(scores, Failure)
        batch.spend(self, "anchor", fingerprint, usage, unscored=failed)
        before = self.rescored.get(anchor_id) or rescores.Rescored(
            anchor_id, self.anchor_epoch, 0, 0, (), None, batch.at
        )
        self.rescored[anchor_id] = before.with_scores(None if isinstance(scores, Failure) else scores, batch.at)
        self._rescored_now.add(anchor_id)
        self.summary["rescored_at"] = batch.at

    def take_rescored(self) -> dict[str, rescores.Rescored]:
        """Anchors that were re-scored since this was last asked."""
        now = {anchor: self.rescored[anchor] for anchor in self._rescored_now}
        self._rescored_now.clear()
        return now

    def forget_rescored(self) -> None:
        """A new epoch of the anchors."""
        self.summary["anchor_epoch"] = self.anchor_epoch + 1
        self.rescored.clear()
        self._rescored_now.clear()

    # What is kept of it.

    @property
    def waits(self) -> bool:
        """Some score is wanted."""
        if "setup" in self.summary or self.line:
            return True
        return self.monitor is not None and bool(self.monitor.pending_anchors or self.monitor.pending_items)

    def log_es(self) -> tuple[float | None, float | None]:
        """Natural logs of both families' e-values."""
        if self.monitor is None:
            return None, None
        judge = self.monitor.judge_evalue
        return log_evalue(self.monitor.system_evalue), log_evalue(judge) if judge == judge else None

    def point(self, at: float) -> trace.Point:
        """Both families now."""
        assert self.monitor is not None
        system, judge = self.log_es()
        cost = self.monitor.cost
        assert system is not None
        return trace.Point(self.monitor.position, system, judge, cost.strong_calls, cost.anchor_calls, at)

    def columns(self) -> dict[str, Any]:
        """The row's columns that follow from the state, for lists that load nothing."""
        self.summary["accepted"] = self.accepted
        self.summary["waits"] = self.waits
        if self.monitor is not None:
            system, judge = self.log_es()
            known = {"position": self.monitor.position, "verdict": to_json(self.monitor.verdict)}
            self.summary.update(known, log_e_system=system, log_e_judge=judge)
            self.summary["thresholds"] = [self.config.system_threshold, self.config.judge_threshold]
            anchors = self.monitor.anchors
            if anchors is not None:
                self.summary.update(anchors=len(anchors), frozen=self._frozen(), anchored=True)
        return {"summary": self.summary, "state": self.state, "last_item_at": self.last_item_at}

    def _frozen(self) -> str:
        assert self.monitor is not None
        assert self.monitor.anchors is not None
        if self.summary.get("frozen_epoch") != self.anchor_epoch:  # hashing a large set takes long
            self.summary.update(frozen_epoch=self.anchor_epoch, frozen=self.monitor.anchors.freeze_hash)
        return str(self.summary["frozen"])

    def trace(self, tx: Connection, at: float) -> Trace:
        """The race so far, the last point now."""
        import numpy as np

        assert self.monitor is not None
        points = [p for p in trace.read(tx, self.id) if p.position < self.monitor.position]
        if self.monitor.position:
            points.append(self.point(at))
        return Trace(
            position=np.array([p.position for p in points], dtype=np.int64),
            system=np.array([p.log_e_system for p in points], dtype=np.float64),
            judge=np.array([np.nan if p.log_e_judge is None else p.log_e_judge for p in points], dtype=np.float64),
            strong_calls=np.array([p.strong_calls for p in points], dtype=np.int64),
            anchor_calls=np.array([p.anchor_calls for p in points], dtype=np.int64),
            system_threshold=log_evalue(self.config.system_threshold),
            judge_threshold=log_evalue(self.config.judge_threshold),
        )
