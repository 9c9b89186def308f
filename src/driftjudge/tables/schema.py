"""The score table: what every reader produces and every driver consumes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftjudge.tables.errors import TableError


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores in [0, 1] of any number of judges on the same items and rubrics.

    The arrays are private, read-only copies, so a table can be shared and cached.

    >>> import numpy as np
    >>> table = ScoreTable("mine", ("a", "b"), ("x", "y"), ("tone",), {"strong": np.array([[0.5], [np.nan]])})
    >>> len(table), table.stratum_names, table.judge_names
    (2, ('x', 'y'), ('strong',))
    >>> table.take([1]).ids
    ('b',)
    """

    name: str
    """What reports call the table."""

    ids: tuple[str, ...]
    """One unique id per item."""

    strata: tuple[str, ...]
    """One stratum label per item."""

    rubrics: tuple[str, ...]
    """Column order of every score array."""

    scores: Mapping[str, NDArray[np.float64]]
    """Judge name ("cheap", "strong", "human", "j_gpt4", ...) to items x rubrics; NaN means unscored."""

    replica: bool = False
    """True when the table was generated from published facts: whatever shows it must say so."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", tuple(self.ids))
        object.__setattr__(self, "strata", tuple(self.strata))
        object.__setattr__(self, "rubrics", tuple(self.rubrics))
        self._check_labels()
        frozen = {judge: self._checked_scores(judge, values) for judge, values in self.scores.items()}
        object.__setattr__(self, "scores", MappingProxyType(frozen))

    def _check_labels(self) -> None:
        if not self.ids:
            raise TableError(f"Table '{self.name}' has no items; give it at least one scored item.")
        if len(self.strata) != len(self.ids):
            raise TableError(
                f"Table '{self.name}' has {len(self.ids)} ids but {len(self.strata)} strata; give one stratum per item."
            )
        if not self.rubrics:
            raise TableError(f"Table '{self.name}' has no rubrics; name at least one.")
        if not self.scores:
            raise TableError(f"Table '{self.name}' has no judges; give the scores of at least one.")
        for what, labels in (("item id", self.ids), ("rubric", self.rubrics)):
            label, count = Counter(labels).most_common(1)[0]
            if count > 1:
                raise TableError(
                    f"Table '{self.name}' has the {what} '{label}' {count} times; make every {what} unique."
                )

    def _checked_scores(self, judge: str, values: ArrayLike) -> NDArray[np.float64]:
        scores = np.array(values, dtype=np.float64, copy=True)
        expected = (len(self.ids), len(self.rubrics))
        if scores.shape != expected:
            raise TableError(
                f"The scores of judge '{judge}' in table '{self.name}' have shape {scores.shape}; "
                f"give {expected}, items x rubrics."
            )
        # NaN is "unscored" and passes; an infinity fails here like any other value off the scale.
        outside = np.argwhere((scores < 0.0) | (scores > 1.0))
        if len(outside):
            row, column = outside[0]
            raise TableError(
                f"Judge '{judge}' gave item '{self.ids[row]}' the score {scores[row, column]:g} "
                f"on rubric '{self.rubrics[column]}' in table '{self.name}'; "
                f"scores must lie in [0, 1], so declare the scale when reading them."
            )
        scores.setflags(write=False)
        return scores

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def judge_names(self) -> tuple[str, ...]:
        """The judges, in the order they were given."""
        return tuple(self.scores)

    @property
    def stratum_names(self) -> tuple[str, ...]:
        """The distinct strata, sorted."""
        return tuple(sorted(set(self.strata)))

    def judge(self, name: str) -> NDArray[np.float64]:
        """The items x rubrics scores of one judge (read-only); NaN means unscored."""
        try:
            return self.scores[name]
        except KeyError:
            raise TableError(
                f"Table '{self.name}' has no judge '{name}'; choose one of: {', '.join(self.scores)}."
            ) from None

    def take(self, rows: Sequence[int] | NDArray[np.integer] | NDArray[np.bool_]) -> ScoreTable:
        """The sub-table of the given row numbers, in that order, or of the rows where a boolean mask is true."""
        index = np.asarray(rows)
        if index.dtype == np.bool_:
            if index.shape != (len(self),):
                raise TableError(f"A row mask for table '{self.name}' needs {len(self)} entries, not {index.shape}.")
            index = np.flatnonzero(index)
        index = index.astype(np.intp)
        missing = index[(index < 0) | (index >= len(self))]
        if len(missing):
            raise TableError(f"Table '{self.name}' has rows 0 to {len(self) - 1}; row {missing[0]} is not one of them.")
        return ScoreTable(
            name=self.name,
            ids=tuple(self.ids[i] for i in index),
            strata=tuple(self.strata[i] for i in index),
            rubrics=self.rubrics,
            scores={judge: values[index] for judge, values in self.scores.items()},
            replica=self.replica,
        )
