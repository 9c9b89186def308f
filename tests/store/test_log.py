from __future__ import annotations

import pytest
from sqlalchemy import delete, update

from driftjudge.monitor import Monitor
from driftjudge.monitor.events import Acknowledged, AnchorRescored, Event, Observed, StrongScored
from driftjudge.monitor.scores import Failure
from driftjudge.store import EventLog, Store, create_log, open_log
from driftjudge.store.errors import DamagedError, OutOfOrderError
from driftjudge.store.tables import events, snapshots
from tests.monitor.builders import make_anchors, make_calibration, make_config


def _log(store: Store, name: str = "stream") -> EventLog:
    config = make_config()
    return create_log(store, name, config, calibration=make_calibration(config), anchors=make_anchors(), at=1.0)


def story_of(log: EventLog, items: int, first: int = 0) -> list[Event]:
    """Events that a monitor would have written: every strong score and re-score it asks for."""
    monitor, _ = log.load()
    story: list[Event] = []
    for i in range(first, first + items):
        story.append(Observed(f"i{i}", "coding", (0.75, 0.5) if i % 7 else Failure("refusal", "no")))
        ask = monitor.apply(story[-1])
        assert ask is not None
        new: list[Event] = [StrongScored(f"i{i}", (0.5, 0.1 + 0.2))] if ask.strong else []
        new += [AnchorRescored(anchor, (0.5, 0.5)) for anchor in ask.anchors]
        monitor.fold(new)
        story += new
    return story


def test_what_was_appended_is_read_back_in_order(either: Store) -> None:
    log = _log(either)
    story = story_of(log, 60)
    assert log.append(story[:10], after=0, at=2.0, fingerprints=["judge-1"]) == 10
    assert log.append(story[10:], after=10, at=3.0) == len(story)
    rows = list(log.read())
    assert [row.event for row in rows] == story
    assert [row.seq for row in rows] == list(range(1, len(story) + 1))
    assert (rows[0].fingerprint, rows[1].fingerprint, rows[0].at, rows[-1].at) == ("judge-1", "", 2.0, 3.0)
    assert [row.seq for row in log.read(after=5, limit=3)] == [6, 7, 8]


def test_the_fold_of_a_log_is_the_monitor_that_wrote_it_bit_for_bit(either: Store) -> None:
    log = _log(either)
    story = story_of(log, 60)
    start, _ = log.load()
    log.append(story, after=0, at=2.0)
    monitor, seq = log.load()
    assert seq == len(story)
    assert monitor.snapshot() == start.fold(story).snapshot()


def test_a_snapshot_changes_nothing_but_where_the_fold_starts(either: Store) -> None:
    log = _log(either)
    story = story_of(log, 60)
    log.append(story[:40], after=0, at=2.0)
    half, seq = log.load()
    log.save_snapshot(half.snapshot(), seq, at=2.0)
    log.append(story[40:], after=40, at=3.0)
    with_cache, _ = log.load()
    with either.begin() as tx:
        tx.execute(delete(snapshots))
    without, _ = log.load()
    assert with_cache.snapshot() == without.snapshot()


@pytest.mark.parametrize("damage", [{"state": b"no zlib"}, {"checksum": "0"}, {"seq": 39}])
def test_a_damaged_snapshot_is_not_used(store: Store, damage: dict[str, object]) -> None:
    log = _log(store)
    story = story_of(log, 60)
    log.append(story, after=0, at=2.0)
    whole, seq = log.load()
    log.save_snapshot(whole.snapshot(), seq, at=2.0)
    with store.begin() as tx:
        tx.execute(update(snapshots).values(**damage))
    assert log.load_snapshot() is None
    assert log.load()[0].snapshot() == whole.snapshot()


def test_a_snapshot_of_another_version_is_not_used(store: Store) -> None:
    log = _log(store)
    log.append(story_of(log, 20), after=0, at=2.0)
    whole, seq = log.load()
    log.save_snapshot({**whole.snapshot(), "format": 0}, seq, at=2.0)
    assert log.load()[0].snapshot() == whole.snapshot()


def test_who_is_wrong_about_the_end_of_the_log_changes_nothing(either: Store) -> None:
    log = _log(either)
    story = story_of(log, 10)
    log.append(story[:5], after=0, at=2.0)
    with pytest.raises(OutOfOrderError, match="ends at 5, not at 4"):
        log.append(story[4:], after=4, at=3.0)
    assert log.head() == 5


def test_a_hole_in_the_log_is_noticed(store: Store) -> None:
    log = _log(store)
    log.append(story_of(log, 10), after=0, at=2.0)
    with store.begin() as tx:
        tx.execute(delete(events).where(events.c.seq == 3))
    with pytest.raises(DamagedError, match="event 3"):
        list(log.read())


def test_a_transaction_that_fails_leaves_nothing(either: Store) -> None:
    log = _log(either)
    story = story_of(log, 10)

    def half() -> None:
        with either.begin() as tx:
            log.append_in(tx, story, after=0, at=2.0)
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        half()
    assert log.head() == 0


def test_logs_are_found_by_name_and_do_not_mix(store: Store) -> None:
    one, two = _log(store, "one"), _log(store, "two")
    one.append(story_of(one, 10), after=0, at=2.0)
    found = open_log(store, "two")
    assert found is not None
    assert (found.monitor_id, found.head(), one.head() > 0) == (two.monitor_id, 0, True)
    assert open_log(store, "three") is None


def test_events_of_every_kind_survive(store: Store) -> None:
    log = _log(store)
    calibration = make_calibration(make_config())
    log.append([Acknowledged(), Acknowledged(calibration)], after=0, at=2.0)
    plain, with_bars = (row.event for row in log.read())
    assert plain == Acknowledged()
    assert isinstance(with_bars, Acknowledged)
    assert with_bars.calibration is not None
    assert with_bars.calibration.to_json() == calibration.to_json()


def test_a_monitor_is_founded_on_what_it_was_created_with(store: Store) -> None:
    config = make_config()
    log = create_log(store, "plain", config, calibration=make_calibration(config), at=1.0)
    expected = Monitor(config, calibration=make_calibration(config))
    assert log.load()[0].snapshot() == expected.snapshot()
    founding = log.founding()
    assert founding is not None
    assert founding["anchors"] is None
