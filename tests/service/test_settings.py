"""Settings come from defaults, a file and the environment, in that order, and every mistake is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftjudge.service.settings import ServiceSettings, SettingsError, admin_key, read_settings


def test_the_defaults_reach_nobody_but_this_machine() -> None:
    assert read_settings(environment={}).loopback


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "driftjudge.toml"
    path.write_text('[service]\nport = 9000\nstore = "a.db"\n', encoding="utf-8")
    settings = read_settings(path, {"DRIFTJUDGE_PORT": "9001"})
    assert (settings.port, settings.store) == (9001, "a.db")


def test_a_flag_wins_over_everything_and_one_that_was_not_given_over_nothing() -> None:
    settings = read_settings(environment={"DRIFTJUDGE_PORT": "9001"}).over(port=9002, store=None)
    assert (settings.port, settings.store) == (9002, "driftjudge.db")


def test_other_sections_of_the_file_are_somebody_elses(tmp_path: Path) -> None:
    path = tmp_path / "driftjudge.toml"
    path.write_text("[alerts]\nx = 1\n", encoding="utf-8")
    assert read_settings(path, {}) == ServiceSettings()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[service]\nprot = 1\n", "unknown setting 'prot' in [service]; did you mean 'port'?"),
        ("[service]\nport = 70000\n", "port is 70000; give a whole number from 0 to 65535"),
        ("[service]\nport = true\n", "port is True; give a whole number"),
        ("[service]\nheartbeat_seconds = 0\n", "heartbeat_seconds is 0; give seconds above 0"),
        ("[service]\nlog_level = 'loud'\n", "log_level is 'loud'; choose debug, info, warning or error"),
        ("[service]\nstore = ''\n", "store is ''; give a text"),
        ("service = 3\n", "service is 3; write a section [service]"),
        ("[service\n", "is not valid TOML"),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "driftjudge.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as error:
        read_settings(path, {})
    assert told in str(error.value)


def test_a_number_in_the_environment_must_be_one() -> None:
    with pytest.raises(SettingsError, match=r"DRIFTJUDGE_PORT is 'x'; give a number"):
        read_settings(environment={"DRIFTJUDGE_PORT": "x"})


def test_the_admin_key_comes_from_the_environment_only_and_is_long() -> None:
    assert admin_key({}) is None
    assert admin_key({"DRIFTJUDGE_ADMIN_KEY": "k" * 24}) == "k" * 24
    with pytest.raises(SettingsError) as error:
        admin_key({"DRIFTJUDGE_ADMIN_KEY": "secret"})
    assert "DRIFTJUDGE_ADMIN_KEY is too short" in str(error.value)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("address", ["driftjudge.example.org", "javascript:alert(1)", "https://a\nb"])
def test_links_in_alerts_lead_to_an_address_people_can_open(address: str) -> None:
    assert ServiceSettings(public_url="https://driftjudge.example.org").public_url
    with pytest.raises(SettingsError, match="public_url"):
        ServiceSettings(public_url=address)
