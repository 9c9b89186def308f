"""Judges that are no language models: a table of scores somebody already took, and any Python function."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from driftjudge.judges.errors import ItemError, SettingsError
from driftjudge.judges.fingerprint import Identity
from driftjudge.judges.protocol import Estimate, Item, Judgement, Usage
from driftjudge.judges.rubrics import Rubric, as_rubrics
from driftjudge.monitor.errors import ScoreError
from driftjudge.monitor.scores import Failure, Scores, score_row

Answer = Scores | Mapping[str, float]


class TableJudge:
    """Looks scores up by item id; None or NaN in a row means unscored, which is refused rather than invented."""

    cacheable = False

    def __init__(
        self,
        name: str,
        rubrics: Iterable[str | Rubric],
        scores: Mapping[str, Sequence[float] | Failure],
    ) -> None:
        self.name = name
        self._rubrics = tuple(rubric.name for rubric in as_rubrics(rubrics))
        self._scores = scores
        self._fingerprint = Identity(
            {"provider": "table", "model": name, "rubrics": ",".join(self._rubrics)}
        ).fingerprint

    @property
    def rubrics(self) -> tuple[str, ...]:
        """What it scores, in order."""
        return self._rubrics

    @property
    def fingerprint(self) -> str:
        """Of the table's name and rubrics."""
        return self._fingerprint

    def estimate(self, item: Item) -> Estimate:
        """Nothing; refuses an item that the table does not have."""
        if item.id not in self._scores:
            raise ItemError(f"The table '{self.name}' has no scores for item '{item.id}'; take its ids from the table.")
        return Estimate()

    async def score(self, item: Item) -> Judgement:
        """The row of the item's id."""
        self.estimate(item)
        return Judgement(_checked(self._scores[item.id], self._rubrics, item), self._fingerprint, Usage(0, 0, 0.0, 0))


class CallableJudge:
    """Any Python function, sync or async, from an item to scores in [0, 1] or a `Failure`.

    An exception of the function counts as a transport failure: nobody knows what it says about the judge. Raise its
    `version` whenever the function changes; with a version its answers may be cached.
    """

    def __init__(
        self,
        function: Callable[[Item], Answer | Awaitable[Answer]],
        rubrics: Iterable[str | Rubric],
        *,
        name: str | None = None,
        version: str | None = None,
        dollars: float = 0.0,
    ) -> None:
        if not dollars >= 0.0:
            raise SettingsError(f"A call of a judge costs 0 dollars or more, got {dollars}.")
        self._function = function
        self._rubrics = tuple(rubric.name for rubric in as_rubrics(rubrics))
        self.name = name or str(getattr(function, "__qualname__", type(function).__name__))
        self._dollars = dollars
        self.cacheable = version is not None
        parts = {"provider": "python", "model": self.name, "version": version or "", "rubrics": ",".join(self._rubrics)}
        self._fingerprint = Identity(parts).fingerprint

    @property
    def rubrics(self) -> tuple[str, ...]:
        """What it scores, in order."""
        return self._rubrics

    @property
    def fingerprint(self) -> str:
        """Of its name, version and rubrics."""
        return self._fingerprint

    def estimate(self, item: Item) -> Estimate:  # noqa: ARG002
        """The price per call that it was given."""
        return Estimate(0, self._dollars, self._dollars)

    async def score(self, item: Item) -> Judgement:
        """Call the function."""
        usage = Usage(dollars=self._dollars)
        try:
            answer = self._function(item)
            if inspect.isawaitable(answer):
                answer = await answer
        except Exception as error:
            return Judgement(
                Failure("transport", f"{self.name} raised {type(error).__name__}"), self._fingerprint, usage
            )
        if isinstance(answer, Mapping):
            lacking = [name for name in self._rubrics if name not in answer]
            if lacking:
                return Judgement(Failure("unparsable", f"no score for '{lacking[0]}'"), self._fingerprint, usage)
            answer = [answer[name] for name in self._rubrics]
        return Judgement(_checked(answer, self._rubrics, item), self._fingerprint, usage)


def _checked(scores: Scores, rubrics: tuple[str, ...], item: Item) -> tuple[float, ...] | Failure:
    if isinstance(scores, Failure):
        return scores
    try:
        row = score_row(scores, rubrics, "item", item.id)
    except ScoreError as error:
        numbers = hasattr(scores, "__len__") and len(scores) == len(rubrics)
        return Failure("out_of_range" if numbers else "unparsable", str(error))
    assert row is not None
    return tuple(float(score) for score in row)
