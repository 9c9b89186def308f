"""The population a plan draws from: a table of healthy scores, with the labelled items among them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from driftjudge.lab.planner.errors import PlanError
from driftjudge.tables import ScoreTable
from driftjudge.tables.replay import DEFAULT_ANCHORS, Roles

FEWEST_ITEMS = 100
FEWEST_PER_STRATUM = 5
FEWEST_LABELLED = 20


@dataclass(frozen=True, eq=False)
class World:
    """Arrays only, so that it can be sent to another process."""

    name: str
    replica: bool
    rubrics: tuple[str, ...]
    strata: tuple[str, ...]
    codes: NDArray[np.int64]
    """The stratum of each item."""
    cheap: NDArray[np.float64]
    strong: NDArray[np.float64]
    """n x R, of the healthy system and the judge as it is."""
    human: NDArray[np.float64]
    """m x R labels."""
    repeats: NDArray[np.float64]
    """P x m x R: the strong judge on the labelled items, asked P times."""
    labelled: tuple[str, ...] | None
    """The stratum of each labelled item, where it is one of the stream's."""
    left_out: int
    """Items that somebody had not scored."""

    def __len__(self) -> int:
        """Number of items."""
        return len(self.codes)

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Share of the stream per stratum."""
        counts: NDArray[np.float64] = np.bincount(self.codes, minlength=len(self.strata)) / len(self)
        return counts

    @cached_property
    def levels(self) -> tuple[NDArray[np.float64], ...]:
        """The values the strong judge gives, per rubric."""
        seen = np.concatenate([self.strong, self.repeats.reshape(-1, len(self.rubrics))])
        return tuple(np.unique(seen[:, r].round(9)) for r in range(len(self.rubrics)))

    def calibration_items(self, wanted: int | None) -> int:
        """How many items the bars are estimated from: as wanted, or what the table has beside the anchors."""
        return len(self) - min(DEFAULT_ANCHORS, len(self) // 4) if wanted is None else wanted


def world_of(table: ScoreTable, roles: Roles, anchors: ScoreTable | None = None) -> World:
    """The population of a table; `anchors` where the labelled items have one of their own."""
    if roles.human is None:
        raise PlanError("anchors are items with human labels, so a plan needs some; name their judge with --human")
    if roles.cheap == roles.strong:
        raise PlanError(
            f"{roles.cheap!r} plays both the cheap and the strong judge; name two with --cheap and --strong"
        )
    cheap, strong = table.judge(roles.cheap), table.judge(roles.strong)
    complete = ~(np.isnan(cheap) | np.isnan(strong)).any(axis=1)
    if complete.sum() < FEWEST_ITEMS:
        raise PlanError(
            f"{int(complete.sum())} items of {table.name} were scored by both judges; a plan needs at least "
            f"{FEWEST_ITEMS} to draw streams from"
        )
    index = {name: t for t, name in enumerate(table.stratum_names)}
    codes = np.array([index[stratum] for stratum in table.strata], dtype=np.int64)[complete]
    counts = np.bincount(codes, minlength=len(index))
    if counts.min() < FEWEST_PER_STRATUM:
        rare = table.stratum_names[int(np.argmin(counts))]
        raise PlanError(
            f"the stratum {rare!r} of {table.name} has {counts.min()} scored items, and a plan needs "
            f"{FEWEST_PER_STRATUM} of each; score more of it or merge it with another"
        )
    source = table if anchors is None else anchors
    human, repeats, usable = _labelled(source, roles, table.rubrics)
    labelled = tuple(source.strata[row] for row in np.flatnonzero(usable))
    return World(
        name=table.name,
        replica=table.replica,
        rubrics=table.rubrics,
        strata=table.stratum_names,
        codes=codes,
        cheap=np.ascontiguousarray(cheap[complete]),
        strong=np.ascontiguousarray(strong[complete]),
        human=human,
        repeats=repeats,
        labelled=labelled if set(labelled) <= set(index) else None,
        left_out=int((~complete).sum()),
    )


def _labelled(
    table: ScoreTable, roles: Roles, rubrics: tuple[str, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Labels, strong scores on the same items, and which items of the table those are."""
    assert roles.human is not None
    missing = [rubric for rubric in rubrics if rubric not in table.rubrics]
    if missing:
        raise PlanError(f"{table.name} has no rubric {missing[0]!r}; its anchors need a label for every rubric")
    order = [table.rubrics.index(rubric) for rubric in rubrics]
    human = table.judge(roles.human)[:, order]
    repeats = np.array([table.judge(name)[:, order] for name in roles.passes or (roles.strong,)])
    usable = ~np.isnan(human).any(axis=1) & ~np.isnan(repeats).any(axis=(0, 2))
    if usable.sum() < FEWEST_LABELLED:
        raise PlanError(
            f"{int(usable.sum())} items of {table.name} carry human labels and strong scores on every rubric; a plan "
            f"needs at least {FEWEST_LABELLED} to see how far judge and humans are apart"
        )
    return np.ascontiguousarray(human[usable]), np.ascontiguousarray(repeats[:, usable]), usable
