"""`driftjudge run`: watch a stream with real judges."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftjudge.cli.anchors import AS_JSON, PROJECT

if TYPE_CHECKING:
    from driftjudge.project.road import Watched


def run(
    items: Annotated[
        str, typer.Argument(help="A file of items, a folder of .jsonl files, or - for JSON lines on standard input.")
    ] = "-",
    project: Annotated[Path, PROJECT] = Path(),
    follow: Annotated[
        bool, typer.Option("--follow", help="Keep watching a file or folder that is appended to.")
    ] = False,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Go on after a final verdict instead of stopping there.")
    ] = False,
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Watch a stream and say who drifted. Killed, it goes on where it stopped.

    Exit code 0: none, 3: system, 4: judge, 5: nobody can say.
    """
    from driftjudge.cli.meter import BarMeter
    from driftjudge.cli.replay import EXIT_CODES
    from driftjudge.project.config import load_config
    from driftjudge.project.feeds import open_feed
    from driftjudge.project.road import run as watch

    config = load_config(project)
    feed = open_feed(items, sys.stdin, follow=follow)
    with BarMeter(quiet=as_json) as meter:
        found = watch(
            config,
            feed,
            meter,
            on_change=lambda verdict: meter.say(f"{verdict.kind}: {verdict.explain()}"),
            on_note=meter.say,
            patient=follow,
            keep_going=keep_going,
        )
    _tell(found, as_json=as_json)
    raise typer.Exit(EXIT_CODES[found.verdict.kind])


def _tell(found: Watched, *, as_json: bool) -> None:
    verdict, cost, outcome = found.verdict, found.cost, found.outcome
    if as_json:
        body = {
            "verdict": verdict.kind,
            "status": verdict.status,
            "explanation": verdict.explain(),
            "system_alarm_at": verdict.system_alarm_at,
            "judge_alarm_at": verdict.judge_alarm_at,
            "epoch": verdict.epoch,
            "items": cost.items,
            "new_items": outcome.observed,
            "known_items": outcome.known,
            "left_out": outcome.left_out,
            "strong_calls": cost.strong_calls,
            "anchor_calls": cost.anchor_calls,
            "strong_unscored": cost.strong_unscored,
            "pending": found.pending,
            "cost_fraction": cost.fraction,
            "calls": found.spent.calls,
            "dollars": found.spent.dollars,
            "judge_changed": list(found.changed),
            "promise": verdict.promise,
        }
        typer.echo(json.dumps(body))
        return
    from rich.console import Console

    from driftjudge.cli.live import verdict_text
    from driftjudge.project.bench import told_spending

    console = Console()
    console.print(verdict_text(verdict))
    counts = f"{outcome.observed:,} new items, {cost.items:,} watched in all"
    if outcome.known:
        counts += f"; {outcome.known:,} were known already"
    if outcome.left_out:
        counts += f"; {outcome.left_out:,} left out"
    console.print(
        f"{counts}. {cost.strong_calls:,} strong calls, {cost.anchor_calls:,} anchor re-scores. Spent by this project "
        f"so far: {told_spending(found.spent)}.",
        highlight=False,
        soft_wrap=True,
    )
    if found.pending:
        console.print(f"{found.pending:,} answers are still to come; run again to ask for them.", highlight=False)
    if verdict.kind == "judge":
        console.print("To accept the judge as it is now: driftjudge reanchor", highlight=False)
    elif verdict.kind != "none" and verdict.status == "final":
        console.print("To go on against the same bars: driftjudge acknowledge", highlight=False)
