"""How work under way is shown: what is being done, how far it is, and what it cost so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from driftjudge.judges.protocol import Judgement


class Meter(Protocol):
    """Somebody who watches the work; the command line draws bars."""

    def begin(self, what: str, total: int | None) -> None:
        """A piece of work with so many answers to come; None where nobody knows."""

    def step(self, judgement: Judgement | None = None, count: int = 1) -> None:
        """So much of it is done; an answer came in where one is given."""

    def end(self) -> None:
        """The piece is done."""


class Silent:
    """Nobody watches."""

    def begin(self, what: str, total: int | None) -> None:
        """Nothing."""

    def step(self, judgement: Judgement | None = None, count: int = 1) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""


def counted(number: int, what: str, more: Sequence[str] = ()) -> str:
    """A number of things, for people.

    >>> counted(1, "anchor"), counted(1200, "call")
    ('1 anchor', '1,200 calls')
    """
    return f"{number:,} {what if number == 1 else (more[0] if more else what + 's')}"
