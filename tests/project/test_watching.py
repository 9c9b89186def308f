"""What a watch does when items or judges misbehave."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from driftjudge.project import road
from driftjudge.project.config import ProjectConfig
from driftjudge.project.errors import OutageError
from driftjudge.project.feeds import Row
from driftjudge.project.progress import Silent
from tests.judges.misbehaving import MisbehavingServer, Reaction, Seen, status
from tests.project.folders import LEVELS, Ruler, ready


class ListFeed:
    """Batches as a live source would hand them out: now some, now none, at last the end."""

    def __init__(self, *batches: list[Row]) -> None:
        self._batches = list(batches)

    def take(self, most: int) -> list[Row] | None:
        return self._batches.pop(0)[:most] if self._batches else None


def rows(prefix: str, count: int, response: str = "") -> list[Row]:
    return [
        Row(
            f"row {n}",
            {"id": f"{prefix}{n}", "prompt": f"say {prefix}{n}", "response": response or f"quality {LEVELS[n % 8]}"},
        )
        for n in range(count)
    ]


def watch(
    config: ProjectConfig, *batches: list[Row], patient: bool = False, notes: list[str] | None = None
) -> road.Watched:
    heard = notes if notes is not None else []
    return road.run(
        config, ListFeed(*batches), Silent(), on_change=lambda _: None, on_note=heard.append, patient=patient
    )


@pytest.fixture
def config(tmp_path: Path, server: MisbehavingServer) -> ProjectConfig:
    made = ready(tmp_path, server.url)
    road.calibrate(made, Silent())
    return made


def test_a_quiet_moment_is_not_the_end(config: ProjectConfig) -> None:
    assert watch(config, rows("x", 8), [], rows("y", 8)).cost.items == 16


def test_an_id_that_comes_again_with_other_texts_is_left_out_and_named(config: ProjectConfig) -> None:
    notes: list[str] = []
    found = watch(config, rows("x", 8), rows("x", 8), rows("x", 1, "quality 0"), notes=notes)
    assert (found.outcome.observed, found.outcome.known, found.outcome.left_out) == (8, 8, 1)
    assert notes == ["left out: item 'x0' was taken in before with other texts; give it an id of its own"]


def test_the_same_texts_under_two_ids_are_judged_twice(config: ProjectConfig, ruler: Ruler) -> None:
    """A stored answer is no evidence about the judge of today."""
    ruler.seen.clear()
    same = [Row("r", {"id": f"same{n}", "prompt": "say it", "response": "quality 3"}) for n in range(2)]
    watch(config, same)
    asked = Counter(line.split(":")[0] for line in ruler.seen if "say it" in line)
    assert asked == {"strong": 2, "cheap": 1}


def failing(server: MisbehavingServer, when: str, model: str = "strong") -> None:
    """From now on requests about some text do not come through."""
    default = server.default

    def behave(seen: Seen) -> Reaction:
        away = when in seen.user and seen.body["model"] == model
        return (status(503) if away else default)(seen)

    server.default = behave


def test_an_anchor_that_does_not_come_through_carries_no_evidence_and_is_asked_for_again(
    config: ProjectConfig, server: MisbehavingServer
) -> None:
    default, lost = server.default, set[str]()

    def behave(seen: Seen) -> Reaction:
        """Lose every call about the anchor that is drawn first."""
        if "say a" in seen.user and (not lost or seen.user in lost):
            lost.add(seen.user)
            return status(503)(seen)
        return default(seen)

    server.default = behave
    found = watch(config, rows("x", 16))
    assert found.pending >= 1
    assert found.cost.anchor_unscored == 0
    server.default = default
    found = watch(config)
    assert (found.cost.anchor_calls, found.pending) == (4, 0)


def test_a_strong_call_that_never_comes_through_is_given_up_as_unscored(
    config: ProjectConfig, server: MisbehavingServer
) -> None:
    failing(server, "say x1")
    found = watch(config, rows("x", 4), rows("y", 4), rows("z", 4))
    assert found.outcome.given_up == 1
    assert (found.cost.strong_unscored, found.pending) == (1, 0)


def test_two_calls_that_never_come_through_do_not_stop_the_others(
    config: ProjectConfig, server: MisbehavingServer
) -> None:
    failing(server, "say x1")  # x1, and x10 to x15
    found = watch(config, rows("x", 16), rows("y", 4), rows("z", 4))
    assert (found.outcome.given_up, found.cost.strong_unscored, found.pending) == (7, 7, 0)


def test_a_cheap_call_that_does_not_come_through_says_nothing(config: ProjectConfig, server: MisbehavingServer) -> None:
    failing(server, "say x1", model="cheap")
    found = watch(config, rows("x", 4))
    assert (found.cost.items, found.cost.cheap_unscored) == (4, 1)


def test_a_judge_that_is_away_stops_the_run_with_nothing_lost(config: ProjectConfig, server: MisbehavingServer) -> None:
    default = server.default
    failing(server, "say")
    with pytest.raises(OutageError, match=r"the strong judge strong .* does not answer"):
        watch(config, rows("x", 8))
    server.default = default
    found = watch(config, rows("x", 8))
    assert (found.outcome.known, found.cost.items, found.cost.strong_calls, found.pending) == (8, 8, 8, 0)


def test_a_followed_stream_waits_for_a_judge_that_is_away(
    config: ProjectConfig, server: MisbehavingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    default, waited, notes = server.default, [], []  # type: ignore[var-annotated]
    failing(server, "say")

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 2:
            server.default = default

    monkeypatch.setattr("driftjudge.project.watching.asyncio.sleep", sleep)
    found = watch(config, rows("x", 8), patient=True, notes=notes)
    assert (found.cost.strong_calls, len(waited)) == (8, 2)
    assert len(notes) == 1
    assert "does not answer" in notes[0]


def test_an_anchor_that_is_drawn_again_is_asked_about_again(config: ProjectConfig, ruler: Ruler) -> None:
    """Yesterday's answer says nothing about the judge of today, so re-scores never come from the cache."""
    ruler.seen.clear()
    found = watch(config, *(rows(name, 16) for name in "pqrstu"))
    asked = [line for line in ruler.seen if "say a" in line]
    assert found.cost.anchor_calls == len(asked) == 24  # of 20 anchors, so some were drawn twice
