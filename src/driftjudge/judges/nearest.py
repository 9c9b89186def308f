"""A word the user may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def suggestion(given: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the nearest known one, or all of them.

    >>> suggestion("temprature", ["model", "temperature"])
    "; did you mean 'temperature'?"
    """
    names = list(known)
    near = get_close_matches(given, names, 1)
    return f"; did you mean '{near[0]}'?" if near else f"; the known ones are: {', '.join(names)}"
