"""Expected scores: the mean of the scale under the model's own token probabilities, where the endpoint gives them.

The number a model writes is the likeliest one; its probabilities carry more. For each rubric the token of the answer
that holds its digit is found, and the scale's levels among that token's alternatives are averaged by their
probability.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from driftjudge.judges.rubrics import Rubric, Scale

AROUND = ' \t\r\n:,"'
"""What a token may hold beside the digit."""


@dataclass(frozen=True)
class Token:
    """A token of the answer, and what else might have stood there, with natural log-probabilities."""

    text: str
    alternatives: Sequence[tuple[str, float]]
    """The endpoint's list, which holds the token itself too."""


def expected_scores(tokens: Sequence[Token], rubrics: Sequence[Rubric], scale: Scale) -> tuple[float, ...] | None:
    """One expected score per rubric, on the scale; None where a rubric's digit cannot be found.

    >>> log = math.log
    >>> digit = Token("3", [("3", log(0.5)), ("4", log(0.25)), ("x", log(0.25))])
    >>> expected_scores([Token('{"a": ', []), digit, Token("}", [])], [Rubric("a")], Scale(0, 4))
    (3.333...,)
    """
    ends: list[int] = []
    total = 0
    for token in tokens:
        total += len(token.text)
        ends.append(total)
    text = "".join(token.text for token in tokens)
    values: list[float] = []
    for rubric in rubrics:
        place = re.search(rf'"{re.escape(rubric.name)}"\s*:\s*(?=[-0-9])', text)
        if place is None:
            return None
        index = next(i for i, end in enumerate(ends) if end > place.end())
        mean = _mean(tokens[index], scale)
        if mean is None:
            return None
        values.append(mean)
    return tuple(values)


def _mean(token: Token, scale: Scale) -> float | None:
    mass: dict[int, float] = {}
    levels = {str(level): level for level in scale.levels}
    for text, logarithm in token.alternatives:
        level = levels.get(text.strip(AROUND))
        if level is not None:
            mass[level] = mass.get(level, 0.0) + math.exp(min(0.0, logarithm))
    whole = math.fsum(mass.values())
    if whole <= 0.0:
        return None
    return math.fsum(level * share for level, share in mass.items()) / whole
