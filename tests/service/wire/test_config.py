"""The config that travels has every setting of the monitor's, said once."""

from __future__ import annotations

from dataclasses import fields

import pytest
from pydantic import ValidationError

from driftjudge.monitor import MonitorConfig
from driftjudge.service.wire.config import ConfigShape, descriptions


def test_it_has_exactly_the_settings_of_a_monitor() -> None:
    assert set(ConfigShape.model_fields) == {field.name for field in fields(MonitorConfig)}


def test_a_description_is_the_source_s_own() -> None:
    assert descriptions()["anchor_every"].startswith("rho: one anchor is re-scored at every rho-th position")


@pytest.mark.parametrize("preset", ["robust", "paper"])
def test_a_config_survives_the_journey(preset: str) -> None:
    config = MonitorConfig.from_json({"rubrics": ["r", "q"], "strata": ["s"], "preset": preset, "seed": 3})
    sent = {name: value for name, value in config.to_json().items() if value is not None}
    assert MonitorConfig.from_json(ConfigShape.model_validate(sent).settings()) == config


@pytest.mark.parametrize(
    "wrong",
    [{"seed": 1.5}, {"seed": -1}, {"budget": float("nan")}, {"budget": True}, {"preset": "bold"}, {"proxies": []}],
)
def test_what_has_the_wrong_type_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ConfigShape.model_validate({"rubrics": ["r"], "strata": ["s"], **wrong})
