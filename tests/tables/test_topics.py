"""Topics of prompts."""

from __future__ import annotations

import pytest

from driftjudge.tables.topics import TOPICS, topic_of


@pytest.mark.parametrize(
    ("prompt", "topic"),
    [
        ("Write a Python function that reverses a list", "coding"),
        ("```\nint main() {}\n``` what is wrong?", "coding"),
        ("What is 12 * 7?", "math"),
        ("Solve for x: 2x = 8", "math"),
        ("Write a short story about a lighthouse", "creative"),
        ("Come up with a slogan for a bakery", "creative"),
        ("Explain the differences between TCP and UDP", "reasoning"),
        ("Should I rent or buy?", "reasoning"),
        ("Who was the first president of Chile?", "factual_qa"),
        ("Summarize the text below", "factual_qa"),
        ("hello", "other"),
        ("", "other"),
    ],
)
def test_a_few_words_decide(prompt: str, topic: str) -> None:
    assert topic_of(prompt) == topic
    assert topic in TOPICS


def test_only_the_beginning_of_a_prompt_is_looked_at() -> None:
    assert topic_of("x" * 5000 + " Python") == "other"
