"""From settings to verdict, with a judge on loopback."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from driftjudge.judges.errors import BudgetError, EndpointError, MissingKeyError
from driftjudge.monitor.verdict import Verdict
from driftjudge.project import road
from driftjudge.project.config import ProjectConfig, load_config
from driftjudge.project.errors import OutageError, ProjectError
from driftjudge.project.feeds import FileFeed
from driftjudge.project.progress import Silent
from driftjudge.tables import read_table
from tests.judges.misbehaving import MisbehavingServer, Reaction, Seen, cut, refusal, status
from tests.project.folders import LEVELS, Ruler, lines, ready


def watch(config: ProjectConfig, items: Path | None = None, notes: list[str] | None = None) -> road.Watched:
    feed = FileFeed(items or config.folder / "items.jsonl")
    changes: list[Verdict] = []
    heard = notes if notes is not None else []
    return road.run(config, feed, Silent(), on_change=changes.append, on_note=heard.append)


def test_calibrate_asks_every_judge_about_every_item_and_takes_fresh_passes(
    tmp_path: Path, server: MisbehavingServer, ruler: Ruler
) -> None:
    found = road.calibrate(ready(tmp_path, server.url), Silent())
    assert len(ruler.seen) == 40 + 40 + 4 * 20
    assert found.spent.calls == 160
    assert found.record.anchors.passes.shape == (4, 20, 1)
    bar = found.record.findings.bars[0]
    assert bar.bar == pytest.approx(np.mean(LEVELS) / 4)
    assert bar.null < bar.bar - 0.04
    (agreed,) = found.record.findings.agreement
    assert agreed.kappa == pytest.approx(1.0)
    assert agreed.bias == 0.0
    assert found.record.findings.noise[0].departures == 0.0


def test_a_second_calibrate_asks_nothing(tmp_path: Path, server: MisbehavingServer, ruler: Ruler) -> None:
    config = ready(tmp_path, server.url)
    road.calibrate(config, Silent())
    calls = len(ruler.seen)
    again = road.calibrate(config, Silent())
    assert not again.new
    assert len(ruler.seen) == calls
    assert again.record.findings.bars[0].items == 40


def test_restart_asks_everything_again(tmp_path: Path, server: MisbehavingServer, ruler: Ruler) -> None:
    config = ready(tmp_path, server.url)
    road.calibrate(config, Silent())
    calls = len(ruler.seen)
    assert road.calibrate(config, Silent(), restart=True).record.round == 2
    assert len(ruler.seen) == 2 * calls


def test_an_interrupted_calibrate_goes_on_where_it_stopped(
    tmp_path: Path, server: MisbehavingServer, ruler: Ruler
) -> None:
    config = ready(tmp_path, server.url, limits="max_calls = 160")
    default = server.default
    server.default = lambda seen: status(401)(seen) if len(ruler.seen) >= 100 else default(seen)
    with pytest.raises(EndpointError, match="key"):
        road.calibrate(config, Silent())
    assert len(ruler.seen) == 100
    server.default = default
    road.calibrate(load_config_with_more_calls(config), Silent())
    assert len(ruler.seen) == 160
    assert max(Counter(ruler.seen).values()) == 4


def load_config_with_more_calls(config: ProjectConfig) -> ProjectConfig:
    path = config.folder / "driftjudge.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("max_calls = 160", "max_calls = 1000"), encoding="utf-8")
    return load_config(config.folder)


def test_a_budget_too_small_for_the_baseline_is_refused_before_anything_is_asked(
    tmp_path: Path, server: MisbehavingServer, ruler: Ruler
) -> None:
    with pytest.raises(BudgetError, match=r"needs 160 calls.*leaves 159.*4 passes over 20 anchors"):
        road.calibrate(ready(tmp_path, server.url, limits="max_calls = 159"), Silent())
    with pytest.raises(BudgetError, match="needs about"):
        road.calibrate(ready(tmp_path / "dollars", server.url, limits="max_dollars = 0.0001"), Silent())
    assert ruler.seen == []


def test_healthy_items_of_an_unchanged_judge_end_in_none(tmp_path: Path, server: MisbehavingServer) -> None:
    config = ready(tmp_path, server.url)
    road.calibrate(config, Silent())
    found = watch(config)
    assert (found.verdict.kind, found.cost.items, found.outcome.observed) == ("none", 40, 40)
    assert found.cost.strong_calls == 40
    assert found.cost.anchor_calls == 10
    assert found.pending == 0
    assert found.changed == ()


def test_a_judge_that_turned_harsher_in_silence_is_found_out(
    tmp_path: Path, server: MisbehavingServer, ruler: Ruler
) -> None:
    config = ready(tmp_path, server.url)
    road.calibrate(config, Silent())
    ruler.harsher = 1
    found = watch(config)
    assert (found.verdict.kind, found.verdict.status) == ("judge", "final")
    assert found.changed == ()  # the settings did not change: only the anchors could tell


def test_a_worse_product_is_charged_to_the_system_and_can_be_acknowledged(
    tmp_path: Path, server: MisbehavingServer
) -> None:
    config = ready(tmp_path, server.url)
    road.calibrate(config, Silent())
    bad = lines(tmp_path / "bad.jsonl", "b", [0, 1] * 30)
    found = watch(config, bad)
    assert (found.verdict.kind, found.verdict.status) == ("system", "final")
    assert road.acknowledge(config).kind == "system"
    assert watch(config).verdict.epoch == 2


def test_items_are_taken_in_once_however_often_the_file_is_given(
    tmp_path: Path, server: MisbehavingServer, ruler: Ruler
) -> None:
    config = ready(tmp_path, server.url)
    road.calibrate(config, Silent())
    watch(config)
    calls = len(ruler.seen)
    again = watch(config)
    assert (again.outcome.observed, again.outcome.known, again.cost.items) == (0, 40, 40)
    assert len(ruler.seen) == calls


def test_an_interrupted_run_ends_like_an_uninterrupted_one(
    tmp_path: Path, server: MisbehavingServer, ruler: Ruler
) -> None:
    plain, broken = ready(tmp_path / "plain", server.url), ready(tmp_path / "broken", server.url)
    for config in (plain, broken):
        road.calibrate(config, Silent())
    ruler.harsher = 1
    expected = watch(plain)
    ruler.seen.clear()
    default = server.default
    stops = [29, 15, 7]

    def behave(seen: Seen) -> Reaction:
        """Close the door at the next stop."""
        return (status(401) if stops and len(ruler.seen) >= stops[-1] else default)(seen)

    server.default = behave
    while stops:
        with pytest.raises(EndpointError):
            watch(broken)
        stops.pop()
    found = watch(broken)
    assert found.verdict == expected.verdict
    assert (found.cost.items, found.cost.strong_calls) == (expected.cost.items, expected.cost.strong_calls)
    assert max(Counter(line for line in ruler.seen if "say i" in line).values()) == 1


def test_without_a_cheap_judge_the_strong_one_watches_alone(tmp_path: Path, server: MisbehavingServer) -> None:
    config = ready(tmp_path, server.url, cheap=False)
    assert road.calibrate(config, Silent()).record.findings.cheap == ()
    bad = lines(tmp_path / "bad.jsonl", "b", [0, 1] * 30)
    assert watch(config, bad).verdict.kind == "system"


def test_a_changed_prompt_is_said_plainly_and_watched(tmp_path: Path, server: MisbehavingServer, ruler: Ruler) -> None:
    road.calibrate(ready(tmp_path, server.url), Silent())
    changed = ready(tmp_path, server.url, strong='prompt = "v2-strict"')
    ruler.harsher = 1
    notes: list[str] = []
    found = watch(changed, notes=notes)
    assert found.verdict.kind == "judge"
    assert "instructions" in found.changed
    assert "the strong judge changed since calibrate" in notes[0]


def test_reanchor_accepts_the_judge_of_today_and_opens_a_new_epoch(
    tmp_path: Path, server: MisbehavingServer, ruler: Ruler
) -> None:
    config = ready(tmp_path, server.url)
    road.calibrate(config, Silent())
    ruler.harsher = 1
    assert watch(config).verdict.kind == "judge"
    calls = len(ruler.seen)
    found = road.reanchor(config, Silent())
    assert len(ruler.seen) - calls == 160  # nothing of the old judge is reused, though its settings are the same
    assert found.record.findings.agreement[0].bias == pytest.approx(-0.25)
    after = watch(config, lines(tmp_path / "more.jsonl", "m", [LEVELS[n % 8] for n in range(40)]))
    assert (after.verdict.kind, after.verdict.epoch) == ("none", 2)


def killed(_: object) -> None:
    raise KeyboardInterrupt


def test_a_reanchor_that_was_killed_before_the_log_is_finished_by_the_next_command(
    tmp_path: Path, server: MisbehavingServer, ruler: Ruler, monkeypatch: pytest.MonkeyPatch
) -> None:
    from driftjudge.project import state

    config = ready(tmp_path, server.url)
    road.calibrate(config, Silent())
    ruler.harsher = 1
    watch(config)
    with monkeypatch.context() as broken:
        broken.setattr(state.Watch, "reanchor", killed)
        with pytest.raises(KeyboardInterrupt):
            road.reanchor(config, Silent())
    calls = len(ruler.seen)
    after = watch(config, lines(tmp_path / "more.jsonl", "m", [LEVELS[n % 8] for n in range(8)]))
    assert (after.verdict.kind, after.verdict.epoch) == ("none", 2)
    assert len(ruler.seen) - calls < 30


def test_a_new_calibrate_does_not_pull_the_ground_from_under_a_watch(tmp_path: Path, server: MisbehavingServer) -> None:
    road.calibrate(ready(tmp_path, server.url), Silent())
    config = ready(tmp_path, server.url)
    watch(config)
    changed = ready(tmp_path, server.url, strong='prompt = "v2-strict"')
    with pytest.raises(ProjectError, match=r"the strong judge changed since.*reanchor"):
        road.calibrate(changed, Silent())


def test_settings_of_the_monitor_are_fixed_for_a_watch(tmp_path: Path, server: MisbehavingServer) -> None:
    road.calibrate(ready(tmp_path, server.url), Silent())
    with pytest.raises(ProjectError, match=r"slack in \[monitor\] was 0.05 at calibrate and is 0.1 now"):
        watch(ready(tmp_path, server.url, monitor="slack = 0.1"))


def test_refusals_of_the_judge_are_unscored_and_counted(tmp_path: Path, server: MisbehavingServer) -> None:
    default = server.default
    server.default = lambda seen: (refusal() if "say c1\n" in seen.user else default)(seen)
    found = road.calibrate(ready(tmp_path, server.url), Silent())
    assert found.record.findings.unscored == {"refusal": 2}
    assert found.record.findings.bars[0].items == 39


@pytest.mark.parametrize("behaviour", [status(503), cut()])
def test_a_judge_that_does_not_answer_costs_one_attempt_and_one_sentence(
    tmp_path: Path, server: MisbehavingServer, behaviour: object
) -> None:
    server.default = behaviour  # type: ignore[assignment]
    with pytest.raises(OutageError, match=r"the strong judge strong at http://127\.0\.0\.1:.* does not answer"):
        road.calibrate(ready(tmp_path, server.url), Silent())
    assert len(server.seen) == 1


def test_an_unreachable_endpoint_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(OutageError, match=r"127\.0\.0\.1:9/v1 does not answer"):
        road.calibrate(ready(tmp_path, "http://127.0.0.1:9/v1"), Silent())


def test_a_wrong_model_name_is_one_sentence(tmp_path: Path, server: MisbehavingServer) -> None:
    server.default = status(404, "no such model", code="model_not_found")
    with pytest.raises(EndpointError, match="knows no model 'strong'"):
        road.calibrate(ready(tmp_path, server.url), Silent())
    assert len(server.seen) == 1


def test_a_missing_key_is_found_before_anything_is_asked(
    tmp_path: Path, server: MisbehavingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MY_JUDGE_KEY", raising=False)
    with pytest.raises(MissingKeyError, match="MY_JUDGE_KEY holds no API key"):
        road.calibrate(ready(tmp_path, server.url, strong='api_key_env = "MY_JUDGE_KEY"'), Silent())
    assert server.seen == []


def test_the_key_is_in_no_file_of_the_project(
    tmp_path: Path, server: MisbehavingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-loopback-1234567890"
    monkeypatch.setenv("MY_JUDGE_KEY", secret)
    config = ready(tmp_path, server.url, strong='api_key_env = "MY_JUDGE_KEY"')
    road.calibrate(config, Silent())
    watch(config)
    assert any(seen.headers.get("authorization") == f"Bearer {secret}" for seen in server.seen)
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path


def test_calibration_items_that_are_anchors_are_refused(tmp_path: Path, server: MisbehavingServer) -> None:
    config = ready(tmp_path, server.url)
    lines(config.folder / "calibration.jsonl", "a", [3] * 40)
    with pytest.raises(ProjectError, match="'a0' is an anchor and a calibration item"):
        road.calibrate(config, Silent())
    assert server.seen == []


def test_too_few_items_for_any_promise_are_found_out_before_paying(tmp_path: Path, server: MisbehavingServer) -> None:
    from driftjudge.monitor.errors import CalibrationError

    config = ready(tmp_path, server.url)
    lines(config.folder / "calibration.jsonl", "c", [4, 4])
    with pytest.raises(CalibrationError, match="2 calibration items"):
        road.calibrate(config, Silent())
    assert server.seen == []


def test_judge_writes_a_table_and_a_second_judge_joins_it(
    tmp_path: Path, server: MisbehavingServer, ruler: Ruler
) -> None:
    config = ready(tmp_path, server.url)
    out = tmp_path / "scores.csv"
    ruler.cheap_harsher = 1
    for role in ("strong", "cheap"):
        found = road.judge_file(config, tmp_path / "items.jsonl", role, out, Silent())
        assert (found.scored, found.unscored) == (40, {})
    table = read_table(out)
    assert table.judge_names == ("strong", "cheap")
    assert table.judge("strong")[:8, 0].tolist() == [level / 4 for level in LEVELS]
    calls = len(ruler.seen)
    road.judge_file(config, tmp_path / "items.jsonl", "strong", out, Silent())
    assert len(ruler.seen) == calls


def test_one_command_at_a_time_works_on_a_folder(tmp_path: Path, server: MisbehavingServer) -> None:
    from driftjudge.project.bench import FolderLock

    config = ready(tmp_path, server.url)
    with FolderLock(config.state_folder), pytest.raises(ProjectError, match="another driftjudge command is at work"):
        road.calibrate(config, Silent())
    road.calibrate(config, Silent())
