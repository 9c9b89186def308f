"""The prompt registry."""

from __future__ import annotations

import pytest

from driftjudge.judges import PROMPTS, ItemError, Prompt, PromptError, Rubric, Scale, find_prompt

RUBRICS = (Rubric("tone"), Rubric("depth", "goes beyond the obvious"))


def test_the_papers_four_versions_are_registered() -> None:
    assert list(PROMPTS) == ["v1", "v2-strict", "v1-summ", "v2-strict-summ"]


@pytest.mark.parametrize("version", PROMPTS)
def test_every_version_names_rubrics_scale_and_form_of_the_answer(version: str) -> None:
    text = find_prompt(version).system_text(RUBRICS, Scale(0, 4))
    assert "- tone\n- depth: goes beyond the obvious" in text
    assert "from 0 to 4" in text
    assert "JSON object and nothing else" in text
    assert "{" not in text


@pytest.mark.parametrize(
    ("version", "user"),
    [("v1", "PROMPT:\na\n\nRESPONSE:\nb"), ("v1-summ", "POST:\na\n\nSUMMARY:\nb")],
)
def test_answers_and_summaries_have_their_own_fields(version: str, user: str) -> None:
    prompt = find_prompt(version)
    assert prompt.user_text(dict(zip(prompt.fields, "ab", strict=True)), "x") == user
    assert find_prompt(version.replace("v1", "v2-strict")).template == prompt.template


@pytest.mark.parametrize("version", ["v2-strict", "v2-strict-summ"])
def test_only_the_strict_versions_break_ties_downwards(version: str) -> None:
    assert "give the lower one" in find_prompt(version).instructions
    assert "give the lower one" not in find_prompt(version.replace("v2-strict", "v1")).instructions


def test_an_unknown_version_lists_the_known_ones() -> None:
    with pytest.raises(
        PromptError, match="no prompt version 'v3'; the known ones are: v1, v2-strict, v1-summ, v2-strict-summ"
    ):
        find_prompt("v3")


@pytest.mark.parametrize(
    ("instructions", "template", "words"),
    [
        ("score it", "{prompt} {response}", r"lack the field \{rubrics\}"),
        ("{rubrics}", "{prompt}", r"lacks the field \{response\}"),
        ("{rubrics}", "{prompt} {response} {respose}", "unknown field {respose}; did you mean 'response'"),
        ("{rubrics} {loww}", "{prompt} {response}", "did you mean 'low'"),
        ("{rubrics}", "{prompt} {response} {prompt.x}", "no plain field"),
        ("{rubrics}", "{prompt!r} {response}", "no plain field"),
        ("{rubrics}", "{prompt} {response} {", "stray brace"),
        ("{rubrics}", "{prompt} {response} {}", "no plain field"),
    ],
)
def test_a_prompt_whose_fields_do_not_fit_is_refused(instructions: str, template: str, words: str) -> None:
    with pytest.raises(PromptError, match=words):
        Prompt("mine", instructions, template, ("prompt", "response"))


def test_a_prompt_of_ones_own_may_have_fields_of_its_own() -> None:
    prompt = find_prompt("v1").with_texts(None, "Q {question} {{literally}}", ["question"])
    assert prompt.user_text({"question": "why?"}, "x") == "Q why? {literally}"
    assert prompt.version == "v1 (edited)"
    with pytest.raises(ItemError, match="its texts are: prompt"):
        prompt.user_text({"prompt": "why?"}, "x")
