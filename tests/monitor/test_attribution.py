from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from driftjudge.monitor import clock as ck
from driftjudge.monitor.attribution import attribute


def clock_at(**fields: int) -> NDArray[np.int64]:
    clock = ck.new_clock()
    for name, value in fields.items():
        clock[getattr(ck, name)] = value
    return clock


def in_positions(
    system_at: int,
    judge_at: int,
    *,
    position: int = 10_000,
    guard: int = 50,
    open_item: int | None = None,
    open_draw: int | None = None,
) -> tuple[str, str]:
    """The paper's guard, counted in positions: with a draw at every position, a draw's number is its position."""
    clock = clock_at(
        POSITION=position,
        SYSTEM_AT=system_at,
        JUDGE_AT=judge_at,
        JUDGE_DRAW=judge_at,
        GUARD_DRAW=system_at + guard if system_at else 0,
        DRAWN=position,
        CLOSED=position if open_draw is None else open_draw - 1,
    )
    return attribute(clock, guard=guard, burst=0, anchored=True, oldest_open_item=open_item)


def in_draws(system_at: int, judge_draw: int, *, guard_draw: int = 60, closed: int = 0) -> tuple[str, str]:
    """The guard counted in re-scores: what there is with a burst."""
    clock = clock_at(
        POSITION=10_000,
        SYSTEM_AT=system_at,
        JUDGE_AT=500 if judge_draw else 0,
        JUDGE_DRAW=judge_draw,
        GUARD_DRAW=guard_draw if system_at else 0,
        CLOSED=closed,
    )
    return attribute(clock, guard=0, burst=60, anchored=True)


@pytest.mark.parametrize(
    ("system_at", "judge_at", "kind"),
    [
        (0, 0, "none"),
        (100, 0, "system"),
        (0, 100, "judge"),
        (100, 1, "judge"),
        (100, 100, "judge"),
        (100, 149, "judge"),
        (100, 150, "judge"),
        (100, 151, "system"),
    ],
)
def test_the_verdict_once_everything_is_in_is_equation_7(system_at: int, judge_at: int, kind: str) -> None:
    assert in_positions(system_at, judge_at) == (kind, "watching" if kind == "none" else "final")


@given(
    system_at=st.integers(0, 200), judge_at=st.integers(0, 200), guard=st.integers(0, 100), position=st.integers(0, 400)
)
def test_a_final_verdict_never_differs_from_equation_7(
    system_at: int, judge_at: int, guard: int, position: int
) -> None:
    """tau_anc <= tau_sys + W: judge; tau_sys alone with the guard closed: system; with infinity for no alarm."""
    position = max(position, system_at, judge_at)
    kind, status = in_positions(system_at, judge_at, guard=guard, position=position)
    tau_system, tau_anchor = (at or float("inf") for at in (system_at, judge_at))
    if tau_anchor < float("inf") and tau_anchor <= tau_system + guard:
        assert (kind, status) == ("judge", "final")
    elif tau_system < float("inf"):
        closed = judge_at > 0 or position >= system_at + guard
        assert (kind, status) == ("system", "final" if closed else "pending")
    else:
        assert (kind, status) == ("none", "watching")


@pytest.mark.parametrize(("position", "status"), [(100, "pending"), (149, "pending"), (150, "final")])
def test_the_guard_closes_once_its_last_position_is_in(position: int, status: str) -> None:
    assert in_positions(100, 0, position=position) == ("system", status)


@pytest.mark.parametrize(("open_draw", "status"), [(90, "pending"), (150, "pending"), (151, "final")])
def test_the_guard_stays_open_while_a_re_score_asked_for_within_it_is_outstanding(open_draw: int, status: str) -> None:
    assert in_positions(100, 0, open_draw=open_draw) == ("system", status)


@pytest.mark.parametrize(("open_item", "status"), [(49, "pending"), (50, "final"), (99, "final"), (200, "final")])
def test_a_judge_verdict_is_pending_while_a_late_score_could_put_the_main_alarm_beyond_the_guard(
    open_item: int, status: str
) -> None:
    assert in_positions(0, 100, open_item=open_item) == ("judge", status)


@pytest.mark.parametrize(
    ("system_at", "judge_draw", "closed", "expected"),
    [
        (0, 0, 0, ("none", "watching")),
        (0, 5, 5, ("judge", "final")),
        (100, 0, 59, ("system", "pending")),
        (100, 0, 60, ("system", "final")),
        (100, 5, 60, ("judge", "final")),
        (100, 60, 60, ("judge", "final")),
        (100, 61, 61, ("system", "final")),
    ],
)
def test_with_a_burst_the_guard_counts_re_scores(
    system_at: int, judge_draw: int, closed: int, expected: tuple[str, str]
) -> None:
    assert in_draws(system_at, judge_draw, closed=closed) == expected


def test_with_a_burst_a_judge_verdict_does_not_wait_for_late_items() -> None:
    clock = clock_at(POSITION=500, JUDGE_AT=400, JUDGE_DRAW=8, CLOSED=8, DRAWN=8)
    assert attribute(clock, guard=0, burst=60, anchored=True, oldest_open_item=1) == ("judge", "final")


@given(system_at=st.integers(0, 200), position=st.integers(0, 400), burst=st.sampled_from([0, 60]))
def test_without_anchors_nothing_is_ever_blamed_on_the_system(system_at: int, position: int, burst: int) -> None:
    clock = clock_at(POSITION=max(position, system_at), SYSTEM_AT=system_at)
    expected = ("unattributed", "final") if system_at else ("none", "watching")
    assert attribute(clock, guard=50, burst=burst, anchored=False) == expected
