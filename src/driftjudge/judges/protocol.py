"""What a judge is: something that scores an item on all rubrics in one call, and says who it is and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from driftjudge.monitor.scores import Failure


@dataclass(frozen=True)
class Item:
    """What is judged: named texts, for example `prompt` and `response`."""

    id: str
    fields: Mapping[str, str]
    stratum: str = ""


@dataclass(frozen=True)
class Usage:
    """What one call consumed; dollars are None where no price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float | None = None
    calls: int = 1
    """Requests actually made, retries included; 0 for a score that was taken from a cache or a table."""

    def __add__(self, other: Usage) -> Usage:
        """Of two calls together; an unknown price makes the sum unknown."""
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            None if self.dollars is None or other.dollars is None else self.dollars + other.dollars,
            self.calls + other.calls,
        )


@dataclass(frozen=True)
class Judgement:
    """A judge's answer on one item."""

    scores: tuple[float, ...] | Failure
    """One score of [0, 1] per rubric, in rubric order, or why there is none."""
    fingerprint: str
    """Which judge answered: see `judges/fingerprint.py`."""
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    """The model that the endpoint says answered, perhaps another than the one asked for; empty if it did not say."""
    retry_after: float | None = None
    """Seconds the endpoint asked to wait, after a transport failure."""
    unbilled: bool = False
    """True where the endpoint certainly did no work: it answered with an error status, or was never reached."""

    @property
    def failed(self) -> bool:
        """True where the judge gave no scores."""
        return isinstance(self.scores, Failure)


class Judge(Protocol):
    """Scores items; implementations raise only for mistakes of configuration, never for a call that failed."""

    @property
    def rubrics(self) -> tuple[str, ...]:
        """What it scores, in the order of the scores."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever anything changes that may change a score."""

    async def score(self, item: Item) -> Judgement:
        """The item's scores on all rubrics, from one call."""


@dataclass(frozen=True)
class Estimate:
    """What a call will consume, known before it is made."""

    tokens: int = 0
    """Likely tokens, in and out: what a rate limit counts."""
    dollars: float | None = 0.0
    """Likely cost; None where no price is known."""
    at_most: float | None = 0.0
    """What the call cannot cost more than; the ceiling reserves this much."""


@runtime_checkable
class Estimating(Protocol):
    """A judge that can say beforehand what a call will consume, and refuse an item it cannot be asked about."""

    def estimate(self, item: Item) -> Estimate:
        """What scoring the item will consume; raises `ItemError` for one that cannot be scored."""


@runtime_checkable
class Cacheable(Protocol):
    """A judge whose answer depends on the item's texts alone says so, and its answers may be cached under them."""

    @property
    def cacheable(self) -> bool:
        """False for a judge that goes by ids, or whose version nobody vouches for."""
