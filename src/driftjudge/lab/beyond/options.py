"""What the command line decides for every part, and what parts share when they show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from driftjudge.lab.exhibits import Claim, Exhibit, Row
from driftjudge.monitor.config import Preset

ALPHA = 0.1
CONTESTANTS: tuple[Preset, Preset] = ("paper", "robust")
AIM = "aim: "
"""How the names of claims begin that state an aim of the preset."""


@dataclass(frozen=True)
class BeyondOptions:
    """Streams per figure, and where real tables lie."""

    seeds: int = 60
    data: str | None = None


def share(count: int, total: int) -> str:
    """A count of streams.

    >>> share(3, 60)
    '3/60'
    """
    return f"{count}/{total}"


def aim(name: str, holds: bool, figure: str, reason: str = "") -> Claim:
    """An aim with its figure, and the reason where it was missed."""
    return Claim(AIM + name, bool(holds), figure if holds or not reason else f"{figure}; {reason}")


def exhibit(
    *,
    part: str,
    title: str,
    question: str,
    dataset: str,
    is_replica: bool,
    seeds: int,
    rows: Sequence[Row],
    claims: Sequence[Claim],
    notes: Sequence[str] = (),
    data: Mapping[str, Any] | None = None,
) -> Exhibit:
    """An exhibit of this comparison."""
    return Exhibit(
        experiment=f"beyond-{part}",
        title=title,
        source=question,
        dataset=dataset,
        replica=is_replica,
        seeds=seeds,
        preset="paper and robust",
        rows=tuple(rows),
        claims=tuple(claims),
        notes=tuple(notes),
        data=data or {},
    )
