"""Google and Anthropic through their own clients, against a server that speaks their protocols."""

from __future__ import annotations

import json
from typing import Any

import pytest

from driftjudge.judges import (
    EndpointError,
    Judgement,
    LLMJudge,
    MissingExtraError,
    SettingsError,
    make_judge,
    providers,
)
from driftjudge.monitor.scores import Failure
from tests.judges import misbehaving as wire
from tests.judges.builders import item, run
from tests.judges.misbehaving import Behaviour, MisbehavingServer, http

# Google's client has a typing mistake in a docstring, which Python tells whoever compiles it first.
pytestmark = pytest.mark.filterwarnings("ignore:.*invalid escape sequence")

PROVIDERS = ("google", "anthropic")
MODELS = {"google": "gemini-3.1-flash-lite", "anthropic": "claude-haiku-5-5"}


def _said(provider: str, text: str, stop: str | None = None) -> Behaviour:
    if provider == "google":
        part = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": stop or "STOP"}
        usage = {"promptTokenCount": 300, "candidatesTokenCount": 40, "totalTokenCount": 340}
        found: dict[str, Any] = {"candidates": [part], "usageMetadata": usage, "modelVersion": "answered-by"}
    else:
        found = {"id": "m", "type": "message", "role": "assistant", "model": "answered-by", "stop_sequence": None}
        found |= {"content": [{"type": "text", "text": text}], "stop_reason": stop or "end_turn"}
        found["usage"] = {"input_tokens": 300, "output_tokens": 40}
    return wire.raw(http(200, json.dumps(found).encode()), hang_up=False)


def _refused(provider: str, status: int, message: str = "no") -> Behaviour:
    kinds = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 500: "api_error"}
    error = (
        {"type": kinds[status], "message": message} if provider == "anthropic" else {"code": status, "message": message}
    )
    return wire.raw(http(status, json.dumps({"type": "error", "error": error}).encode()), hang_up=False)


def _judge(server: MisbehavingServer, provider: str, monkeypatch: pytest.MonkeyPatch) -> LLMJudge:
    monkeypatch.setenv("MINE", "canary")
    base = f"http://127.0.0.1:{server.port}"
    given = {"provider": provider, "model": MODELS[provider], "base_url": base, "api_key_env": "MINE", "timeout": 20.0}
    return make_judge({**given, "temperature": "default", "price_input": 1.0, "price_output": 4.0}, ["tone"])


def _scored(judge: LLMJudge) -> Judgement:
    async def once() -> Judgement:
        async with judge:
            return await judge.score(item())

    return run(once())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_scores_usage_and_the_answering_model_come_back(
    server: MisbehavingServer, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.default = _said(provider, '{"tone": 3}')
    judgement = _scored(_judge(server, provider, monkeypatch))
    assert judgement.scores == (0.75,)
    assert judgement.model == "answered-by"
    assert judgement.usage.dollars == pytest.approx((300 + 160) / 1e6)
    body = json.dumps(server.seen[0].body)
    assert "How are you?" in body
    assert "additionalProperties" in body


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("status", [429, 500])
def test_a_call_is_one_request_even_when_it_fails(
    server: MisbehavingServer, provider: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.default = _refused(provider, status)
    scores = _scored(_judge(server, provider, monkeypatch)).scores
    assert isinstance(scores, Failure)
    assert scores.reason == "transport"
    assert len(server.seen) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
def test_refusals_prose_and_numbers_off_the_scale_have_their_class(
    server: MisbehavingServer, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = "SAFETY" if provider == "google" else "refusal"
    behaviours = (_said(provider, "", stop), _said(provider, "well"), _said(provider, '{"tone": 9}'))
    server.next(*behaviours)
    judge = _judge(server, provider, monkeypatch)
    found = [_scored(judge).scores for _ in behaviours]
    assert [one.reason for one in found if isinstance(one, Failure)] == ["refusal", "unparsable", "out_of_range"]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_wrong_key_and_a_wrong_model_are_errors_without_the_key(
    server: MisbehavingServer, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.next(_refused(provider, 401, "key canary"), _refused(provider, 404, "no model for canary"))
    judge = _judge(server, provider, monkeypatch)
    for words in ("does not accept our key", "knows no model"):
        with pytest.raises(EndpointError, match=words) as caught:
            _scored(judge)
        assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("provider", "extra"), [("google", "google"), ("anthropic", "anthropic"), ("openai", "judges")]
)
def test_a_client_that_is_not_installed_is_told_in_one_sentence(
    provider: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(providers._PACKAGES, provider, "not_installed_anywhere.at_all")
    with pytest.raises(MissingExtraError, match=rf'pip install "driftjudge\[{extra}\]"'):
        make_judge({"provider": provider, "model": "m", "base_url": "http://127.0.0.1:1"}, ["tone"])


def test_expected_scores_are_for_openais_protocol() -> None:
    with pytest.raises(SettingsError, match="only provider 'openai'"):
        make_judge({"provider": "google", "model": "m", "base_url": "http://x", "expected_scores": True}, ["tone"])
