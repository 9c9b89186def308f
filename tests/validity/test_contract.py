"""Every e-process signs the contract, and every cheat is caught by it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from driftjudge.monitor.config import Preset
from driftjudge.monitor.main_process import main_step, new_main_process
from driftjudge.stats.errors import SupermartingaleError
from tests.validity.anchor_subjects import ANCHOR_SUBJECTS
from tests.validity.cheats import CHEATS
from tests.validity.checks import Subject, check_does_not_grow_on_average, checks_of
from tests.validity.corrected_subjects import CORRECTED_SUBJECTS
from tests.validity.main_subjects import ACQUISITIONS, MAIN_SUBJECTS, calibration_of, config_of
from tests.validity.plain_subjects import PLAIN_SUBJECTS

SUBJECTS = (*PLAIN_SUBJECTS, *MAIN_SUBJECTS, *CORRECTED_SUBJECTS, *ANCHOR_SUBJECTS)
PAIRS = [
    pytest.param(subject, check, id=f"{subject.name}:{check.__name__.removeprefix('check_')}")
    for subject in SUBJECTS
    for check in checks_of(subject)
]


@pytest.mark.parametrize(("subject", "check"), PAIRS)
def test_every_process_keeps_the_contract(subject: Subject, check: Callable[[Subject], None]) -> None:
    check(subject)


@pytest.mark.parametrize("cheat", CHEATS, ids=lambda cheat: cheat.name)
def test_a_cheat_fails_the_one_step_check(cheat: Subject) -> None:
    with pytest.raises(AssertionError, match="expects"):
        check_does_not_grow_on_average(cheat, examples=800, shrink=False)


@pytest.mark.parametrize("preset", ["paper", "robust"])
def test_a_cap_that_is_too_high_stops_the_process(preset: Preset) -> None:
    config = config_of(preset, "uniform", budget=0.5)
    process = new_main_process(config, calibration_of(np.full((2, 2), 0.6), np.full((2, 2), 0.65)))
    raised, low, high = process._replace(caps=process.caps * 1.2), np.zeros(2), np.ones(2)
    for _ in range(20):
        main_step(raised, 0, low, True, 0.5, low)
    with pytest.raises(SupermartingaleError, match="exceeds its cap"):
        main_step(raised, 0, low, True, 0.5, high)


def test_the_contract_covers_every_preset_with_every_acquisition_rule_and_statistic() -> None:
    names = {subject.name for subject in SUBJECTS}
    for acquisition in ACQUISITIONS:
        assert {f"main-{kind}-{acquisition}" for kind in ("paper", "robust", "detector")} <= names
    for statistic in ("gap", "fingerprint", "paired"):
        assert {f"anchors-{kind}-{statistic}" for kind in ("robust", "detector")} <= names
    assert "anchors-paper-gap" in names
