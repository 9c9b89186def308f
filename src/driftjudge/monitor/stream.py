"""Whole streams at once: the Monitor's own kernels in a compiled loop, for tables, replays and simulations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftjudge.monitor import clock as ck
from driftjudge.monitor.acquisition import RECENT_EVIDENCE
from driftjudge.monitor.anchor_process import AnchorProcess, anchor_step
from driftjudge.monitor.clock import note_anchor, note_main
from driftjudge.monitor.correction import COUNT, Correction, correct_item, take_measure
from driftjudge.monitor.main_process import MainProcess, main_probability, main_step
from driftjudge.stats._jit import kernel


@kernel
def run_stream(
    main: MainProcess,
    anchors: AnchorProcess,
    clock: NDArray[np.int64],
    every: int,
    burst: int,
    strata: NDArray[np.int64],
    cheap: NDArray[np.float64],
    strong: NDArray[np.float64],
    coins: NDArray[np.float64],
    versions: NDArray[np.int64],
    rescored: NDArray[np.float64],
    draw_coins: NDArray[np.float64],
    repeat_coins: NDArray[np.float64],
    first_draw: int,
    guard: int = 0,
    measure: int = 0,
) -> int:
    """Run items until the end or just past the next first alarm, all results coming at once; return how many.

    `rescored` is versions x repeats x kept anchors x R: what each version of the judge answers on each anchor, one
    of its repeats chosen by coin. `draw_coins` and `repeat_coins` start at draw number `first_draw`. The order within
    a position is that of a caller who records what `observe` asks for before the next item: the scheduled draw is
    issued, the item is applied, then the draws are applied in order. With `measure`, draws may be left to be run with
    `run_measures` after a judge alarm.
    """
    for i in range(len(strata)):
        clock[ck.POSITION] += 1
        position = clock[ck.POSITION]
        mu, y = cheap[i], strong[i]
        pi = main_probability(main, strata[i], mu)
        asked = coins[i] < pi
        if every > 0 and position % every == 0:
            clock[ck.DRAWN] += 1
        _count_calls(clock, mu, y, asked)
        evalue = main_step(main, strata[i], mu, asked, pi, y)
        alarm = note_main(clock, position, evalue, main.threshold, burst, guard, every)
        while clock[ck.CLOSED] < clock[ck.DRAWN]:
            draw = clock[ck.CLOSED] - first_draw
            anchor = int(draw_coins[draw] * rescored.shape[2])
            repeat = int(repeat_coins[draw] * rescored.shape[1])
            scores = rescored[versions[i], repeat, anchor]
            if _any_unscored(scores):
                clock[ck.ANCHOR_UNSCORED] += 1
            evalue = anchor_step(anchors, anchor, scores)
            if note_anchor(clock, position, evalue, anchors.threshold, measure):
                return i + 1
        if alarm:
            return i + 1
    return len(strata)


@kernel
def run_measures(
    anchors: AnchorProcess,
    correction: Correction,
    clock: NDArray[np.int64],
    answers: NDArray[np.float64],
    draw_coins: NDArray[np.float64],
    repeat_coins: NDArray[np.float64],
    first_draw: int,
    until: int = -1,
) -> None:
    """Apply the draws that are open after a judge alarm, or until so many were measured.

    `answers` are those of the version in force, repeat by repeat.
    """
    while clock[ck.CLOSED] < clock[ck.DRAWN] and correction.progress[COUNT] != until:
        draw = clock[ck.CLOSED] - first_draw
        anchor = int(draw_coins[draw] * answers.shape[1])
        scores = answers[int(repeat_coins[draw] * answers.shape[0]), anchor]
        if _any_unscored(scores):
            clock[ck.ANCHOR_UNSCORED] += 1
        note_anchor(clock, clock[ck.POSITION], anchor_step(anchors, anchor, scores), anchors.threshold)
        take_measure(correction, anchor, scores)


@kernel
def run_corrected_stream(
    main: MainProcess,
    anchors: AnchorProcess,
    correction: Correction,
    corrected: MainProcess,
    clock: NDArray[np.int64],
    every: int,
    burst: int,
    strata: NDArray[np.int64],
    cheap: NDArray[np.float64],
    strong: NDArray[np.float64],
    coins: NDArray[np.float64],
    versions: NDArray[np.int64],
    rescored: NDArray[np.float64],
    draw_coins: NDArray[np.float64],
    repeat_coins: NDArray[np.float64],
    first_draw: int,
    guard: int,
) -> int:
    """`run_stream` after a judge alarm: the system is tested against lowered bars beside the main family.

    Evidence against bars that belong to the old judge earns no labels any more; that against lowered ones does.
    """
    asking = corrected if main.acquisition == RECENT_EVIDENCE else main
    for i in range(len(strata)):
        clock[ck.POSITION] += 1
        position = clock[ck.POSITION]
        t, mu, y = strata[i], cheap[i], strong[i]
        pi = main_probability(asking, t, mu)
        asked = coins[i] < pi
        if every > 0 and position % every == 0:
            clock[ck.DRAWN] += 1
        _count_calls(clock, mu, y, asked)
        evalue = main_step(main, t, mu, asked, pi, y)
        alarm = note_main(clock, position, evalue, main.threshold, burst, guard, every)
        alarm |= correct_item(correction, corrected, position, t, mu, asked, pi, y)
        run_measures(anchors, correction, clock, rescored[versions[i]], draw_coins, repeat_coins, first_draw)
        if alarm:
            return i + 1
    return len(strata)


@kernel
def _any_unscored(scores: NDArray[np.float64]) -> bool:
    unscored = False
    for score in scores:
        unscored |= math.isnan(score)
    return unscored


@kernel
def _count_calls(
    clock: NDArray[np.int64], cheap: NDArray[np.float64], strong: NDArray[np.float64], asked: bool
) -> None:
    if _any_unscored(cheap):
        clock[ck.CHEAP_UNSCORED] += 1
    if asked:
        clock[ck.STRONG_CALLS] += 1
        if _any_unscored(strong):
            clock[ck.STRONG_UNSCORED] += 1


APPLIED_QUIETLY, APPLIED_WITH_ALARM, ASKED, WAITS = range(4)
"""What became of an item: applied, applied and the main alarm rose, its label is wanted, or older items come first."""


Fields = tuple[Any, ...]
"""A process as a plain tuple of its fields: unpacking a NamedTuple costs a compiled call a microsecond more."""


@kernel
def take_item(
    fields: Fields,
    asking: Fields,
    clock: NDArray[np.int64],
    burst: int,
    guard: int,
    every: int,
    room: bool,
    t: int,
    cheap: NDArray[np.float64],
    scored: bool,
    coin: float,
    first_in_line: bool,
) -> tuple[int, float]:
    """One item as `observe` sees it: decide whether to ask, and apply it at once where nothing stands in the way.

    `asking` is the process whose evidence decides how readily the strong judge is asked: the main one, until a judge
    alarm makes it the one with lowered bars. Returns the outcome and pi, or (-1 - r, 0) for a score of rubric r outside
    [0, 1]; nothing has changed then. `room` is False when no further draw can be issued.
    """
    main = MainProcess(*fields)
    if scored:
        for r in range(len(cheap)):
            if not 0.0 <= cheap[r] <= 1.0:
                return -1 - r, 0.0
    pi = main_probability(MainProcess(*asking), t, cheap)
    asked = coin < pi
    clock[ck.POSITION] += 1
    if every > 0 and clock[ck.POSITION] % every == 0:
        clock[ck.DRAWN if room else ck.MISSED] += 1
    if not scored:
        clock[ck.CHEAP_UNSCORED] += 1
    if asked:
        clock[ck.STRONG_CALLS] += 1
        return ASKED, pi
    if not first_in_line:
        return WAITS, pi
    evalue = main_step(main, t, cheap, False, pi, cheap)
    if note_main(clock, clock[ck.POSITION], evalue, main.threshold, burst, guard, every):
        return APPLIED_WITH_ALARM, pi
    return APPLIED_QUIETLY, pi


@kernel
def take_label(
    fields: Fields,
    clock: NDArray[np.int64],
    burst: int,
    guard: int,
    every: int,
    position: int,
    t: int,
    cheap: NDArray[np.float64],
    asked: bool,
    pi: float,
    strong: NDArray[np.float64],
) -> bool:
    """Apply an item that had to wait; True when it raises the main alarm."""
    main = MainProcess(*fields)
    evalue = main_step(main, t, cheap, asked, pi, strong)
    return note_main(clock, position, evalue, main.threshold, burst, guard, every)


@kernel
def take_rescore(
    fields: Fields,
    clock: NDArray[np.int64],
    position: int,
    anchor: int,
    scores: NDArray[np.float64],
    measure: int = 0,
) -> bool:
    """Apply one re-score; True when it raises the anchor alarm."""
    anchors = AnchorProcess(*fields)
    evalue = anchor_step(anchors, anchor, scores)
    return note_anchor(clock, position, evalue, anchors.threshold, measure)
