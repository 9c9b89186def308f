"""The spec of a replica: published facts, assumptions and free parameters, read from a TOML file beside this module."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from driftjudge.tables.errors import TableError

REPLICAS: tuple[str, ...] = ("helpsteer2", "tldr")
"""The replicas that ship with the package."""

DRIFTED_JUDGES: tuple[str, ...] = ("lenient", "harsh")
"""The strong judge after its version bump, and under the stricter prompt."""


@dataclass(frozen=True)
class Relation:
    """How a judge relates to the strong judge on one rubric, over all items."""

    shift: float
    """mean(judge - strong)."""

    corr: float
    """Pearson correlation with the strong judge, on the grid."""

    agree: float | None
    """Share of items with the same score; None where nobody published it."""

    slope: float | None
    """Slope of the regression of strong on this judge; None where nobody published it."""

    source: str
    """"published" or "assumed"."""

    @property
    def known_slope(self) -> float:
        """The slope, where the generator cannot do without one."""
        if self.slope is None:
            raise TableError("The cheap judge of a replica needs a slope in its spec; add it to every rubric.")
        return self.slope


@dataclass(frozen=True)
class Strong:
    """The strong judge on one rubric (free parameters)."""

    mean: float
    sd: float

    loading: float
    """Correlation of the rubric with the quality all rubrics share, before rounding."""

    offsets: Mapping[str, float]
    """Stratum to location offset, on the score scale; strata not named get 0."""

    factors: Mapping[str, float]
    """Stratum to factor on the spread of every judge; strata not named get 1."""


@dataclass(frozen=True)
class Human:
    """The human labels on one rubric."""

    mean: float
    sd: float

    corr: float
    """Pearson correlation with the strong judge."""


@dataclass(frozen=True)
class RubricSpec:
    """Everything the generator needs to know about one rubric."""

    relations: Mapping[str, Relation]
    """For "cheap", "lenient" and "harsh"."""

    strong: Strong
    human: Human

    spread: Mapping[str, float]
    """For each drifted judge, the spread of its scores before rounding, as a multiple of the strong judge's."""

    cheap_offsets: Mapping[str, float]
    """Where the cheap judge is more or less generous than its overall bias: stratum to location offset."""

    unevenness: float
    """How much of the replica's heterogeneity the shifts on this rubric have."""


@dataclass(frozen=True)
class ReplicaSpec:
    """One replica: sizes, strata and a spec per rubric."""

    name: str
    title: str
    items: int
    seed: int
    judge_levels: int
    human_levels: int

    strata: Mapping[str, float]
    """Stratum to share of the items."""

    heterogeneity: float
    """Standard deviation over items of the stratum's extra shift, in units of the judge's mean absolute shift."""

    profiles: Mapping[str, Mapping[str, float]]
    """For each drifted judge, the shape of its extra shift over strata (only the shape counts)."""

    halo: float
    """Correlation between the errors one judge makes on two rubrics of the same item."""

    cheap_halo: float
    """The same for the cheap judge."""

    insight: Mapping[str, float]
    """For a drifted judge, the share of its departures from the strong judge in which it sides with the humans."""

    rubrics: Mapping[str, RubricSpec]


def _relation(published: Mapping[str, Any], assumed: Mapping[str, Any], judge: str) -> Relation:
    source = "published" if judge in published else "assumed"
    facts = published.get(judge) or assumed[judge]
    return Relation(facts["shift"], facts["corr"], facts.get("agree"), facts.get("slope"), source)


def _rubric(raw: Mapping[str, Any], rubric: str) -> RubricSpec:
    published = raw["published"][rubric]
    assumed = raw.get("assumed", {}).get(rubric, {})
    free = raw["free"]
    strong, human = free["strong"][rubric], free["human"][rubric]
    return RubricSpec(
        relations={judge: _relation(published, assumed, judge) for judge in ("cheap", *DRIFTED_JUDGES)},
        strong=Strong(
            strong["mean"], strong["sd"], strong["loading"], strong.get("offsets", {}), strong.get("factors", {})
        ),
        human=Human(human["mean"], human["sd"], human["corr"]),
        spread=free["spread"][rubric],
        cheap_offsets=free.get("cheap_offsets", {}).get(rubric, {}),
        unevenness=free.get("unevenness", {}).get(rubric, 1.0),
    )


@lru_cache(maxsize=len(REPLICAS))
def load_spec(name: str) -> ReplicaSpec:
    """The spec of a shipped replica.

    >>> load_spec("tldr").items
    1498
    """
    if name not in REPLICAS:
        raise TableError(f"There is no replica '{name}'; choose one of: {', '.join(REPLICAS)}.")
    raw = tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    free = raw["free"]
    return ReplicaSpec(
        name=name,
        title=raw["title"],
        items=raw["items"],
        seed=free["seed"],
        judge_levels=raw["judge_levels"],
        human_levels=raw["human_levels"],
        strata=free["strata"],
        heterogeneity=free["heterogeneity"],
        profiles=free["profiles"],
        halo=free["halo"],
        cheap_halo=free["cheap_halo"],
        insight=free["insight"],
        rubrics={rubric: _rubric(raw, rubric) for rubric in raw["rubrics"]},
    )
