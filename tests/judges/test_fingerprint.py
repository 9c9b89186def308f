"""A fingerprint changes with whatever may change a score, and with nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from driftjudge.judges import Identity, LLMJudge, Scale, make_judge

BASE: dict[str, Any] = {"model": "m", "base_url": "http://127.0.0.1:9/v1"}


def _judge(rubrics: Any = ("tone",), scale: Scale | None = None, **settings: Any) -> LLMJudge:
    return make_judge({**BASE, **settings}, rubrics, scale)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"model": "n"}, "model"),
        ({"base_url": "http://127.0.0.1:10/v1"}, "endpoint"),
        ({"prompt": "v2-strict"}, "prompt"),
        ({"instructions": "{rubrics} be kind"}, "instructions"),
        ({"template": "{prompt}{response}"}, "template"),
        ({"examples": [{"prompt": "p", "response": "r", "scores": {"tone": 1}}]}, "examples"),
        ({"rubrics": {"tone": "friendly"}}, "rubrics"),
        ({"rubrics": ("mood",)}, "rubrics"),
        ({"scale": Scale(0, 5)}, "scale"),
        ({"temperature": 0.5}, "sampling"),
        ({"seed": 1}, "sampling"),
        ({"max_tokens": 17}, "sampling"),
        ({"expected_scores": True}, "sampling"),
        ({"extra_body": {"top_k": 1}}, "extra_body"),
    ],
)
def test_it_changes_with_what_may_change_a_score(change: dict[str, Any], part: str) -> None:
    one, other = _judge(), _judge(**change)
    assert one.fingerprint != other.fingerprint
    assert part in one.identity.changes(other.identity)


@pytest.mark.parametrize(
    "change", [{"timeout": 5.0}, {"price_input": 1.0, "price_output": 1.0}, {"max_input_tokens": 9}]
)
def test_it_stays_the_same_under_what_cannot(change: dict[str, Any]) -> None:
    assert _judge().fingerprint == _judge(**change).fingerprint


def test_a_named_endpoint_may_move() -> None:
    here, there = (_judge(base_url=f"http://127.0.0.1:{port}/v1", endpoint="ours") for port in (9, 10))
    assert here.fingerprint == there.fingerprint


def test_texts_are_not_confused_with_their_neighbours() -> None:
    assert Identity({"a": "b", "c": ""}).fingerprint != Identity({"a": "", "c": "b"}).fingerprint
    assert Identity({"a": "1", "b": "2"}).fingerprint == Identity({"b": "2", "a": "1"}).fingerprint


def test_the_key_is_no_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    for key in ("canary-one", "canary-two"):
        monkeypatch.setenv("MINE", key)
        judge = _judge(api_key_env="MINE")
        assert key not in str(judge.identity.parts) + repr(judge)
        found.add(judge.fingerprint)
    assert len(found) == 1
