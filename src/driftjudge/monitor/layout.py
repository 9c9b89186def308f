"""Which column of a process's state holds what.

State lies in a few wide arrays because a compiled call pays for every array it is handed, and a cell's numbers are
used together. Counts are kept as floats beside the rest: exact up to 2^53.
"""

from __future__ import annotations

from driftjudge.stats.onset import ONSET_WIDTH

BAR, NULL, WEALTH, SUM_D, SUM_D2, SUM_CHEAP, RECENT, ONSET = range(8)
"""Columns of a cell: q0; m (NaN: not watched); its e-value; sums of d, d^2 and the cheap score; the evidence since it
last began anew, which steers the strong judge's budget; when a drop may have begun (`stats/onset.py`); then the
mixture."""

GROWN = ONSET + ONSET_WIDTH
"""Where the mixture of a cell begins."""

SEEN, CASH, POOLED, ESCALATED, ITEMS = range(5)
"""Columns of a stratum: items; prior mass not yet spent; the pool of its cells under the alarm rule; the sum of what
was asked above the floor; in the first row, items of all strata. The anchors' progress has the first two."""

STRATUM_WIDTH = 5

WEIGHT, SIDE, EVALUE, SUM_E, SUM_E2, CENTRE, CAP, WORTH, GROWN_RUNG = range(9)
"""Columns of an anchor statistic: its share in the family, the side it is compared on, its e-value, sums of d and d^2;
then its rungs one after the other, each with what it is compared with, at what largest bet, what its wealth is worth,
and its mixture."""

COMPONENTS = CENTRE
"""Where the rungs of a statistic begin."""
RUNG_HEAD = GROWN_RUNG - CENTRE
"""Numbers of a rung before its mixture."""

KIND, RUBRIC, DIRECTION = range(3)
"""Columns of what an anchor statistic is."""
