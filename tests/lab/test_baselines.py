"""Table 5: which detectors of judge drift can be trusted on the same anchor re-scores."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest

from driftjudge.lab import anchor_methods
from driftjudge.lab.anchor_methods import LONGER, Record, records_of
from driftjudge.lab.anchor_streams import AnchorStream, anchor_stream
from driftjudge.lab.exhibits import Exhibit
from driftjudge.lab.experiments import Options, baselines
from driftjudge.lab.scenarios import Scenario, run, stage
from driftjudge.lab.setting import Setting, Source, open_setting
from driftjudge.lab.simulate import NEVER
from driftjudge.tables import ScoreTable

SEEDS = 80


@pytest.fixture(scope="module")
def helpsteer2() -> Setting:
    return open_setting(Source("helpsteer2"))


@pytest.fixture(scope="module")
def records(helpsteer2: Setting) -> dict[str, Record]:
    return records_of(helpsteer2, SEEDS)


@pytest.fixture(scope="module")
def exhibit(helpsteer2: Setting) -> Exhibit:
    return baselines.run(helpsteer2, Options(seeds=12))


def lowest_rate(alarms: int) -> float:
    return float(binomtest(alarms, SEEDS).proportion_ci(0.99, method="exact").low)


def literal_e_process(stream: AnchorStream, alpha: float) -> int:
    """Section 1 of the statistics page, equation by equation: re-scores at the first alarm, 0 for never."""
    rubrics = stream.gaps.shape[1]
    wealth = np.ones((rubrics, 2))
    past: list[list[list[float]]] = [[[], []] for _ in range(rubrics)]
    for n, gaps in enumerate(stream.gaps, start=1):
        for r in range(rubrics):
            q0 = float(stream.baseline[:, r].mean())
            for side, (d, cap) in enumerate(((q0 - gaps[r], 1.0 / (1.0 - q0)), (gaps[r] - q0, 1.0 / q0))):
                earlier = np.array(past[r][side])
                squares = float((earlier**2).mean()) if len(earlier) else 0.0
                bet = min(max(float(earlier.mean()) / squares, 0.0), cap) if squares > 0.0 else 0.0
                wealth[r, side] *= 1.0 + bet * d
                past[r][side].append(float(d))
        if wealth.max() >= 2 * rubrics / alpha:
            return n
    return 0


@pytest.mark.parametrize("change", ["lenient", "harsh", "synthetic"])
def test_the_re_scores_given_to_the_rivals_are_the_monitors_own(helpsteer2: Setting, change: str) -> None:
    scenario = replace(helpsteer2.scenario, condition="judge", judge_change=change)
    for seed in range(4):
        staged = stage(helpsteer2.table, helpsteer2.config("paper", anchor_every=5, seed=seed), scenario)
        stream = anchor_stream(staged)
        assert len(stream) == 240
        assert run(staged).verdict.judge_alarm_at == (5 * literal_e_process(stream, 0.1) or None)


def test_with_a_noisy_judge_the_re_scores_are_still_the_monitors_own(helpsteer2: Setting) -> None:
    scenario = replace(helpsteer2.scenario, condition="judge", judge_change="synthetic", repeat_noise=0.2)
    staged = stage(helpsteer2.table, helpsteer2.config("paper", anchor_every=5, seed=1), scenario)
    stream = anchor_stream(staged)
    assert len(np.unique(stream.repeats)) > 1
    assert run(staged).verdict.judge_alarm_at == (5 * literal_e_process(stream, 0.1) or None)


def test_a_change_shows_from_the_first_re_score_after_it_and_not_before(helpsteer2: Setting) -> None:
    config = helpsteer2.config("paper", anchor_every=5, seed=3)
    quiet = anchor_stream(stage(helpsteer2.table, config, helpsteer2.scenario))
    changed = replace(helpsteer2.scenario, condition="judge", judge_change="synthetic")
    moved = anchor_stream(stage(helpsteer2.table, config, changed))
    assert np.array_equal(quiet.gaps[:60], moved.gaps[:60])
    assert (quiet.gaps[60:] != moved.gaps[60:]).any(axis=1).all()


def test_the_anchor_e_process_keeps_villes_bound_on_these_streams_and_on_longer_ones(
    records: dict[str, Record],
) -> None:
    for name in ("e-process", "e-process (robust)"):
        for alarms in (records[name].false_alarms, records[name].false_alarms_later):
            assert binomtest(alarms, SEEDS, 0.1, alternative="greater").pvalue > 0.001, (name, alarms)


def test_naive_z_exceeds_its_level_many_times_over(records: dict[str, Record]) -> None:
    assert lowest_rate(records["naive-z"].false_alarms) > 0.5
    assert lowest_rate(records["naive-z, each rubric"].false_alarms) > 0.9
    assert records["naive-z"].early > 0


@pytest.mark.parametrize("name", ["ph-calib", "ph-calib, known mean", "EWMA chart", "CUSUM chart"])
def test_calibration_and_control_limits_do_not_last_beyond_their_horizon(records: dict[str, Record], name: str) -> None:
    assert binomtest(records[name].false_alarms, SEEDS, 0.1, alternative="greater").pvalue > 0.001
    assert lowest_rate(records[name].false_alarms_later) > 0.1


def record(quiet: list[int], changed: list[int]) -> Record:
    return Record(Scenario(), np.array(quiet), {"harsh": np.array(changed)})


def test_an_alarm_before_the_change_is_early_and_detects_nothing() -> None:
    found = record(quiet=[300, 305, 1205, NEVER], changed=[300, 305, 500, NEVER])
    assert (found.early, found.false_alarms, found.false_alarms_later) == (1, 2, 3)
    assert found.detection("harsh") == 0.5
    assert found.latency("harsh") == 102.5


def test_a_method_that_misses_half_of_the_streams_is_not_called_fast() -> None:
    found = record(quiet=[NEVER] * 4, changed=[310, 310, NEVER, NEVER])
    assert found.latency("harsh") == 10.0
    assert found.typical_latency("harsh") == np.inf
    assert record([NEVER], [NEVER]).latency("harsh") is None


def test_every_row_and_claim_survives_json_and_carries_a_figure(exhibit: Exhibit) -> None:
    assert Exhibit.from_json(json.loads(json.dumps(exhibit.to_json()))) == exhibit
    assert [row.label for row in exhibit.rows][:3] == ["e-process", "e-process (robust)", "naive-z"]
    assert all(claim.figure for claim in exhibit.claims)
    names = [claim.name for claim in exhibit.claims]
    assert len(set(names)) == len(names)
    for rival in ("kappa rule", "EWMA chart", "CUSUM chart"):
        assert any(name.startswith(f"{rival} keeps false alarms") for name in names)


def test_the_papers_figures_stand_beside_ours(exhibit: Exhibit) -> None:
    naive = next(row for row in exhibit.rows if row.label == "naive-z")
    assert (naive.entries["false alarms"].published, naive.entries["early of 12"].published) == (0.75, 16)
    assert [naive.entries[f"{change} latency"].published for change in ("lenient", "harsh", "synthetic")] == [
        130,
        138,
        40,
    ]


def claim(exhibit: Exhibit, start: str) -> bool:
    return next(claim.holds for claim in exhibit.claims if claim.name.startswith(start))


def test_claims_fail_when_the_figures_say_so(helpsteer2: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    def alarms(quiet: int, change: int) -> Record:
        names = (*helpsteer2.changes, "synthetic")
        return Record(helpsteer2.scenario, np.full(20, quiet), {name: np.full(20, change) for name in names})

    def invented(_: Setting, seeds: int) -> dict[str, Record]:
        assert seeds == 20
        found = {"e-process": alarms(600, NEVER), "e-process (robust)": alarms(NEVER, 310)}
        return found | {"naive-z": alarms(NEVER, 400), "ph-calib": alarms(900 * LONGER, 350)}

    monkeypatch.setattr(baselines, "records_of", invented)
    paper = baselines.run(helpsteer2, Options(seeds=20))
    assert not any(
        claim(paper, start)
        for start in (
            "naive-z false-alarms",
            "naive-z fires before",
            "the e-process holds alpha",
            "the e-process still holds",
            "calibrated Page-Hinkley misses",
            "the e-process is faster",
            "the e-process is the fastest",
        )
    )
    assert claim(paper, "calibrated Page-Hinkley holds")
    robust = baselines.run(helpsteer2, Options(seeds=20, preset="robust"))
    assert claim(robust, "the e-process holds alpha")
    assert claim(robust, "the e-process is the fastest")


def test_without_river_its_rows_are_left_out_and_the_note_says_how_to_get_them(
    helpsteer2: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (anchor_methods, baselines):
        monkeypatch.setattr(module, "river_installed", lambda: False)
    found = baselines.run(helpsteer2, Options(seeds=2))
    assert not any(row.label.startswith("river") for row in found.rows)
    assert any("driftjudge[lab]" in note for note in found.notes)


def with_refusals(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    refused = np.random.default_rng(5).random(scores.shape) < 0.2
    return np.where(refused, np.nan, scores)


def test_a_judge_that_refuses_after_the_change_is_no_obstacle_to_any_method(helpsteer2: Setting) -> None:
    table = helpsteer2.table
    scores = {name: table.judge(name) for name in ("cheap", "strong", "human")}
    refusing = ScoreTable(
        "refusing", table.ids, table.strata, table.rubrics, {**scores, "later": with_refusals(table.judge("harsh"))}
    )
    setting = Setting("refusing", refusing, {"later": -0.08}, helpsteer2.scenario)
    found = baselines.run(setting, Options(seeds=6))
    by_label = {row.label: row.entries for row in found.rows}
    assert set(by_label["CUSUM chart"]) >= {"later", "synthetic", "later latency"}
    for name in ("e-process", "ph-calib, known mean", "EWMA chart", "CUSUM chart"):
        assert by_label[name]["synthetic"].measured == 1.0
    assert all(entry.published is None for entries in by_label.values() for entry in entries.values())
    assert not any("paper's figures (Fisher" in note for note in found.notes)


def test_the_figure_shows_every_method_in_every_panel(exhibit: Exhibit) -> None:
    chart = baselines.draw(exhibit).to_dict()
    assert len(chart["hconcat"]) == 4
    methods = [row.label for row in exhibit.rows]
    assert chart["hconcat"][1]["layer"][0]["encoding"]["y"]["sort"] == methods
