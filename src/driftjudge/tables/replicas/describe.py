"""What a replica was asked to match, and what it does match."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftjudge.tables.replicas.generator import load_replica
from driftjudge.tables.replicas.marginals import Array
from driftjudge.tables.replicas.spec import Relation, load_spec


@dataclass(frozen=True)
class Figure:
    """One figure about a judge and the strong judge, on one rubric of a replica."""

    rubric: str
    judge: str

    figure: str
    """"shift", "corr", "agree" or "slope", as in `Relation`."""

    target: float
    achieved: float

    source: str
    """Where the target comes from: "published" or "assumed"."""

    @property
    def error(self) -> float:
        """achieved - target."""
        return self.achieved - self.target


def _achieved(strong: Array, other: Array) -> Relation:
    deviation = strong.std() / other.std()
    corr = float(np.corrcoef(strong, other)[0, 1])
    return Relation(
        shift=float(np.mean(other - strong)),
        corr=corr,
        agree=float(np.mean(other == strong)),
        slope=corr * float(deviation),
        source="",
    )


def describe_replica(name: str, *, heterogeneity: float | None = None) -> tuple[Figure, ...]:
    """Target and achieved value of every figure in the spec that the replica was drawn to match.

    >>> worst = max(describe_replica("helpsteer2"), key=lambda figure: abs(figure.error) * (figure.figure == "shift"))
    >>> abs(worst.error) < 0.002
    True
    """
    spec = load_spec(name)
    table = load_replica(name, heterogeneity=heterogeneity)
    figures = []
    for r, (rubric, rubric_spec) in enumerate(spec.rubrics.items()):
        for judge, relation in rubric_spec.relations.items():
            achieved = _achieved(table.judge("strong")[:, r], table.judge(judge)[:, r])
            for figure in ("shift", "corr", "agree", "slope"):
                target = getattr(relation, figure)
                if target is not None:
                    figures.append(Figure(rubric, judge, figure, target, getattr(achieved, figure), relation.source))
    return tuple(figures)
