"""The figures as tables: ratios first, seconds second."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from benchmarks import growth
from benchmarks.growth import Decade, Growth
from benchmarks.machine import Machine
from benchmarks.speed import Result, Spread
from benchmarks.startup import Startup


def _times(spread: Spread | None) -> str:
    if spread is None:
        return ""
    return f"{_short(spread.median)}x ({_short(spread.low)}-{_short(spread.high)})"


def _short(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _count(value: float) -> str:
    return f"{value / 1e6:.2f}M" if value >= 1e6 else f"{value / 1e3:.1f}k"


def _rate(spread: Spread) -> str:
    return f"{_count(spread.median)} ({_count(spread.low)}-{_count(spread.high)})"


def _seconds(spread: Spread) -> str:
    return f"{spread.median:.2f} s ({spread.low:.2f}-{spread.high:.2f})"


def _decade(decade: Decade) -> str:
    return f"{decade.nanoseconds_per_item:,.0f} ns\n{decade.resident_mib:.0f} MiB\n{decade.snapshot_kib:.0f} KiB"


def _flat(yes: bool, figure: str) -> str:
    return f"{figure} [green]flat[/]" if yes else f"{figure} [red]not flat[/]"


def show_machine(console: Console, machine: Machine) -> None:
    """One line."""
    versions = ", ".join(f"{name} {number}" for name, number in machine.versions.items())
    console.print(f"{machine.cores} cores ({machine.processor}, {machine.system}), {versions}", highlight=False)


def show_speed(console: Console, results: Sequence[Result]) -> None:
    """Who is how fast, then what each of them does."""
    table = Table(title="Items per second on one core: 5 rubrics x 6 strata, median (lowest-highest)")
    table.add_column("contender")
    for column in ("x river", "x plain Python", "items/s", "us/item", "goal"):
        table.add_column(column, justify="right")
    for result in results:
        goal = "" if result.goal is None else f"{_count(result.goal)} " + ("met" if result.goal_met else "MISSED")
        table.add_row(
            result.key,
            _times(result.times_river),
            _times(result.times_plain),
            _rate(result.items_per_second),
            f"{result.microseconds_per_item:.2f}",
            goal,
        )
    console.print(table)
    told: dict[str, list[str]] = {}
    for result in results:
        told.setdefault(result.does, []).append(result.key)
    for does, keys in told.items():
        console.print(f"[bold]{', '.join(keys)}[/]: {does}", highlight=False)
    for result in results:
        if result.alarms:
            console.print(
                f"{result.key} raised {result.alarms} alarms in all repetitions together, though nothing drifts: each "
                "resets one detector, which costs next to nothing.",
                highlight=False,
            )
    share = min(1.0, *(result.share_of_core for result in results))
    console.print(
        f"Rates and goals are per second of processor time; by the clock, they had {share:.0%} of a core or more.",
        highlight=False,
    )


def show_growth(console: Console, found: Sequence[Growth]) -> None:
    """One row per mode and preset, one column per decade."""
    ends = sorted({decade.items for one in found for decade in one.decades})
    table = Table(
        title="As the stream grows: time per item, resident memory, size of a snapshot",
        show_lines=True,
    )
    table.add_column("")
    for end in ends:
        table.add_column(f"to {end:,}", justify="right")
    table.add_column("verdict", justify="right")
    for one in found:
        cells = {d.items: _decade(d) for d in one.decades}
        verdict = (
            _flat(one.time_flat, f"{one.slowest_over_fastest:.2f}x"),
            _flat(one.memory_flat, f"{one.memory_growth_mib:+.1f} MiB"),
            _flat(one.snapshot_flat, f"{one.snapshot_ratio:.2f}x"),
        )
        table.add_row(f"{one.mode}/{one.preset}", *(cells.get(end, "") for end in ends), "\n".join(verdict))
    console.print(table)
    console.print(
        f"Flat, from {growth.FIRST:,} items to the end: the slowest decade at most {growth.MOST_SLOWER}x the fastest, "
        f"at most {growth.MOST_GROWTH:g} MiB more resident, a snapshot at most {growth.MOST_SNAPSHOT}x as large.",
        highlight=False,
    )


def show_startup(console: Console, startup: Startup) -> None:
    """What is paid once."""
    table = Table(title="Paid once, in a fresh process: wall seconds, median (lowest-highest)")
    table.add_column("")
    table.add_column("", justify="right")
    table.add_row("import driftjudge", _seconds(startup.import_driftjudge))
    table.add_row("from driftjudge import Monitor", _seconds(startup.import_monitor))
    table.add_row("  of which numba with numpy", _seconds(startup.import_numba))
    table.add_row("  of which numpy", _seconds(startup.import_numpy))
    table.add_row("first items, empty kernel cache", _seconds(startup.first_items_cold))
    table.add_row("first items, kernels cached", _seconds(startup.first_items_warm))
    table.add_row("compilation", f"{startup.compile_seconds:.2f} s")
    table.add_row("kernel cache on disk", f"{startup.cache_mib:.1f} MiB")
    console.print(table)
