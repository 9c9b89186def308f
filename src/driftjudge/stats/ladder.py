"""A ladder of bounds: betting against a null whose edge is only known from a sample, without a share of alpha.

One bound u(delta), exceeded by the true edge with probability at most delta, costs delta of alpha and has to be loose
to be cheap. Several at once cost nothing. With weights w_l that sum to 1,

    worth(c) = sum over l with c > u(delta_l) of w_l / delta_l          (delta_0 = 1: always counted)

has expectation at most 1 over the sample for the true edge c, because each term has expectation at most w_l. For the
wealth E_l of bets against u(delta_{l+1}), which are valid for every edge up to there,

    E = min over l of worth_l E_l,     worth_l = sum over j <= l of w_j / delta_j

lies below worth(c) E_l for the rung on which the true edge stands, whichever that is. So E is an e-process: a near
bound is believed for little evidence, and a far one is called on when the evidence is strong enough to be worth it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftjudge.stats.errors import StatisticsError

STEPS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""-log delta_l, from the bound that is always exceeded down to one that fails in 1 of 22,000 samples."""


@dataclass(frozen=True)
class Rung:
    """One bound, and what evidence against it is worth."""

    centre: float
    """The bound that is bet against."""
    worth: float
    """What its wealth is multiplied by."""


def deltas() -> tuple[float, ...]:
    """The error probabilities of the bounds a ladder needs, nearest first.

    >>> [round(delta, 4) for delta in deltas()[:3]]
    [0.3679, 0.1353, 0.0498]
    """
    return tuple(float(np.exp(-step)) for step in STEPS[1:])


def ladder(bounds: tuple[float, ...], beyond: float) -> tuple[Rung, ...]:
    """The rungs for the bounds u(delta) of `deltas()`; the last one stands at `beyond`, where no bet is possible.

    >>> rungs = ladder((0.1,) * 8, 1.0)
    >>> [round(rung.worth, 3) for rung in rungs[:3]], rungs[-1].centre
    ([0.111, 0.413, 1.234], 1.0)
    """
    if len(bounds) != len(STEPS) - 1:
        raise StatisticsError(f"a ladder has {len(STEPS) - 1} bounds, got {len(bounds)}")
    worths = np.cumsum(np.exp(STEPS)) / len(STEPS)
    return tuple(Rung(centre, float(worth)) for centre, worth in zip((*bounds, beyond), worths, strict=True))
