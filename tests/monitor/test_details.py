"""The sentences under the verdict: each one a sentence, and the right ones for each verdict."""

from __future__ import annotations

import pytest

from driftjudge.monitor import Monitor
from driftjudge.monitor.details import listed
from tests.monitor.builders import (
    BAD,
    answer_all,
    drive,
    is_one_sentence,
    make_monitor,
    make_world,
    raise_judge_alarm,
    rescore_all,
    restored,
)


def dropped() -> Monitor:
    """A system verdict after a drop at item 200."""
    monitor = make_monitor(acquisition="uniform", budget=0.5)
    return drive(monitor, make_world(monitor, 700, drop_at=200))


def test_nothing_is_added_while_nothing_alarmed() -> None:
    assert make_monitor().evidence().details == ()


def test_a_judge_verdict_says_how_far_whether_it_agrees_and_what_that_leaves_of_the_system() -> None:
    monitor = make_monitor(anchor_every=1)
    raise_judge_alarm(monitor)
    lines = monitor.evidence().details
    text = " ".join(lines)
    assert "The judge scores helpfulness 0.2" in text
    assert "lower than at time 0" in text
    assert "agrees" in text
    assert "represent the items of every stratum" in text
    assert all(is_one_sentence(line) or len(line) <= 420 for line in lines)


def test_a_judge_nobody_asked_again_has_no_size() -> None:
    monitor = make_monitor(anchor_every=1, measure=0)
    raise_judge_alarm(monitor)
    assert "nothing is known about the size" in monitor.evidence().details[0]


def test_a_system_verdict_says_since_when_and_how_far() -> None:
    monitor = dropped()
    assert monitor.verdict.kind == "system"
    drop = monitor.evidence().drops[0]
    assert (drop.rubric, drop.stratum) == monitor.verdict.cells[0]
    assert drop.since_low <= 201 <= drop.since_high
    assert drop.since_high - drop.since_low < 200
    assert drop.size_low <= 0.7 <= drop.size_high + 0.05
    assert f"fell at about item {drop.since}" in monitor.evidence().details[0]
    assert "not bounds" in monitor.evidence().details[-1]


def test_what_the_alarm_said_survives_a_restart_and_ends_with_the_epoch() -> None:
    monitor = dropped()
    assert restored(monitor).evidence().drops == monitor.evidence().drops != ()
    monitor.acknowledge()
    assert monitor.evidence().drops == ()


def test_positions_of_a_later_epoch_count_on() -> None:
    monitor = dropped()
    monitor.acknowledge()
    began = monitor.position
    while monitor.verdict.kind == "none":
        monitor.observe(f"again{monitor.position}", stratum="coding", cheap=BAD)
        answer_all(monitor, BAD)
        rescore_all(monitor)
    assert began < monitor.evidence().drops[0].since <= monitor.position


@pytest.mark.parametrize(("names", "text"), [(["a"], "a"), (["a", "b"], "a and b")])
def test_names_are_listed(names: list[str], text: str) -> None:
    assert listed(names) == text
