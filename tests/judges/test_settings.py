"""Settings are checked when they are read, and never hold a key."""

from __future__ import annotations

from typing import Any

import pytest

from driftjudge.judges import JudgeSettings, MissingKeyError, PromptError, SettingsError, make_judge
from driftjudge.judges.settings import Example


def _read(**given: Any) -> JudgeSettings:
    return JudgeSettings.from_mapping({"model": "m", **given}, "judges.strong")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"temprature": 1}, "judges.strong: unknown setting 'temprature'; did you mean 'temperature'"),
        ({"zzz": 1}, "the known ones are: model, provider"),
        ({"api_key": "sk-canary"}, "keys stay out of files"),
        ({"provider": "opena"}, "did you mean 'openai'"),
        ({"temperature": "hot"}, "temperature is a number, got 'hot'"),
        ({"temperature": 3}, "between 0 and 2, got 3"),
        ({"max_tokens": 1.5}, "whole number"),
        ({"max_tokens": True}, "whole number"),
        ({"timeout": 0}, "timeout lies between"),
        ({"expected_scores": "yes"}, "true or false"),
        ({"model": " "}, "needs the name of a model"),
        ({"model": 7}, "model is a text"),
        ({"base_url": "localhost:8000"}, "an address like"),
        ({"base_url": "http://user:sk-canary@host/v1"}, "holds more than an address"),
        ({"base_url": "http://host/v1?key=sk-canary"}, "holds more than an address"),
        ({"price_input": 1.0}, "set both"),
        ({"fields": "prompt"}, "list of names"),
        ({"examples": {}}, "list of tables"),
        ({"examples": [{"prompt": "p"}]}, "a table 'scores'"),
        ({"examples": [{"prompt": 1, "scores": {}}]}, "texts of an example are texts"),
        ({"examples": [{"prompt": "p", "scores": {"tone": "3"}}]}, "are numbers on the scale"),
        ({"extra_body": 3}, "is a table"),
    ],
)
def test_a_setting_that_cannot_work_is_refused_in_one_sentence(given: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words) as caught:
        _read(**given)
    assert str(caught.value).startswith("judges.strong: ")
    assert "canary" not in str(caught.value)


def test_the_model_must_be_named() -> None:
    with pytest.raises(SettingsError, match="the model is missing"):
        JudgeSettings.from_mapping({})


def test_settings_are_read_as_a_file_gives_them() -> None:
    found = _read(temperature="default", examples=[{"prompt": "p", "scores": {"tone": 3}}], fields=["prompt"])
    assert found.temperature is None
    assert found.examples == (Example({"prompt": "p"}, {"tone": 3.0}),)
    assert found.fields == ("prompt",)


def test_a_missing_key_is_told_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(MissingKeyError, match="OPENAI_API_KEY holds no API key for openai:m"):
        make_judge({"model": "m"}, ["tone"])
    monkeypatch.setenv("MINE", "  ")
    with pytest.raises(MissingKeyError, match="MINE holds no API key"):
        make_judge({"model": "m", "api_key_env": "MINE"}, ["tone"])


def test_a_server_of_ones_own_gets_no_key_that_it_was_not_meant_to_get(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary")
    assert _read(base_url="http://127.0.0.1:1/v1").read_key() is None
    assert _read(base_url="http://127.0.0.1:1/v1", api_key_env="OPENAI_API_KEY").read_key() == "canary"
    assert _read().read_key() == "canary"


def test_an_unknown_prompt_version_is_refused_with_the_judge() -> None:
    with pytest.raises(PromptError, match="no prompt version 'v9'"):
        make_judge({"model": "m", "base_url": "http://127.0.0.1:1/v1", "prompt": "v9"}, ["tone"])
