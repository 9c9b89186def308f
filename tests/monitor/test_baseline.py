from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from driftjudge import AnchorSet
from driftjudge.monitor.baseline import Baseline, make_baseline
from driftjudge.monitor.errors import AnchorError
from driftjudge.stats.anchors import ABOVE, ANY_DEPARTURE, BELOW, DEPARTURE, GAP, PAIRED
from tests.monitor.builders import ANCHORS, make_anchors, make_config, refused


def judged_by(passes: NDArray[np.float64], **settings: Any) -> Baseline:
    """The baseline of the usual anchors, scored like this at time 0."""
    anchors = make_anchors(count=passes.shape[1], rubrics=passes.shape[2])
    config = make_config(rubrics=[f"r{r}" for r in range(passes.shape[2])], **settings)
    return make_baseline(AnchorSet(ids=anchors.ids, human=anchors.human, passes=passes), config)


def steady(passes: int = 6, count: int = ANCHORS) -> NDArray[np.float64]:
    """A judge that repeats itself, as a table that may be edited."""
    return make_anchors(passes=passes, count=count).passes.copy()


def kinds(baseline: Baseline) -> set[int]:
    return {component.kind for component in baseline.components}


def test_the_papers_baseline_is_the_mean_gap_over_all_anchors_taken_as_exact() -> None:
    anchors = make_anchors(passes=1)
    baseline = make_baseline(anchors, make_config(preset="paper"))
    for r in range(2):
        centre = float(np.mean((anchors.passes[0, :, r] - anchors.human[:, r] + 1) / 2))
        both = [c for c in baseline.components if c.rubric == r]
        assert [(c.kind, c.direction) for c in both] == [(GAP, BELOW), (GAP, ABOVE)]
        assert [c.centre for c in both] == pytest.approx([centre, centre])
        assert [c.cap for c in both] == pytest.approx([1 / (1 - centre), 1 / centre])
    assert baseline.kept.tolist() == list(range(ANCHORS))
    assert baseline.notes == ()


def test_an_honest_baseline_concedes_its_error_on_both_sides() -> None:
    exact = make_baseline(make_anchors(), make_config(preset="paper"))
    honest = make_baseline(make_anchors(), make_config())
    centres = {(c.rubric, c.direction): c.centre for c in exact.components}
    gaps = [c for c in honest.components if c.kind == GAP]
    assert len(gaps) == 4
    for component in gaps:
        conceded = component.direction * (component.centre - centres[component.rubric, component.direction])
        assert 0.0 < conceded < 0.2


def test_more_passes_buy_tighter_bounds() -> None:
    few, many = judged_by(steady(passes=2)), judged_by(steady(passes=20))

    def rate(baseline: Baseline) -> float:
        return next(c.centre for c in baseline.components if c.kind == ANY_DEPARTURE)

    assert rate(many) < rate(few) / 4
    assert (many.drift_error < few.drift_error).all()


def test_the_usual_score_comes_from_the_first_half_of_the_passes_and_the_rates_from_the_second() -> None:
    passes = steady()
    passes[3:, 0, 0] = 1.0  # only the fresh passes depart, on one anchor
    departed = judged_by(passes)
    assert departed.usual[0, 0] == passes[0, 0, 0] != 1.0
    calm = judged_by(steady())

    def rates(baseline: Baseline) -> dict[tuple[int, int, float], float]:
        return {(c.kind, c.rubric, c.direction): c.centre for c in baseline.components}

    for key in ((DEPARTURE, 0, ABOVE), (ANY_DEPARTURE, 0, ABOVE)):
        assert rates(departed)[key] > rates(calm)[key]
    for key in ((DEPARTURE, 0, BELOW), (DEPARTURE, 1, ABOVE)):
        assert rates(departed)[key] == rates(calm)[key]


def test_an_anchor_on_which_the_defining_passes_disagree_is_screened_out_and_said_to_be() -> None:
    passes = steady()
    passes[1, 7, 1] = 1.0
    baseline = judged_by(passes)
    assert baseline.kept.tolist() == [i for i in range(ANCHORS) if i != 7]
    assert baseline.usual.shape == (ANCHORS - 1, 2)
    assert any(f"1 of {ANCHORS} anchors are left out" in note for note in baseline.notes)


def test_an_anchor_on_which_only_fresh_passes_disagree_is_kept_or_the_bound_would_flatter_the_judge() -> None:
    passes = steady()
    passes[4, 7, 1] = 1.0
    assert len(judged_by(passes).kept) == ANCHORS


def test_screening_is_not_done_when_it_would_leave_fewer_than_half() -> None:
    passes = steady()
    passes[1, : ANCHORS // 2 + 1, 0] = 1.0
    assert len(judged_by(passes).kept) == ANCHORS


def test_screening_can_be_switched_off() -> None:
    passes = steady()
    passes[1, 7, 1] = 1.0
    assert len(judged_by(passes, screen=False).kept) == ANCHORS


def test_one_pass_cannot_fingerprint_a_judge_and_the_notes_say_so() -> None:
    baseline = judged_by(steady(passes=1))
    assert kinds(baseline) == {GAP}
    assert any("one baseline pass" in note and "add passes" in note for note in baseline.notes)


def test_a_judge_that_departs_every_other_time_has_no_fingerprint_and_the_notes_say_so() -> None:
    passes = steady()
    passes[3:, ::2, 0] = 1.0
    baseline = judged_by(passes, ladder=False)
    watched = {(c.kind, c.rubric, c.direction) for c in baseline.components}
    assert (DEPARTURE, 0, ABOVE) not in watched
    assert (DEPARTURE, 0, BELOW) in watched
    assert any("too often to be a fingerprint" in note for note in baseline.notes)


def test_on_a_ladder_nothing_is_left_out_because_of_what_the_bounding_passes_show() -> None:
    moody = steady()
    moody[3:, ::2, 0] = 1.0
    shares = [[(c.kind, c.rubric, c.direction, c.weight) for c in judged_by(p).components] for p in (steady(), moody)]
    assert shares[0] == shares[1]
    assert any("too often to be a fingerprint" in note for note in judged_by(moody).notes)


def test_the_rungs_of_a_ladder_stand_ever_further_from_what_was_seen_and_are_worth_ever_more() -> None:
    for component in judged_by(steady()).components:
        away = [component.side * rung.centre for rung in component.rungs]
        assert away == sorted(away)
        assert [rung.worth for rung in component.rungs] == sorted(rung.worth for rung in component.rungs)
        assert component.cap_at(component.rungs[-1].centre) == 0.0


def test_paired_differences_are_watched_for_continuous_scores_only() -> None:
    rng = np.random.default_rng(5)
    passes = steady()
    passes[:, :, 1] = np.clip(rng.uniform(0.2, 0.8, ANCHORS) + rng.normal(0, 0.01, (6, ANCHORS)), 0, 1)
    paired = {c.rubric for c in judged_by(passes).components if c.kind == PAIRED}
    assert paired == {1}


def test_a_declared_resolution_replaces_the_one_read_off_the_passes() -> None:
    anchors = make_anchors()
    declared = AnchorSet(ids=anchors.ids, human=anchors.human, passes=anchors.passes, resolution=0.3)
    assert make_baseline(anchors, make_config()).resolution.tolist() == [0.125, 0.125]
    assert make_baseline(declared, make_config()).resolution.tolist() == [0.3, 0.3]


def test_anchors_the_judge_usually_refuses_have_no_usual_score() -> None:
    passes = steady()
    passes[:, 3] = np.nan
    baseline = judged_by(passes)
    assert np.isnan(baseline.usual[3]).all()
    assert not np.isnan(baseline.drift).any()
    assert not np.isnan(baseline.gap).any()


def test_a_rubric_that_the_bounding_passes_never_scored_is_refused() -> None:
    passes = steady(passes=2)
    passes[1, :, 1] = np.nan
    with refused(AnchorError, "'r1'", "score"):
        judged_by(passes)


def test_a_rubric_that_no_pass_scored_is_refused_by_name() -> None:
    passes = steady()
    passes[:, :, 1] = np.nan
    with refused(AnchorError, "'r1'", "score the anchors on every rubric"):
        judged_by(passes)


def test_fewer_anchors_than_the_bounds_need_are_refused_with_their_number() -> None:
    with refused(AnchorError, "2 anchors x 1 bounding passes", "add anchors or baseline passes"):
        make_baseline(make_anchors(count=2, passes=2), make_config())


def test_anchors_with_other_rubrics_than_the_config_are_refused() -> None:
    with refused(AnchorError, "3 rubrics", "config has 2"):
        make_baseline(make_anchors(rubrics=3), make_config())


def test_a_fingerprint_without_a_share_of_alpha_is_refused() -> None:
    with refused(AnchorError, "baseline_share > 0"):
        make_baseline(make_anchors(), make_config(baseline_share=0.0))


def test_strata_are_watched_by_themselves_where_they_hold_enough_anchors() -> None:
    config = make_config(stratum_anchors=12)
    plain = make_anchors()
    strata = ["coding" if a < 30 else "creative" for a in range(len(plain))]
    anchors = AnchorSet(ids=plain.ids, human=plain.human, passes=plain.passes, strata=strata)
    baseline = make_baseline(anchors, config)
    assert baseline.local == (0,)
    assert baseline.groups is not None
    assert baseline.groups.tolist() == [1] * 30 + [0] * 10
    shares = {stratum: sum(c.weight for c in baseline.components if c.stratum == stratum) for stratum in (-1, 0)}
    assert shares == pytest.approx({-1: 1.0 - config.local_share, 0: config.local_share})
    assert any("creative" in note for note in baseline.notes)
    nowhere = make_baseline(anchors, make_config(stratum_anchors=12, local_share=0.0))
    assert {component.stratum for component in nowhere.components} == {-1}
