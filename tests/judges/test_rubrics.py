"""Rubrics, scales and the schema of an answer."""

from __future__ import annotations

import pytest

from driftjudge.judges import Rubric, RubricError, Scale, as_rubrics
from driftjudge.judges.rubrics import answer_schema


@pytest.mark.parametrize("name", ["tone of voice", "1st", "", "a-b", "_x", "x" * 65, "größe", "a\n"])
def test_a_rubric_name_that_cannot_be_a_field_is_refused(name: str) -> None:
    with pytest.raises(RubricError, match="cannot be a field"):
        Rubric(name)


def test_the_refusal_proposes_a_name() -> None:
    with pytest.raises(RubricError, match="call it 'tone_of_voice'"):
        Rubric("tone of voice!")


@pytest.mark.parametrize("name", ["json", "copy", "model_config", "class", "x" * 64])
def test_names_that_mean_something_to_python_are_fine(name: str) -> None:
    assert answer_schema([Rubric(name)], Scale())["required"] == [name]


def test_rubrics_are_named_once_and_are_not_too_many() -> None:
    with pytest.raises(RubricError, match="'a' is named twice"):
        as_rubrics(["a", "b", "a"])
    with pytest.raises(RubricError, match="got 0"):
        as_rubrics([])
    with pytest.raises(RubricError, match="got 65"):
        as_rubrics([f"r{number}" for number in range(65)])


def test_a_scale_maps_its_ends_to_0_and_1() -> None:
    assert [Scale(1, 7).to_unit(value) for value in (1, 4, 7)] == [0.0, 0.5, 1.0]


@pytest.mark.parametrize(("low", "high", "integer"), [(4, 0, True), (1, 1, True), (0.5, 4, True), (0, 500, True)])
def test_a_scale_that_is_none_is_refused(low: float, high: float, integer: bool) -> None:
    with pytest.raises(RubricError, match="scale"):
        Scale(low, high, integer)


def test_the_schema_is_closed_and_every_rubric_is_required() -> None:
    schema = answer_schema(as_rubrics(["a", "b"]), Scale(0, 1, integer=False))
    assert schema == {
        "type": "object",
        "properties": {name: {"type": "number", "minimum": 0, "maximum": 1} for name in ("a", "b")},
        "required": ["a", "b"],
        "additionalProperties": False,
    }
