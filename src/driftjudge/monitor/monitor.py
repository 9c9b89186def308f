"""The Monitor: a state machine that is told what was observed and answers with what it wants scored next.

It does no I/O, knows no clock but the stream's positions, and draws only keyed coins, so that the same inputs always
give the same state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor import clock as ck
from driftjudge.monitor import events, snapshots
from driftjudge.monitor.anchor_process import AnchorProcess, anchor_evalue, new_anchor_process
from driftjudge.monitor.anchors import AnchorSet
from driftjudge.monitor.attribution import attribute
from driftjudge.monitor.baseline import Baseline, baseline_of
from driftjudge.monitor.block import Block, run_block
from driftjudge.monitor.calibration import Calibration
from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.correction import (
    ALARM_AT,
    COUNT,
    SETTLED,
    Correction,
    correct_item,
    new_correction,
    read_shift_when_due,
    take_measure,
)
from driftjudge.monitor.errors import (
    BufferFullError,
    DuplicateError,
    EpochError,
    MonitorError,
    ScoreError,
    StoppedError,
    UnaskedError,
    UnknownStratumError,
)
from driftjudge.monitor.evidence import Cost, Drop, Evidence, Milestone
from driftjudge.monitor.fitting import check_fit
from driftjudge.monitor.main_process import MainProcess, main_evalue, new_main_process
from driftjudge.monitor.queues import Draw, DrawLine, ItemLine, Memory, WaitingItem
from driftjudge.monitor.scores import Failure, Scores, fill_row, refusal_of, score_row
from driftjudge.monitor.stream import APPLIED_WITH_ALARM, ASKED, Fields, take_item, take_label, take_rescore
from driftjudge.monitor.summary import cost_of, drops_of, evidence_of, moved_rubrics, moved_strata, named_cells
from driftjudge.monitor.verdict import During, Verdict
from driftjudge.stats.coins import ACQUISITION, ANCHOR_DRAW, Coins
from driftjudge.stats.errors import SupermartingaleError

MOST_MILESTONES = 1_000


class Ask(NamedTuple):
    """What the monitor wants scored after an observation."""

    strong: bool
    """Ask the strong judge about this item."""
    anchors: tuple[str, ...]
    """Re-score these anchors with the current strong judge."""
    probability: float
    """pi: the probability with which `strong` came out True."""
    draws: tuple[int, ...] = ()
    """Number of the draw behind each of `anchors`; handed back with a re-score it says which request it answers."""


class Monitor:
    """Watches one stream: see the README for the loop that drives it.

    Without anchors it refuses to attribute: alarms are reported as `unattributed`, never as `system`.
    """

    def __init__(self, config: MonitorConfig, *, calibration: Calibration, anchors: AnchorSet | None = None) -> None:
        self.config = config
        self._strata = {name: t for t, name in enumerate(config.strata)}
        self._row: NDArray[np.float64] = np.empty(len(config.rubrics))
        self._clock = ck.new_clock()
        self.epoch = 1
        self._items = ItemLine()
        self._draws = DrawLine()
        self._seen_ids = Memory(config.id_memory)
        self._withdrawn = Memory(config.id_memory)
        self._stale: Counter[str] = Counter()
        self._story: list[Milestone] = []
        self._cells: tuple[tuple[str, str], ...] = ()
        self._rubrics: tuple[tuple[str, str], ...] = ()
        self._moved_strata: tuple[str, ...] = ()
        self._dropped_too: tuple[tuple[str, str], ...] = ()
        self._drops: tuple[Drop, ...] = ()
        self._correction: Correction | None = None
        self._corrected: MainProcess | None = None
        self._local = False
        self._coins = Coins(config.seed)
        check_fit(config, calibration, anchors)
        self._install_main(calibration)
        self._install_anchors(anchors, baseline_of(anchors, config) if anchors is not None else None)
        self._stopped = ""
        self._verdict = self._read_verdict()

    def _install_main(self, calibration: Calibration) -> None:
        self.calibration = calibration
        self._main: MainProcess = new_main_process(self.config, calibration)
        self._main_fields = tuple(self._main)
        self._asking_fields: Fields = self._main_fields

    def _install_anchors(self, anchors: AnchorSet | None, baseline: Baseline | None) -> None:
        self.anchors, self.baseline = anchors, baseline
        self._anchor: AnchorProcess | None = None
        self._anchor_fields: Fields = ()
        self._anchor_index: dict[str, int] = {}
        if anchors is not None and baseline is not None:
            self._anchor = new_anchor_process(self.config, anchors, baseline)
            self._anchor_fields = tuple(self._anchor)
            self._anchor_index = {anchors.ids[a]: i for i, a in enumerate(baseline.kept.tolist())}
        self._anchor_ids = tuple(self._anchor_index)
        anchored = self._anchor is not None
        self._every = self.config.anchor_every if anchored else 0
        self._burst = self.config.burst if anchored else 0
        self._measure = self.config.measure if anchored else 0
        self._moved_strata = ()
        self._drop_correction()
        self._guard = self.config.guard

    def _install_correction(self) -> None:
        """From the judge alarm on: measure the judge anew, and test the system against bars lowered by its shift."""
        assert self.anchors is not None
        assert self.baseline is not None
        self._correction, self._corrected = new_correction(
            self.config, self.calibration, self.anchors, self.baseline, local=self._local
        )
        if self.config.acquisition == "recent":
            self._asking_fields = tuple(self._corrected)
        self._dropped_too = ()

    def _settle_correction(self) -> None:
        """Once the re-scores asked for at the alarm are in: did the judge move everywhere, or in some strata only?"""
        correction = self._correction
        if correction is None or correction.progress[SETTLED] or correction.progress[COUNT] != self._measure:
            return
        assert self._anchor is not None
        assert self.baseline is not None
        self._moved_strata = moved_strata(self._anchor, self.config, self.baseline, apart=True)
        if self._moved_strata and not self._local:
            self._local = True
            correction = self._restart_correction()
        correction.progress[SETTLED] = 1.0
        self._compute(read_shift_when_due, correction, self._corrected)
        self._refresh()

    def _restart_correction(self) -> Correction:
        """Start the test anew; what was measured stays true."""
        before = self._correction
        self._install_correction()
        after = self._correction
        assert before is not None
        assert after is not None
        after.measured[...] = before.measured
        after.progress[[COUNT, SETTLED]] = before.progress[[COUNT, SETTLED]]
        return after

    def _drop_correction(self) -> None:
        self._correction, self._corrected, self._local = None, None, False
        self._asking_fields = self._main_fields
        self._dropped_too = ()

    # The loop: observe, record.

    def observe(self, item_id: str, *, stratum: str, cheap: Scores) -> Ask:
        """Take in the next item of the stream and say what should be scored because of it."""
        self._check_running()
        if not isinstance(item_id, str):
            raise MonitorError(f"item ids are texts, got {item_id!r}; turn it into one first")
        t = self._strata.get(stratum)
        if t is None:
            raise UnknownStratumError(
                f"item {item_id!r} has the unknown stratum {stratum!r}; the config has "
                f"{', '.join(map(repr, self.config.strata[:8]))}"
            )
        if item_id in self._seen_ids or item_id in self._items:
            raise DuplicateError(f"item {item_id!r} was already observed; give every item an id of its own")
        waiting = len(self._items)
        if waiting >= self.config.max_pending:
            raise BufferFullError(
                f"{waiting} items wait for strong scores; record scores or failures for "
                f"{self._items.wanted_ids()[0]!r} and others first"
            )
        row = self._row
        scored = fill_row(row, cheap, self.config.rubrics, "cheap scores of item", item_id)
        clock = self._clock
        drawn = clock.item(ck.DRAWN)
        outcome, pi = self._compute(
            take_item, self._main_fields, self._asking_fields, clock, self._burst, self._guard, self._every,
            len(self._draws) < self.config.max_pending, t, row, scored,
            self._coins.coin(ACQUISITION, clock.item(ck.POSITION)), not waiting,
        )  # fmt: skip
        if outcome < 0:
            rubric = -1 - outcome
            raise ScoreError(
                refusal_of(float(row[rubric]), self.config.rubrics[rubric], f"cheap scores of item {item_id!r}")
            )
        self._seen_ids.add(item_id)
        if outcome > APPLIED_WITH_ALARM:
            self._items.add(WaitingItem(item_id, clock.item(ck.POSITION), t, row.copy(), outcome == ASKED, pi))
        else:
            if outcome == APPLIED_WITH_ALARM:
                self._on_system_alarm()
            if self._correction is not None:
                self._correct(clock.item(ck.POSITION), t, row, False, pi, row)
        wanted = self._issue_draws(drawn) if len(self._draws) or clock.item(ck.DRAWN) != drawn else []
        if self._verdict.status == "pending":
            self._refresh()
        if not wanted:
            return Ask(outcome == ASKED, (), pi)
        anchors = tuple([self._anchor_ids[draw.anchor] for draw in wanted])
        return Ask(outcome == ASKED, anchors, pi, tuple([draw.number for draw in wanted]))

    def record_strong(self, item_id: str, scores: Scores) -> None:
        """Take in the strong judge's scores (in rubric order) or its failure for an item that was asked about.

        A score for an item of an epoch that has ended meanwhile is ignored.
        """
        self._check_running()
        item = self._items.wanted(item_id)
        if item is None:
            if item_id in self._withdrawn:
                return
            if item_id in self._seen_ids:
                raise UnaskedError(f"item {item_id!r} is closed: it was not asked about, or its score is already in")
            raise UnaskedError(
                f"nobody asked for a strong score of {item_id!r}; record scores only where observe() said so"
            )
        label = score_row(scores, self.config.rubrics, "strong scores of item", item_id)
        if label is None:
            label = np.full(len(self.config.rubrics), np.nan)
            self._clock[ck.STRONG_UNSCORED] += 1
        self._items.fill(item, label)
        self._apply_items()
        if self._verdict.status == "pending":
            self._refresh()

    def record_anchor(self, anchor_id: str, scores: Scores, draw: int | None = None) -> None:
        """Take in the current judge's scores or its failure for an anchor that was asked for.

        `draw` is the number of the request that this answers (`Ask.draws`, `pending_draws`). With it, late answers of
        the judge before a re-anchoring are told from the new one's; without it, as many as were outstanding are taken
        for the old judge's.

        A transport failure carries no evidence: the anchor is asked for again with the next item. A re-score that was
        withdrawn meanwhile (the anchors had already alarmed) is ignored.
        """
        self._check_running()
        anchor = self._anchor_index.get(anchor_id)
        request = None if anchor is None else self._draws.wanted(anchor, draw)
        # Still an answer of the judge before the last re-anchoring, by its number or because nobody can tell.
        if self._stale[anchor_id] > 0 and (draw is None or request is None):
            self._stale[anchor_id] -= 1
            return
        if request is None:
            if anchor_id in self._withdrawn:
                self._clock[ck.ANCHOR_CALLS] += 1  # paid for all the same
                return
            raise UnaskedError(f"nobody asked for a re-score of anchor {anchor_id!r}; see monitor.pending_anchors")
        row = score_row(scores, self.config.rubrics, "re-score of anchor", anchor_id)
        if isinstance(scores, Failure) and scores.reason == "transport":
            self._clock[ck.ANCHOR_UNSCORED] += 1
            request.again = True
            return
        if row is None:
            row = np.full(len(self.config.rubrics), np.nan)
            self._clock[ck.ANCHOR_UNSCORED] += 1
        request.scores, request.again = row, False
        self._apply_draws()
        if self._verdict.status == "pending":
            self._refresh()

    @property
    def pending_anchors(self) -> tuple[str, ...]:
        """Anchors whose re-scores are wanted now, oldest first; a burst shows up here."""
        if not len(self._draws):  # asked after every item, and nearly always empty
            return ()
        return tuple([self._anchor_ids[draw.anchor] for draw in self._draws.outstanding()])

    @property
    def pending_draws(self) -> tuple[tuple[int, str], ...]:
        """The same with the number of each draw, for callers that hand it back with the re-score."""
        return tuple([(draw.number, self._anchor_ids[draw.anchor]) for draw in self._draws.outstanding()])

    @property
    def pending_items(self) -> tuple[str, ...]:
        """Items whose strong scores are wanted now, oldest first."""
        return self._items.wanted_ids()

    def awaits(self, item_id: str) -> bool:
        """Whether this item's strong scores are wanted now."""
        return self._items.wanted(item_id) is not None

    def ignores(self, item_id: str) -> bool:
        """Whether this item's strong scores would be taken without effect, because its epoch has ended."""
        return item_id in self._withdrawn

    @property
    def waiting(self) -> int:
        """Items in line because their own strong score, or an older item's, is outstanding: see `max_pending`."""
        return len(self._items)

    def observe_block(self, block: Block) -> None:
        """Take in many items whose scores are all known already; the same evidence as one by one, at full speed."""
        run_block(self, block)

    # What it knows.

    @property
    def position(self) -> int:
        """Items observed so far."""
        return self._clock.item(ck.POSITION)

    @property
    def verdict(self) -> Verdict:
        """Who drifted, as far as the evidence goes."""
        return self._verdict

    @property
    def system_evalue(self) -> float:
        """The main family's e-value; the alarm rises at `config.system_threshold`."""
        return float(main_evalue(self._main))

    @property
    def judge_evalue(self) -> float:
        """The anchor family's e-value (NaN without anchors); the alarm rises at `config.judge_threshold`."""
        return float("nan") if self._anchor is None else float(anchor_evalue(self._anchor))

    @property
    def cost(self) -> Cost:
        """What was spent so far."""
        return cost_of(self)

    def evidence(self) -> Evidence:
        """Everything behind the verdict, as plain values."""
        return evidence_of(self)

    # After a verdict.

    def acknowledge(self, calibration: Calibration | None = None) -> None:
        """Take note of a system (or unattributed) verdict: the main family starts anew, in a new epoch.

        The anchors go on: nothing happened to the judge. Give a new calibration to accept the new level as the bar;
        without one a system that stays below its bar will alarm again. Items that still wait for scores belong to the
        old epoch.
        """
        if self._verdict.kind == "judge":
            raise EpochError(
                "the verdict is judge: the bars belong to the old judge, so call reanchor() with new baseline passes "
                "and a new calibration"
            )
        if self._verdict.status != "final":
            raise EpochError(
                f"the verdict is {self._verdict.kind!r} and {self._verdict.status}; there is nothing final to "
                "acknowledge yet"
            )
        bars = calibration or self.calibration
        check_fit(self.config, bars, self.anchors)
        self._install_main(bars)
        self._withdraw_items()
        if self._correction is not None:
            self._restart_correction()
        self._clock[[ck.SYSTEM_AT, ck.GUARD_DRAW, ck.MISSED]] = 0
        # A judge alarm that came after the guard stays on the books: it belongs to the anchors, which go on.
        self._new_epoch("acknowledged", "the system verdict was acknowledged; the main family starts anew")

    def reanchor(self, anchors: AnchorSet, calibration: Calibration) -> None:
        """Accept the current judge: new baseline passes and bars scored by it, and a new epoch for both families.

        Scores still outstanding belong to the old judge; they may be recorded but carry no evidence. For anchors that
        stay, that many answers are taken for the old judge's first.
        """
        check_fit(self.config, calibration, anchors)
        baseline = baseline_of(anchors, self.config)
        for draw in self._draws:
            if draw.scores is None and not draw.again:
                self._stale[self._anchor_ids[draw.anchor]] += 1
        self._withdraw_draws()
        self._clock[ck.CLOSED] = self._clock[ck.DRAWN]
        self._install_main(calibration)
        self._install_anchors(anchors, baseline)
        self._withdraw_items()
        self._clock[[ck.SYSTEM_AT, ck.JUDGE_AT, ck.JUDGE_DRAW, ck.GUARD_DRAW, ck.MISSED]] = 0
        self._rubrics = ()
        self._new_epoch("reanchored", f"new baseline for {len(anchors)} anchors ({anchors.freeze_hash[:12]})")

    # Logs and snapshots.

    def apply(self, event: events.Event) -> Ask | None:
        """Feed one logged event; folding a log gives the state of the monitor that wrote it, bit for bit."""
        match event:
            case events.Observed(item_id, stratum, cheap):
                return self.observe(item_id, stratum=stratum, cheap=cheap)
            case events.StrongScored(item_id, scores):
                self.record_strong(item_id, scores)
            case events.AnchorRescored(anchor_id, scores, draw):
                self.record_anchor(anchor_id, scores, draw)
            case events.Acknowledged(calibration):
                self.acknowledge(calibration)
            case events.Reanchored(anchors, calibration):
                self.reanchor(anchors, calibration)
        return None

    def fold(self, log: Iterable[events.Event]) -> Monitor:
        """Feed a whole log."""
        for event in log:
            self.apply(event)
        return self

    def snapshot(self) -> dict[str, Any]:
        """The whole state as JSON-able values; `Monitor.restore` continues from it bit for bit."""
        return snapshots.take(self)

    @classmethod
    def restore(cls, state: Mapping[str, Any], *, config: MonitorConfig | None = None) -> Monitor:
        """A monitor that goes on where the snapshot was taken; with `config`, refuse a snapshot of another one."""
        return snapshots.restore(cls, state, config)

    # Inner workings.

    def _compute(self, step: Callable[..., Any], *arguments: Any) -> Any:
        """Run a kernel; if it finds that evidence would stop being valid, never run another."""
        self._check_running()
        try:
            return step(*arguments)
        except SupermartingaleError as error:
            self._stopped = str(error)
            raise

    def _check_running(self) -> None:
        if self._stopped:
            raise StoppedError(
                f"the monitor stopped itself: {self._stopped}; restore an earlier snapshot and report this"
            )

    def _issue_draws(self, before: int) -> list[Draw]:
        """Turn newly counted draws into anchors to ask for, with those to be asked again first."""
        return self._draws.ask_again() + self._new_draws(before, told=True)

    def _new_draws(self, before: int, *, told: bool) -> list[Draw]:
        issued = []
        for number in range(before, self._clock.item(ck.DRAWN)):
            anchor = int(self._coins.coin(ANCHOR_DRAW, number) * len(self._anchor_ids))
            issued.append(Draw(number, self.position, anchor, told=told))
            self._draws.add(issued[-1])
        return issued

    def _apply_items(self) -> None:
        while (item := self._items.pop_ready()) is not None:
            label = item.cheap if item.label is None else item.label
            drawn = self._clock.item(ck.DRAWN)
            if self._compute(
                take_label, self._main_fields, self._clock, self._burst, self._guard, self._every, item.position,
                item.stratum, item.cheap, item.asked, item.pi, label,
            ):  # fmt: skip
                self._new_draws(drawn, told=False)
                self._on_system_alarm()
            if self._correction is not None and item.position > self._clock[ck.JUDGE_AT]:
                self._correct(item.position, item.stratum, item.cheap, item.asked, item.pi, label)

    def _correct(
        self,
        position: int,
        t: int,
        cheap: NDArray[np.float64],
        asked: bool,
        pi: float,
        label: NDArray[np.float64],
    ) -> None:
        """Let the test against lowered bars take in an item observed after the judge alarm."""
        if self._compute(correct_item, self._correction, self._corrected, position, t, cheap, asked, pi, label):
            self._on_corrected_alarm()

    def _apply_draws(self) -> None:
        while (draw := self._draws.pop_ready()) is not None:
            drawn, measure = self._clock.item(ck.DRAWN), self._measure
            if self._compute(
                take_rescore, self._anchor_fields, self._clock, draw.position, draw.anchor, draw.scores, measure
            ):
                if not measure:
                    self._withdraw_draws()
                self._new_draws(drawn, told=False)
                self._on_judge_alarm()
            elif self._correction is not None:
                self._compute(take_measure, self._correction, draw.anchor, draw.scores)
                self._settle_correction()

    def _withdraw_items(self) -> None:
        """Items in line belong to the epoch that ends: their labels may come, and carry no evidence."""
        for item in self._items.clear():
            self._withdrawn.add(item.id)
        self._clock[ck.APPLIED] = self._clock[ck.POSITION]

    def _withdraw_draws(self) -> None:
        for draw in self._draws.clear():
            self._withdrawn.add(self._anchor_ids[draw.anchor])

    def _on_system_alarm(self) -> None:
        self._cells = named_cells(self._main, self.config)
        at = int(self._clock[ck.SYSTEM_AT])
        self._drops = drops_of(self._main, self._cells, self.config, at)
        self._tell("system_alarm", f"the main family's evidence reached {self.config.system_threshold:.1f}", at)
        self._refresh()

    def _on_judge_alarm(self) -> None:
        assert self._anchor is not None
        self._rubrics = moved_rubrics(self._anchor, self.config)
        assert self.baseline is not None
        self._moved_strata = moved_strata(self._anchor, self.config, self.baseline)
        self._local = bool(self._moved_strata)
        self._anchor.shifts[:] = 0.0  # from here on the interval measures the judge that raised the alarm
        self._install_correction()
        self._settle_correction()
        at = int(self._clock[ck.JUDGE_AT])
        self._tell("judge_alarm", f"the anchor family's evidence reached {self.config.judge_threshold:.1f}", at)
        self._refresh()

    @property
    def _corrected_at(self) -> int:
        """Position at which the system was shown to have dropped although the judge moved; 0 for not."""
        return 0 if self._correction is None else int(self._correction.progress[ALARM_AT])

    def _on_corrected_alarm(self) -> None:
        assert self._corrected is not None
        self._dropped_too = named_cells(self._corrected, self.config)
        reached = f"evidence against bars lowered by the judge's shift reached {self.config.corrected_threshold:.1f}"
        self._tell("corrected_alarm", reached, self._corrected_at)
        self._refresh()

    def _new_epoch(self, kind: str, text: str) -> None:
        self.epoch += 1
        self._cells, self._drops = (), ()
        self._tell(kind, text, self.position)
        self._verdict = self._read_verdict()

    def _tell(self, kind: str, text: str, position: int) -> None:
        self._story.append(Milestone(position, kind, text))
        del self._story[:-MOST_MILESTONES]

    def _refresh(self) -> None:
        before = self._verdict
        self._verdict = self._read_verdict()
        if before.status != "final" and self._verdict.status == "final" and self._verdict.kind == "system":
            self._tell("guard_closed", "the guard closed without a word from the anchors", self.position)

    def _read_verdict(self) -> Verdict:
        kind, status = attribute(
            self._clock,
            guard=self.config.guard,
            burst=self._burst,
            anchored=self._anchor is not None,
            oldest_open_item=self._items.oldest_position,
        )
        system_at, judge_at = int(self._clock[ck.SYSTEM_AT]), int(self._clock[ck.JUDGE_AT])
        return Verdict(
            kind=kind,
            status=status,
            position=max(system_at, judge_at),
            epoch=self.epoch,
            system_alarm_at=system_at or None,
            judge_alarm_at=judge_at or None,
            cells=self._cells if system_at else (),
            rubrics=self._rubrics if judge_at else (),
            promise=self.config.promise if self._anchor is not None else self.config.system_promise,
            judge_watched=self._anchor is not None,
            strata=self._moved_strata if judge_at else (),
            system_during_judge=self._system_during_judge(),
            system_during_judge_at=self._corrected_at or None,
            system_during_judge_cells=self._dropped_too,
        )

    def _system_during_judge(self) -> During:
        if self._correction is None or not self._correction.test:
            return "untested"
        return "dropped" if self._corrected_at else "no drop shown"
