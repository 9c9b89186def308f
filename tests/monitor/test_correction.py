"""After a judge alarm: what is asked for, what counts, and what bars are lowered by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from driftjudge.monitor import AnchorSet, Calibration, Monitor
from driftjudge.monitor.config import MOST_MEASURED
from driftjudge.monitor.correction import COUNT, STARTED, Correction, new_correction, read_shift, take_measure
from driftjudge.monitor.layout import NULL
from driftjudge.monitor.main_process import MainProcess
from tests.monitor.builders import (
    BAD,
    GOOD,
    STRATA,
    answer_all,
    bars_at,
    make_anchors,
    make_config,
    make_monitor,
    raise_judge_alarm,
    rescore,
    rescore_all,
    restored,
)


def corrected(monitor: Monitor) -> tuple[Correction, MainProcess]:
    assert monitor._correction is not None
    assert monitor._corrected is not None
    return monitor._correction, monitor._corrected


def measured(shift: float, count: int, **settings: Any) -> tuple[Correction, Monitor]:
    """A correction after `count` re-scores by a judge that moved by `shift` on every anchor."""
    monitor = make_monitor(**settings)
    assert monitor.anchors is not None
    assert monitor.baseline is not None
    correction, _ = new_correction(monitor.config, monitor.calibration, monitor.anchors, monitor.baseline, local=False)
    for n in range(count):
        take_measure(correction, n % 40, np.clip(monitor.baseline.usual[n % 40] + shift, 0.0, 1.0))
    read_shift(correction)
    return correction, monitor


def with_strata(**settings: Any) -> Monitor:
    """A monitor whose anchors belong to the two strata in turn."""
    config, plain = make_config(stratum_anchors=10, **settings), make_anchors()
    strata = [STRATA[a % 2] for a in range(len(plain))]
    anchors = AnchorSet(ids=plain.ids, human=plain.human, passes=plain.passes, strata=strata)
    return Monitor(config, calibration=bars_at(0.75, config), anchors=anchors)


def test_so_many_anchors_are_asked_for_when_the_judge_alarm_rises() -> None:
    monitor = make_monitor(anchor_every=1, measure=25)
    while monitor.verdict.kind == "none":
        monitor.observe(f"x{monitor.position}", stratum="coding", cheap=GOOD)
        answer_all(monitor)
        rescore(monitor, monitor.pending_anchors[0], -0.25)
    assert len(monitor.pending_anchors) == 25
    ask = monitor.observe("next", stratum="coding", cheap=GOOD)
    assert len(ask.anchors) == len(ask.draws) == 26  # the scheduled one as well
    rescore_all(monitor, -0.25)
    assert [shift.rescores for shift in monitor.evidence().shifts] == [26, 26]


def test_what_is_left_of_a_burst_is_kept_to_measure_the_judge() -> None:
    monitor = make_monitor(anchor_every=0, burst=60, measure=10, budget=1.0)
    while not monitor.pending_anchors:
        item = f"x{monitor.position}"
        monitor.observe(item, stratum="coding", cheap=BAD)
        monitor.record_strong(item, BAD)
    rescore_all(monitor, -0.25)
    assert monitor.verdict.kind == "judge"
    assert monitor.cost.anchor_calls == 60


def test_no_more_re_scores_are_kept_than_there_is_room_for() -> None:
    correction, _ = measured(-0.25, MOST_MEASURED + 5)
    assert correction.progress[COUNT] == MOST_MEASURED


def test_bars_are_lowered_by_more_than_the_shift_and_by_less_with_more_re_scores() -> None:
    few, _ = measured(-0.125, 30)
    many, _ = measured(-0.125, 300)
    assert (few.lowered < many.lowered).all()
    assert (many.lowered < -0.125 - 0.05).all()
    assert (many.lowered > -0.3).all()


def test_bars_are_never_raised_for_a_more_lenient_judge() -> None:
    correction, monitor = measured(0.25, 300)
    assert (correction.lowered == -monitor.config.shift_tolerance).all()


def test_a_refusal_counts_as_the_worst_score() -> None:
    plain, _ = measured(-0.125, 60)
    refused, _ = measured(-0.125, 60)
    take_measure(refused, 0, np.array([np.nan, 0.5]))
    take_measure(plain, 0, plain.usual[0] - 0.125)
    read_shift(refused)
    read_shift(plain)
    assert refused.lowered[0, 0] < plain.lowered[0, 0]


def test_one_baseline_pass_bounds_the_old_judge_by_its_size_alone() -> None:
    config, anchors = make_config(), make_anchors(passes=1)
    monitor = Monitor(config, calibration=bars_at(0.75, config), anchors=anchors)
    assert monitor.baseline is not None
    alone, _ = new_correction(config, monitor.calibration, anchors, monitor.baseline, local=False)
    six, _ = measured(0.0, 0)
    assert (alone.before > six.before + 0.1).all()


def test_without_a_share_of_alpha_the_system_is_not_tested() -> None:
    monitor = make_monitor(anchor_every=1, shift_share=0.0)
    raise_judge_alarm(monitor)
    assert monitor.verdict.system_during_judge == "untested"
    assert "not tested" in " ".join(monitor.evidence().details)


def run_down(monitor: Monitor, items: int, cheap: Any = BAD) -> None:
    """The system earns nothing any more while the judge stays one step lower."""
    for _ in range(items):
        item = f"down{monitor.position}"
        if monitor.observe(item, stratum="coding", cheap=cheap).strong:
            monitor.record_strong(item, BAD)
        rescore_all(monitor, -0.25)


def test_a_system_that_dropped_as_well_is_told_and_the_verdict_stays_judge() -> None:
    monitor = make_monitor(anchor_every=1, budget=1.0, acquisition="uniform")
    raise_judge_alarm(monitor)
    assert monitor.verdict.system_during_judge == "no drop shown"
    assert "your system got worse" not in monitor.verdict.explain()
    run_down(monitor, 150)
    verdict, during = monitor.verdict, monitor.evidence().during_judge
    assert (verdict.kind, verdict.status, verdict.system_during_judge) == ("judge", "final", "dropped")
    assert {stratum for _, stratum in verdict.system_during_judge_cells} == {"coding"}
    assert "your system got worse as well" in verdict.explain()
    assert during is not None
    assert during.alarm_at == verdict.system_during_judge_at
    assert during.log_e >= during.threshold
    assert [m.kind for m in monitor.evidence().story].count("corrected_alarm") == 1
    assert restored(monitor).verdict == verdict


def test_labels_of_items_from_before_the_alarm_do_not_count() -> None:
    monitor = make_monitor(anchor_every=1, budget=1.0, acquisition="uniform", measure=40)
    for n in range(60):
        monitor.observe(f"early{n}", stratum="coding", cheap=GOOD)
    rescore_all(monitor, -0.25)
    assert monitor.verdict.judge_alarm_at is not None
    early = monitor.verdict.judge_alarm_at
    for n in range(60):
        monitor.record_strong(f"early{n}", BAD if n < early else GOOD)
    correction, process = corrected(monitor)
    assert correction.progress[STARTED] == 1.0
    assert process.strata[0, 0] == 60 - early


def test_a_judge_that_moved_in_one_stratum_is_corrected_there_by_its_own_anchors() -> None:
    monitor = with_strata(anchor_every=1, measure=80)
    moved = [anchor for anchor in monitor._anchor_ids if int(anchor[1:]) % 2]
    while monitor.verdict.kind == "none" or monitor.pending_anchors:
        if not monitor.pending_anchors:
            monitor.observe(f"x{monitor.position}", stratum="coding", cheap=GOOD)
            answer_all(monitor)
        for anchor in monitor.pending_anchors:
            rescore(monitor, anchor, -0.25 if anchor in moved else 0.0)
    assert monitor.verdict.strata == ("creative",)
    assert "on the frozen anchors of creative" in monitor.verdict.explain()
    named = [(part.stratum, part.named) for part in monitor.evidence().judge_strata]
    assert named == [("coding", False), ("creative", True)]
    monitor.observe("next", stratum="coding", cheap=GOOD)
    answer_all(monitor)
    correction, process = corrected(monitor)
    coding, creative = correction.lowered
    assert (creative < coding - 0.15).all()
    assert (process.cells[:2, NULL] > process.cells[2:, NULL] + 0.15).all()
    assert restored(monitor).verdict == monitor.verdict


def test_anchors_of_an_unknown_stratum_are_refused() -> None:
    config, plain = make_config(), make_anchors()
    anchors = AnchorSet(ids=plain.ids, human=plain.human, passes=plain.passes, strata=["maths"] * len(plain))
    with pytest.raises(ValueError, match="unknown stratum 'maths'"):
        Monitor(config, calibration=bars_at(0.75, config), anchors=anchors)


def test_an_acknowledged_drop_starts_the_test_anew_and_keeps_what_was_measured() -> None:
    """The judge alarm came after the guard: the verdict was system, and the anchors go on."""
    monitor = make_monitor(anchor_every=1, burst=3, budget=1.0, acquisition="uniform", measure=30)
    while monitor.verdict.kind != "system" or monitor.verdict.status != "final":
        item = f"bad{monitor.position}"
        monitor.observe(item, stratum="coding", cheap=BAD)
        monitor.record_strong(item, BAD)
        rescore_all(monitor)
    run_down(monitor, 60)
    assert (monitor.verdict.kind, monitor.verdict.judge_alarm_at is not None) == ("system", True)
    known = corrected(monitor)[0].progress[COUNT]
    config = monitor.config
    bars = np.full((2, 2), 0.3)
    monitor.acknowledge(Calibration(bars, np.zeros((2, 2)), bars - 0.05, np.full((2, 2), 100), frozenset()))
    correction, process = corrected(monitor)
    assert correction.progress[COUNT] == known > 0
    assert process.strata[:, 0].sum() == 0.0
    assert process.threshold == config.corrected_threshold


def test_the_threshold_leaves_what_bars_and_shift_have_spent() -> None:
    config = make_config(alpha_system=0.1, baseline_share=0.2, shift_share=0.3)
    assert config.corrected_threshold == pytest.approx(1.0 / 0.05)
    with pytest.raises(ValueError, match="leave nothing of alpha_system"):
        make_config(baseline_share=0.5, shift_share=0.5)
