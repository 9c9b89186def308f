"""Which column of a process's state holds what.

State lies in a few wide arrays because a compiled call pays for every array it is handed, and a cell's numbers are
used together. Counts are kept as floats beside the rest: exact up to 2^53.
"""

from __future__ import annotations

BAR, NULL, WEALTH, SUM_D, SUM_D2, SUM_CHEAP, GROWN = range(7)
"""Columns of a cell: q0; m (NaN: not watched); its e-value; sums of d, d^2 and the cheap score; then the mixture."""

SEEN, CASH, POOLED = range(3)
"""Columns of a stratum: items; prior mass not yet spent; the pool of its cells under the alarm rule."""

CENTRE, SIDE, CAP, EVALUE, SUM_E, SUM_E2, COMPONENTS = range(7)
"""Columns of an anchor statistic: what it is compared with, on which side, at what largest bet; its e-value; sums of
d and d^2; then the mixture."""

KIND, RUBRIC, DIRECTION = range(3)
"""Columns of what an anchor statistic is."""
