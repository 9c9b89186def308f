"""Expected scores from token probabilities."""

from __future__ import annotations

import math

import pytest

from driftjudge.judges import Rubric, Scale
from driftjudge.judges.expected import Token, expected_scores

SCALE = Scale(0, 4)


def _certain(text: str) -> Token:
    return Token(text, [(text, 0.0)])


def _split(*shares: tuple[str, float]) -> Token:
    return Token(shares[0][0], [(text, math.log(share)) for text, share in shares])


def test_each_rubric_is_read_at_its_own_token() -> None:
    tokens = [
        _certain('{"a":'),
        _split(("1", 0.5), ("2", 0.5)),
        _certain(', "b": '),
        _split(("4", 0.75), ("0", 0.25)),
        _certain("}"),
    ]
    assert expected_scores(tokens, [Rubric("b"), Rubric("a")], SCALE) == pytest.approx((3.0, 1.5))


def test_a_digit_glued_to_its_neighbours_is_found() -> None:
    tokens = [_certain('{"a"'), _split((": 1", 0.5), (":3", 0.25), (" 3,", 0.25)), _certain("}")]
    assert expected_scores(tokens, [Rubric("a")], SCALE) == pytest.approx((2.0,))


def test_what_is_not_on_the_scale_does_not_count() -> None:
    tokens = [_certain('{"a": '), _split(("2", 0.2), ("7", 0.5), ("good", 0.3)), _certain("}")]
    assert expected_scores(tokens, [Rubric("a")], SCALE) == pytest.approx((2.0,))


def test_an_answer_without_the_rubric_or_without_a_level_has_no_expected_score() -> None:
    assert expected_scores([_certain('{"b": 1}')], [Rubric("a")], SCALE) is None
    assert expected_scores([_certain('{"a": '), _split(("9", 1.0))], [Rubric("a")], SCALE) is None
