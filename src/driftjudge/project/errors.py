"""The one exception family of this layer, and the sentence for a name nobody knows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from driftjudge.judges.nearest import suggestion


class ProjectError(ValueError):
    """A project folder, or a file given to it, cannot be used; the message says why and what to do."""


def refuse_unknown(given: Iterable[str], known: Sequence[str], where: str) -> None:
    """Refuse the first name that is not known, with the nearest one that is.

    >>> refuse_unknown(["concurency"], ["concurrency", "retries"], "[limits]")
    Traceback (most recent call last):
    driftjudge.project.errors.ProjectError: unknown key 'concurency' in [limits]; did you mean 'concurrency'?
    """
    for name in given:
        if name not in known:
            raise ProjectError(f"unknown key {name!r} in {where}{suggestion(name, known)}")


class OutageError(ProjectError):
    """A judge does not answer; nothing is lost, and the same again may work later."""
