"""`driftjudge calibrate` and `driftjudge reanchor`: what the judges say when all is well."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftjudge.cli.anchors import AS_JSON, PROJECT, plain

if TYPE_CHECKING:
    from rich.console import Console

    from driftjudge.project.road import Calibrated


def calibrate(
    project: Annotated[Path, PROJECT] = Path(),
    restart: Annotated[
        bool, typer.Option("--restart", help="Ask everything afresh, and begin a new watch on the new baseline.")
    ] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Take the baseline: bars from calibration items, and repeated passes over the anchors. Killed, it can go on."""
    from driftjudge.cli.meter import BarMeter
    from driftjudge.project.config import load_config
    from driftjudge.project.road import calibrate as take

    config = load_config(project)
    with BarMeter(quiet=as_json) as meter:
        found = take(config, meter, restart=restart)
    tell(found, as_json=as_json, last="Next: driftjudge run ITEMS")


def tell(found: Calibrated, *, as_json: bool, last: str) -> None:
    """Show a baseline."""
    record = found.record
    if as_json:
        body = {
            **asdict(record.findings),
            "round": record.round,
            "new": found.new,
            "anchors": len(record.anchors),
            "passes": len(record.anchors.passes),
            "strong_fingerprint": record.strong.fingerprint,
            "cheap_fingerprint": record.cheap.fingerprint if record.cheap is not None else None,
            "calls": found.spent.calls,
            "dollars": found.spent.dollars,
        }
        typer.echo(json.dumps(plain(body)))
        return
    from rich.console import Console

    from driftjudge.project.bench import told_spending

    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    if not found.new:
        console.print("Nothing changed since the baseline was taken; nothing was asked.")
    _show_bars(console, found)
    _show_judge(console, found)
    _show_cheap(console, found)
    for sentence in _sentences(found):
        console.print(sentence, highlight=False, soft_wrap=True)
    console.print(f"Spent by this project so far: {told_spending(found.spent)}. {last}", highlight=False)


def _show_bars(console: Console, found: Calibrated) -> None:
    from rich.table import Table

    table = Table(title="What healthy looks like (scores from 0 to 1)", title_justify="left")
    for name in ("rubric", "stratum", "bar", "error", "alarms below", "items"):
        table.add_column(name, justify="left" if name in ("rubric", "stratum") else "right")
    for bar in found.record.findings.bars:
        null = "not watched" if math.isnan(bar.null) else f"{bar.null:.3f}"
        table.add_row(bar.rubric, bar.stratum, f"{bar.bar:.3f}", f"{bar.error:.3f}", null, str(bar.items))
    console.print(table)


def _show_judge(console: Console, found: Calibrated) -> None:
    from rich.table import Table

    passes = len(found.record.anchors.passes)
    table = Table(
        title=f"The strong judge on {len(found.record.anchors)} anchors, {passes} passes", title_justify="left"
    )
    for name in ("rubric", "kappa", "correlation", "bias", "departs from itself", "repeat deviation"):
        table.add_column(name, justify="left" if name == "rubric" else "right")
    findings = found.record.findings
    for row, noise in zip(findings.agreement, findings.noise, strict=True):
        table.add_row(
            row.rubric,
            number(row.kappa),
            number(row.correlation),
            number(row.bias, sign=True),
            f"{noise.departures:.1%}",
            number(noise.deviation, digits=3),
        )
    console.print(table)


def _show_cheap(console: Console, found: Calibrated) -> None:
    from rich.table import Table

    if not found.record.findings.cheap:
        return
    table = Table(title="The cheap judge beside the strong one", title_justify="left")
    for name in ("rubric", "bias", "correlation", "slope", "held-out error", "corrected", "correction", "items"):
        table.add_column(name, justify="left" if name in ("rubric", "correction") else "right")
    for row in found.record.findings.cheap:
        table.add_row(
            row.rubric,
            number(row.bias, sign=True),
            number(row.correlation),
            number(row.slope),
            number(row.errors["none"], digits=3),
            number(row.errors[row.chosen.shape], digits=3),
            row.chosen.shape,
            str(row.pairs),
        )
    console.print(table)


def _sentences(found: Calibrated) -> list[str]:
    findings = found.record.findings
    lines = []
    if findings.worst:
        worst = ", ".join(
            f"{one.anchor} ({one.rubric}: judge {one.judge:.2f}, human {one.human:.2f})" for one in findings.worst[:5]
        )
        lines.append(f"Farthest from the humans: {worst}.")
    if findings.unscored:
        listed = ", ".join(f"{count} {reason}" for reason, count in findings.unscored.items())
        lines.append(f"Answers without scores: {listed}.")
    lines.extend(f"note: {note}" for note in findings.notes)
    return lines


def number(value: Any, *, digits: int = 2, sign: bool = False) -> str:
    """A figure of a table; what is not known is said to be so."""
    if value is None or math.isnan(value):
        return "unknown"
    return f"{value:+.{digits}f}" if sign else f"{value:.{digits}f}"
