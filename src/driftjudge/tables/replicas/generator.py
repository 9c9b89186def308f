"""Draws a replica from its spec: a Gaussian copula under ordinal marginals, with every published figure solved for.

Per rubric the strong judge has a latent standard normal z per item (one shared quality factor over rubrics). Any
other judge has the latent rho z + sqrt(1 - rho^2) e with its own noise e. Latents become scores by rank within
each stratum, with as many items per level as the marginal of that stratum says; rho is found by bisection so that
the Pearson correlation of the *scores*, in this very table, is the published one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from driftjudge.tables.errors import TableError
from driftjudge.tables.replicas.marginals import Array, Mixture, grid, level_counts
from driftjudge.tables.replicas.spec import DRIFTED_JUDGES, ReplicaSpec, RubricSpec, load_spec
from driftjudge.tables.schema import ScoreTable

JUDGES: tuple[str, ...] = ("human", "strong", "cheap", *DRIFTED_JUDGES)
"""The judges of every replica."""

MAX_HETEROGENEITY = 3.0
"""The most uneven shift a replica can be asked for; beyond it whole strata sit at the ends of the scale."""

_BISECTIONS = 14  # 2^-14 moves no correlation over 1498 items by more than the rank of one item does


@dataclass(frozen=True)
class _Frame:
    """The items of a replica and the noise behind their scores, before any figure of the spec is applied."""

    names: tuple[str, ...]
    rows: tuple[NDArray[np.intp], ...]
    weights: Array
    noise: Mapping[str, Array]

    def by_stratum(self, values: Mapping[str, float], default: float) -> Array:
        return np.array([values.get(name, default) for name in self.names])

    def scores(self, latent: Array, probabilities: Array) -> Array:
        """Turn latents into scores by rank within each stratum."""
        result = np.empty(len(latent))
        values = grid(probabilities.shape[1])
        for members, law in zip(self.rows, probabilities, strict=True):
            ranked = members[np.argsort(latent[members], kind="stable")]
            result[ranked] = np.repeat(values, level_counts(law, len(members)))
        return result

    def correlated(self, strong: Array, latent: Array, noise: Array, probabilities: Array, corr: float) -> Array:
        """Scores whose Pearson correlation with the strong judge's is as near to corr as ranks allow."""
        low, high = 0.0, 1.0
        for _ in range(_BISECTIONS):
            rho = (low + high) / 2.0
            scores = self.scores(rho * latent + np.sqrt(1.0 - rho**2) * noise, probabilities)
            if np.corrcoef(strong, scores)[0, 1] < corr:
                low = rho
            else:
                high = rho
        return scores


def _frame(spec: ReplicaSpec) -> _Frame:
    rng = np.random.Generator(np.random.PCG64(spec.seed))
    shares = np.array(list(spec.strata.values()))
    sizes = level_counts(shares / shares.sum(), spec.items)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    noise = {}
    for judge in JUDGES:
        shared = rng.standard_normal((spec.items, 1))
        own = rng.standard_normal((spec.items, len(spec.rubrics)))
        if judge == "strong":
            loading = np.array([rubric.strong.loading for rubric in spec.rubrics.values()])
        else:
            loading = np.full(len(spec.rubrics), np.sqrt(spec.cheap_halo if judge == "cheap" else spec.halo))
        noise[judge] = loading * shared + np.sqrt(1.0 - loading**2) * own
    for judge, share in spec.insight.items():
        noise[judge] = np.sqrt(share) * noise["human"] + np.sqrt(1.0 - share) * noise[judge]
    rows = tuple(np.flatnonzero(labels == t) for t in range(len(sizes)))
    return _Frame(tuple(spec.strata), rows, sizes / spec.items, noise)


def _extra_shift(spec: ReplicaSpec, judge: str, heterogeneity: float, frame: _Frame) -> Array:
    """Per unit of shift, the stratum's extra shift: the judge's profile, centred and scaled to the heterogeneity."""
    profile = frame.by_stratum(spec.profiles[judge], 0.0)
    profile = profile - frame.weights @ profile
    return heterogeneity * profile / np.sqrt(frame.weights @ profile**2)


def _marginals(
    spec: ReplicaSpec, rubric: RubricSpec, extra: Mapping[str, Array], frame: _Frame
) -> dict[str, tuple[Array, float]]:
    """Per judge: strata x levels probabilities, and the correlation its scores should have with the strong judge's."""
    strong, human, cheap = rubric.strong, rubric.human, rubric.relations["cheap"]
    offsets, factors = frame.by_stratum(strong.offsets, 0.0), frame.by_stratum(strong.factors, 1.0)
    start = Mixture(offsets, np.ones_like(offsets), factors, frame.weights, spec.judge_levels)
    centre, spread = start.solve(strong.mean, strong.sd)
    laws = {"strong": (start.probabilities(centre, spread), 1.0)}

    def beside_strong(more: Array | float, levels: int = spec.judge_levels) -> Mixture:
        # A shift moves a narrow stratum less: the same number of its own spreads as any other stratum.
        return Mixture(centre + offsets + more, factors, factors, frame.weights, levels)

    people = beside_strong(0.0, spec.human_levels)
    laws["human"] = (people.probabilities(*people.solve(human.mean, human.sd)), human.corr)

    # The slope of strong on cheap is corr * sd(strong) / sd(cheap), which fixes the spread of the cheap judge.
    generous = beside_strong(frame.by_stratum(rubric.cheap_offsets, 0.0))
    cheap_law = generous.solve(strong.mean + cheap.shift, cheap.corr * strong.sd / cheap.known_slope)
    laws["cheap"] = (generous.probabilities(*cheap_law), cheap.corr)

    for judge in DRIFTED_JUDGES:
        relation = rubric.relations[judge]
        moved = beside_strong(factors * rubric.unevenness * abs(relation.shift) * extra[judge])
        own_spread = spread * rubric.spread[judge]
        shift = moved.solve_shift(strong.mean + relation.shift, own_spread)
        laws[judge] = (moved.probabilities(shift, own_spread), relation.corr)
    return laws


def generate(spec: ReplicaSpec, heterogeneity: float) -> ScoreTable:
    """Draw the table of a spec; the same spec and heterogeneity give the same table, bit for bit."""
    frame = _frame(spec)
    extra = {judge: _extra_shift(spec, judge, heterogeneity, frame) for judge in DRIFTED_JUDGES}
    scores = {judge: np.empty((spec.items, len(spec.rubrics))) for judge in JUDGES}
    for r, rubric in enumerate(spec.rubrics.values()):
        laws = _marginals(spec, rubric, extra, frame)
        latent = frame.noise["strong"][:, r]
        strong = frame.scores(latent, laws["strong"][0])
        for judge, (law, corr) in laws.items():
            noise = frame.noise[judge][:, r]
            scores[judge][:, r] = strong if judge == "strong" else frame.correlated(strong, latent, noise, law, corr)
    strata = [""] * spec.items
    for name, members in zip(frame.names, frame.rows, strict=True):
        for i in members:
            strata[i] = name
    return ScoreTable(
        name=spec.title,
        ids=tuple(f"{spec.name}-{i:04d}" for i in range(spec.items)),
        strata=tuple(strata),
        rubrics=tuple(spec.rubrics),
        scores=scores,
        replica=True,
    )


@lru_cache(maxsize=16)
def _cached(name: str, heterogeneity: float) -> ScoreTable:
    return generate(load_spec(name), heterogeneity)


def load_replica(name: str, *, heterogeneity: float | None = None) -> ScoreTable:
    """A shipped replica ("helpsteer2" or "tldr"): 1498 items scored by the judges in `JUDGES`.

    heterogeneity says how unevenly the lenient and the harsh judge shift over strata: the standard deviation over
    items of the stratum's extra shift, in units of the judge's mean absolute shift. The overall shift of each rubric
    stays the published one. 0 moves every stratum alike; the default is in the spec.

    >>> table = load_replica("helpsteer2")
    >>> len(table), table.replica, table.judge_names
    (1498, True, ('human', 'strong', 'cheap', 'lenient', 'harsh'))
    """
    spec = load_spec(name)
    wanted = spec.heterogeneity if heterogeneity is None else float(heterogeneity)
    if not 0.0 <= wanted <= MAX_HETEROGENEITY:
        raise TableError(
            f"The heterogeneity of a replica must lie in [0, {MAX_HETEROGENEITY:g}], not {wanted:g}; "
            f"leave it out for the default of {spec.heterogeneity:g}."
        )
    return _cached(name, wanted)
