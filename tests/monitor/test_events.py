from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from driftjudge import Failure
from driftjudge.monitor.errors import MonitorError
from driftjudge.monitor.events import (
    Acknowledged,
    AnchorRescored,
    Event,
    Observed,
    Reanchored,
    StrongScored,
    event_from_json,
    event_to_json,
)
from tests.monitor.builders import (
    drive,
    make_anchors,
    make_calibration,
    make_config,
    make_monitor,
    make_world,
    refused,
    tell,
    through_json,
)
from tests.monitor.test_block import CHANGES, MONITORS


@settings(max_examples=30)
@given(monitors=MONITORS, changes=CHANGES)
def test_folding_the_event_log_gives_the_state_of_the_monitor_that_wrote_it(
    monitors: dict[str, Any], changes: dict[str, Any]
) -> None:
    writer, log = make_monitor(**monitors), list[Event]()
    drive(writer, make_world(writer, 120, **changes), log=log)
    reader = make_monitor(**monitors).fold(event_from_json(through_json(event_to_json(event))) for event in log)
    assert reader.snapshot() == writer.snapshot()


def test_epochs_are_in_the_log_too() -> None:
    writer, log = make_monitor(anchor_every=5), list[Event]()
    world = make_world(writer, 500, drop_at=50, harsher_at=250)
    drive(writer, world, 0, 200, log=log)
    tell(writer, Acknowledged(make_calibration(writer.config, seed=5)), log)
    drive(writer, world, 200, 400, log=log)
    tell(writer, Reanchored(make_anchors(seed=6, prefix="b"), make_calibration(writer.config, seed=6)), log)
    drive(writer, world, 400, 500, log=log)
    reader = make_monitor(anchor_every=5).fold(event_from_json(through_json(event_to_json(event))) for event in log)
    assert writer.epoch == 3
    assert reader.snapshot() == writer.snapshot()


def test_only_an_observation_is_answered_with_an_ask() -> None:
    monitor = make_monitor(budget=1.0)
    ask = monitor.apply(Observed("x", "coding", (0.5, 0.5)))
    assert ask is not None
    assert ask.strong
    assert monitor.apply(StrongScored("x", (0.5, 0.5))) is None


@pytest.mark.parametrize(
    "event",
    [
        Observed("x", "coding", (0.1, 1.0)),
        Observed("x", "coding", Failure("transport", "HTTP 529")),
        StrongScored("x", (1 / 3, 0.0)),
        StrongScored("x", Failure("unparsable")),
        AnchorRescored("a1", (0.5, 0.25)),
        AnchorRescored("a1", Failure("refusal", "I cannot")),
        Acknowledged(),
    ],
    ids=str,
)
def test_an_event_comes_back_from_json_equal(event: Event) -> None:
    assert event_from_json(through_json(event_to_json(event))) == event


def test_a_re_anchoring_comes_back_from_json_with_its_anchors_and_bars() -> None:
    event = Reanchored(make_anchors(), make_calibration(make_config()))
    back = event_from_json(through_json(event_to_json(event)))
    assert isinstance(back, Reanchored)
    assert back.anchors.to_json() == event.anchors.to_json()
    assert back.calibration.to_json() == event.calibration.to_json()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"event": "Forgotten"}, ("'Forgotten'", "Observed")),
        ({}, ("None", "Observed")),
        ({"event": "Observed", "item_id": "x", "stratum": "coding"}, ("Observed", "cheap")),
        ({"event": "StrongScored", "item_id": "x", "scores": [0.5], "colour": 1}, ("StrongScored", "colour")),
        ({"event": "StrongScored", "item_id": "x", "scores": {"reason": "?"}}, ("failure",)),
    ],
    ids=str,
)
def test_a_damaged_event_is_refused(body: dict[str, Any], words: tuple[str, ...]) -> None:
    with refused(MonitorError, *words):
        event_from_json(body)
