"""Bets on a bounded mean: how much wealth to risk on the next observation.

Every process here multiplies its wealth by 1 + lambda d, where d has conditional mean at most 0 under the null and
lambda is fixed before d is known. `cap` keeps the factor at or above 0 whatever the observation turns out to be.
"""

from __future__ import annotations

import math

from driftjudge.stats._jit import kernel
from driftjudge.stats.errors import SupermartingaleError

WEALTH_CEILING = 1e280
"""Wealth is clipped here. Lowering wealth keeps a supermartingale one, and infinity would make NaN of it."""

ROUNDING = 1e-9
"""A factor this little below 0 is rounding at the cap and counts as 0; anything lower is an error."""


@kernel
def cap_below(centre: float) -> float:
    """Largest bet on 'the mean is below `centre`', d = centre - x with x in [0, 1] (appendix A: 1/(1 - q)).

    >>> round(cap_below(0.75), 12)
    4.0
    """
    return 1.0 / (1.0 - centre)


@kernel
def cap_above(centre: float) -> float:
    """Largest bet on 'the mean is above `centre`', d = x - centre with x in [0, 1] (appendix A: 1/q).

    >>> cap_above(0.25)
    4.0
    """
    return 1.0 / centre


@kernel
def plug_in_bet(sum_d: float, sum_d2: float, cap: float) -> float:
    """The paper's bet: mean(d) / mean(d^2) over the past, within [0, cap]; 0 with no past.

    >>> plug_in_bet(0.0, 0.0, 2.0), plug_in_bet(1.0, 4.0, 2.0), plug_in_bet(3.0, 1.0, 2.0), plug_in_bet(-1.0, 4.0, 2.0)
    (0.0, 0.25, 2.0, 0.0)
    """
    if sum_d <= 0.0 or sum_d2 <= 0.0:
        return 0.0
    return min(sum_d / sum_d2, cap)


@kernel
def grow(wealth: float, bet: float, d: float) -> float:
    """Wealth after one observation: W (1 + lambda d), refusing a negative factor.

    >>> grow(2.0, 0.5, 0.2)
    2.2
    """
    factor = 1.0 + bet * d
    if factor < 0.0:
        if factor < -ROUNDING:
            raise SupermartingaleError("a wealth factor fell below 0: the bet exceeds its cap")
        factor = 0.0
    return min(wealth * factor, WEALTH_CEILING)


PRIOR_SHIFT = 30.0
"""By how many observations the prior over change times is moved: mass on the very first ones would be wasted."""


@kernel
def restart_weight(n: float) -> float:
    """Prior mass w_n on 'the change starts at observation n' (statistics page, section 3).

    A tenth on n = 0, because some changes are there from the start; the rest falls like 1 / ((n + c) log^2(n + c)) with
    c = 30, so that the delay grows only with log of the change time. The sum of that sequence over n >= 0 lies below
    the integral of 1/(x log^2 x) from c - 1 on, 1/log(c - 1), so that the whole prior never exceeds 1.

    >>> round(restart_weight(0), 4)
    0.1087
    >>> bool(0.7 < sum(restart_weight(n) for n in range(100_000)) < 1.0)
    True
    """
    log = math.log(n + PRIOR_SHIFT)
    weight = 0.9 * math.log(PRIOR_SHIFT - 1.0) / ((n + PRIOR_SHIFT) * log * log)
    return 0.1 + weight if n == 0.0 else weight
