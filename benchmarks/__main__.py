"""`python -m benchmarks`: measure, print tables, and with --json keep the figures."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks import growth, show, speed
from benchmarks.growth import measure_growth
from benchmarks.machine import this_machine
from benchmarks.speed import measure_speed
from benchmarks.startup import measure_startup

PEERS = ("river", "psutil")
WIDTH = 132

Section = tuple[dict[str, Any], list[str]]
"""Figures, and which goals they miss."""


def _arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="about 20 seconds instead of some minutes; rougher figures"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    parser.add_argument(
        "--only", choices=list(SECTIONS), action="append", help="measure this section only (may be repeated)"
    )
    arguments = parser.parse_args(given)
    if missing := [peer for peer in PEERS if find_spec(peer) is None]:
        parser.error(
            f"{' and '.join(missing)} not installed; run `make bench`, which installs what is measured beside us"
        )
    if arguments.json and not arguments.json.absolute().parent.is_dir():
        parser.error(f"no folder to write {arguments.json} into; create it first")
    return arguments


def _speed(console: Console, quick: bool, tell: Callable[[str], None]) -> Section:
    results = measure_speed(speed.QUICK if quick else speed.FULL, tell)
    show.show_speed(console, results)
    missed = [f"{result.key} is slower than its goal" for result in results if result.goal_met is False]
    return {result.key: asdict(result) for result in results}, missed


def _growth(console: Console, quick: bool, tell: Callable[[str], None]) -> Section:
    found = measure_growth(growth.QUICK if quick else growth.FULL, tell)
    show.show_growth(console, found)
    uneven = [one for one in found if not (one.time_flat and one.memory_flat and one.snapshot_flat)]
    missed = [f"{one.mode}/{one.preset} is not flat" for one in uneven]
    return {f"{one.mode}/{one.preset}": asdict(one) for one in found}, missed


def _startup(console: Console, quick: bool, tell: Callable[[str], None]) -> Section:
    startup = measure_startup(imports=1 if quick else 7, compilations=1 if quick else 3, tell=tell)
    show.show_startup(console, startup)
    return {**asdict(startup), "compile_seconds": startup.compile_seconds}, []


SECTIONS: dict[str, Callable[[Console, bool, Callable[[str], None]], Section]] = {
    "speed": _speed,
    "growth": _growth,
    "startup": _startup,
}


def main(given: list[str]) -> int:
    """Measure what was asked for. A missed goal is told, not punished: the machine may be busy or slow."""
    arguments = _arguments(given)
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    machine = this_machine()
    show.show_machine(console, machine)
    figures: dict[str, Any] = {"quick": arguments.quick, "machine": asdict(machine)}
    missed: list[str] = []
    with console.status("") as status:
        for name in arguments.only or SECTIONS:
            figures[name], more = SECTIONS[name](console, arguments.quick, status.update)
            missed += more
    figures["missed"] = missed
    console.print("Missed: " + "; ".join(missed) + "." if missed else "No goal missed.")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
