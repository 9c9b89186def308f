"""Everything a caller can hand over wrongly: one clear sentence each, and nothing is lost."""

from __future__ import annotations

import math
from typing import Any

import pytest

from driftjudge import Failure, Monitor
from driftjudge.monitor.errors import (
    AnchorError,
    BufferFullError,
    CalibrationError,
    DuplicateError,
    MonitorError,
    ScoreError,
    UnaskedError,
    UnknownStratumError,
)
from tests.monitor.builders import (
    BAD,
    GOOD,
    answer_all,
    bars_at,
    make_anchors,
    make_calibration,
    make_config,
    make_monitor,
    refused,
    rescore,
    rescore_all,
)


def busy_monitor(**settings: Any) -> Monitor:
    """In the middle of its work: one strong score and one re-score are outstanding, one item is closed."""
    monitor = make_monitor(**{"budget": 1.0, "anchor_every": 1, **settings})
    for item_id in ("closed", "open"):
        monitor.observe(item_id, stratum="coding", cheap=GOOD)
    monitor.record_strong("closed", GOOD)
    rescore(monitor, monitor.pending_anchors[0])
    return monitor


BAD_SCORES: list[tuple[Any, tuple[str, ...]]] = [
    ((0.5, 1.2), ("'correctness' is 1.2", "outside [0, 1]", "map your scale")),
    ((-0.1, 0.5), ("'helpfulness' is -0.1", "outside [0, 1]", "map your scale")),
    ((0.5, math.inf), ("'correctness' is inf", "outside [0, 1]")),
    ((math.nan, 0.5), ("'helpfulness' is NaN", "pass a Failure")),
    ((0.5,), ("1 scores for the 2 rubrics helpfulness, correctness", "give one each")),
    ((0.5, 0.5, 0.5), ("3 scores for the 2 rubrics", "give one each")),
    ((), ("0 scores for the 2 rubrics", "give one each")),
    (("good", "bad"), ("numbers in rubric order", "('good', 'bad')")),
    ((None, 0.5), ("'helpfulness' is NaN", "pass a Failure")),
    (0.5, ("2 rubrics", "give one each")),
    (None, ("scores",)),
]


@pytest.mark.parametrize(("scores", "words"), BAD_SCORES, ids=str)
def test_cheap_scores_that_are_not_scores_are_refused(scores: Any, words: tuple[str, ...]) -> None:
    monitor = busy_monitor()
    with refused(ScoreError, "cheap scores of item 'new'", *words, monitor=monitor):
        monitor.observe("new", stratum="coding", cheap=scores)
    assert monitor.observe("new", stratum="coding", cheap=GOOD).strong


@pytest.mark.parametrize(("scores", "words"), BAD_SCORES, ids=str)
def test_strong_scores_that_are_not_scores_are_refused(scores: Any, words: tuple[str, ...]) -> None:
    monitor = busy_monitor()
    with refused(ScoreError, "strong scores of item 'open'", *words, monitor=monitor):
        monitor.record_strong("open", scores)
    monitor.record_strong("open", GOOD)
    assert monitor.pending_items == ()


@pytest.mark.parametrize(("scores", "words"), BAD_SCORES, ids=str)
def test_re_scores_that_are_not_scores_are_refused(scores: Any, words: tuple[str, ...]) -> None:
    monitor = busy_monitor()
    anchor = monitor.pending_anchors[0]
    with refused(ScoreError, f"re-score of anchor {anchor!r}", *words, monitor=monitor):
        monitor.record_anchor(anchor, scores)
    rescore(monitor, anchor)
    assert monitor.pending_anchors == ()


def test_an_unknown_stratum_is_refused_with_the_known_ones() -> None:
    monitor = busy_monitor()
    with refused(UnknownStratumError, "'new'", "'poetry'", "'coding', 'creative'", monitor=monitor):
        monitor.observe("new", stratum="poetry", cheap=GOOD)


@pytest.mark.parametrize("item_id", ["open", "closed"])
def test_a_duplicate_item_is_refused(item_id: str) -> None:
    monitor = busy_monitor()
    with refused(DuplicateError, repr(item_id), "already observed", "an id of its own", monitor=monitor):
        monitor.observe(item_id, stratum="coding", cheap=GOOD)


def test_a_duplicate_of_an_item_that_waits_is_refused_however_short_the_memory() -> None:
    monitor = make_monitor(budget=1.0, id_memory=1)
    for item_id in ("first", "second"):
        monitor.observe(item_id, stratum="coding", cheap=GOOD)
    with refused(DuplicateError, "'first'", monitor=monitor):
        monitor.observe("first", stratum="coding", cheap=GOOD)
    answer_all(monitor)
    assert monitor.pending_items == ()
    assert len(monitor._items) == 0


@pytest.mark.parametrize("item_id", [5, None, ("a", 1)], ids=str)
def test_an_item_id_that_is_no_text_is_refused(item_id: Any) -> None:
    monitor = busy_monitor()
    before = monitor.snapshot()
    with pytest.raises(MonitorError, match="text"):
        monitor.observe(item_id, stratum="coding", cheap=GOOD)
    assert monitor.snapshot() == before


def test_a_strong_score_nobody_asked_for_is_refused() -> None:
    monitor = busy_monitor()
    with refused(UnaskedError, "nobody asked", "'stranger'", "observe()", monitor=monitor):
        monitor.record_strong("stranger", GOOD)


def test_a_strong_score_for_a_closed_position_is_refused() -> None:
    monitor = busy_monitor()
    with refused(UnaskedError, "'closed' is closed", "already in", monitor=monitor):
        monitor.record_strong("closed", BAD)


def test_a_strong_score_for_an_item_the_coin_passed_over_is_refused() -> None:
    monitor = make_monitor(budget=1e-9)
    assert not monitor.observe("passed over", stratum="coding", cheap=GOOD).strong
    with refused(UnaskedError, "'passed over' is closed", "not asked about", monitor=monitor):
        monitor.record_strong("passed over", GOOD)


def test_a_second_strong_score_is_refused_while_the_first_still_waits_for_its_turn() -> None:
    monitor = make_monitor(budget=1.0)
    for item_id in ("slow", "fast"):
        monitor.observe(item_id, stratum="coding", cheap=GOOD)
    monitor.record_strong("fast", GOOD)
    with refused(UnaskedError, "'fast' is closed", monitor=monitor):
        monitor.record_strong("fast", BAD)


@pytest.mark.parametrize("anchor", ["a-stranger", "open"])
def test_a_re_score_of_an_unknown_anchor_is_refused(anchor: str) -> None:
    monitor = busy_monitor()
    with refused(UnaskedError, "nobody asked", repr(anchor), "pending_anchors", monitor=monitor):
        monitor.record_anchor(anchor, GOOD)


def test_a_re_score_nobody_asked_for_is_refused() -> None:
    monitor = busy_monitor()
    idle = next(anchor for anchor in make_anchors().ids if anchor not in monitor.pending_anchors)
    with refused(UnaskedError, "nobody asked", repr(idle), "pending_anchors", monitor=monitor):
        monitor.record_anchor(idle, GOOD)


def test_a_second_re_score_for_one_request_is_refused() -> None:
    monitor = busy_monitor()
    anchor = monitor.pending_anchors[0]
    rescore(monitor, anchor)
    with refused(UnaskedError, "nobody asked", repr(anchor), monitor=monitor):
        monitor.record_anchor(anchor, GOOD)


def test_a_re_score_without_anchors_is_refused() -> None:
    monitor = make_monitor(anchored=False)
    with refused(UnaskedError, "nobody asked", "'a1'", monitor=monitor):
        monitor.record_anchor("a1", GOOD)


def test_a_full_buffer_refuses_the_next_item_and_names_what_it_waits_for() -> None:
    monitor = make_monitor(budget=1.0, max_pending=3)
    for n in range(3):
        monitor.observe(f"x{n}", stratum="coding", cheap=GOOD)
    with refused(BufferFullError, "3 items wait", "'x0'", "record scores or failures", monitor=monitor):
        monitor.observe("x3", stratum="coding", cheap=GOOD)
    monitor.record_strong("x1", GOOD)
    with refused(BufferFullError, "'x0'", monitor=monitor):
        monitor.observe("x3", stratum="coding", cheap=GOOD)
    monitor.record_strong("x0", Failure("transport"))
    assert monitor.observe("x3", stratum="coding", cheap=GOOD).strong


def test_an_anchor_that_is_also_a_calibration_item_is_refused() -> None:
    config = make_config()
    calibration = make_calibration(config, ids=[f"c{n}" for n in range(598)] + ["a7", "a3"])
    with refused(AnchorError, "'a3'", "2 in all", "hold anchors out of calibration"):
        Monitor(config, calibration=calibration, anchors=make_anchors())


def test_a_calibration_of_another_shape_is_refused() -> None:
    other = make_config(strata=("coding", "creative", "math"))
    with refused(CalibrationError, "3 strata x 2 rubrics", "2 x 2", "calibrate with this config"):
        Monitor(make_config(), calibration=bars_at(0.7, other))


def test_anchors_with_other_rubrics_are_refused() -> None:
    config = make_config()
    with refused(AnchorError, "3 rubrics", "config has 2"):
        Monitor(config, calibration=make_calibration(config), anchors=make_anchors(rubrics=3))


def test_too_few_anchors_for_the_bounds_are_refused() -> None:
    config = make_config()
    with refused(AnchorError, "2 anchors x 1 bounding passes", "add anchors"):
        Monitor(config, calibration=make_calibration(config), anchors=make_anchors(count=2, passes=2))


def test_after_any_refusal_the_monitor_ends_where_an_undisturbed_one_ends() -> None:
    calm, disturbed = (make_monitor(budget=0.5, anchor_every=2) for _ in range(2))
    attempts: list[Any] = [
        lambda m, n: m.observe(f"x{n}", stratum="coding", cheap=GOOD),
        lambda m, n: m.observe(f"bad{n}", stratum="poetry", cheap=GOOD),
        lambda m, n: m.observe(f"bad{n}", stratum="coding", cheap=(2.0, 0.0)),
        lambda m, n: m.record_strong(f"bad{n}", GOOD),
        lambda m, n: m.record_anchor(f"stranger{n}", GOOD),
    ]
    for n in range(60):
        for monitor in (calm, disturbed):
            monitor.observe(f"x{n}", stratum="coding", cheap=BAD if n > 55 else GOOD)
            answer_all(monitor, GOOD)
            rescore_all(monitor)
        with pytest.raises(MonitorError):
            attempts[n % len(attempts)](disturbed, n)
    assert disturbed.snapshot() == calm.snapshot()
