"""From text to scores; the misbehaviours on the wire are in test_llm.py."""

from __future__ import annotations

import string

from hypothesis import given
from hypothesis import strategies as st

from driftjudge.judges import Rubric, Scale
from driftjudge.judges.replies import read_answer, shown
from driftjudge.monitor.scores import Failure

RUBRICS = (Rubric("a"), Rubric("b"))


@given(st.text() | st.text(string.printable) | st.text('{}[]":,.0123456789abe- '))
def test_any_text_gives_scores_on_the_scale_or_a_failure(text: str) -> None:
    found = read_answer(text, RUBRICS, Scale(0, 4))
    assert isinstance(found, Failure) or all(value in (0, 1, 2, 3, 4) for value in found)


@given(st.tuples(*[st.integers(-3, 8) | st.floats(allow_nan=False, allow_infinity=False)] * 2))
def test_a_number_is_taken_exactly_when_it_is_on_the_scale(values: tuple[float, float]) -> None:
    found = read_answer(f'{{"b": {values[1]!r}, "a": {values[0]!r}}}', RUBRICS, Scale(0, 4))
    if all(value in (0, 1, 2, 3, 4) for value in values):
        assert found == values
    else:
        assert isinstance(found, Failure)
        assert found.reason == "out_of_range"


def test_a_reply_without_end_is_not_read() -> None:
    assert read_answer(" " * 200_000, RUBRICS, Scale()) == Failure("unparsable", "a reply of 200000 characters")


def test_only_the_beginning_of_a_reply_is_shown() -> None:
    assert shown("a\n  b") == "a b"
    assert len(shown("x" * 500)) == 80
