"""The demo through the service: a replica stream over HTTP, a page to watch it on, the verdict at the end."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from driftjudge.lab.scenarios import Staged

RATE = 30.0
"""Items per second when somebody watches: the change comes after ten seconds."""
HURRY = 5_000.0
"""The same when nobody does."""


def show_page(staged: Staged, dataset: str, truth: str, console: Console, headless: bool) -> None:
    """Start the service, print its address and send the stream; without a terminal it is always headless."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from driftjudge.service.client import Client
    from driftjudge.service.showcase import Show, play, running_service
    from driftjudge.tables import load_replica

    headless = headless or not sys.stdin.isatty()
    with running_service() as url, Client(url) as client:
        show = Show(client, "demo", load_replica(dataset), staged)
        with console.status("Creating the monitor, its anchors and its bars"):
            show.set_up()
        console.print(f"The page: {url}/monitors/demo", soft_wrap=True)
        console.print("The stream is a replica: scores drawn to match published figures.", style="dim")
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task("items sent", total=show.length)
            verdict = play(
                show,
                rate=HURRY if headless else RATE,
                on_progress=lambda sent: progress.update(task, completed=sent),
                until_final=headless,
            )
        console.print(f"[bold]{verdict.text}[/bold]", highlight=False)
        console.print(f"What really happened: {truth}.")
        if not headless:
            _stay(console)
    console.print("The same in the terminal: driftjudge demo. Your own scores: driftjudge replay --help", style="dim")


def _stay(console: Console) -> None:
    """Keep the page up until the reader is done with it."""
    console.print("The page stays up: press Ctrl+C to end.")
    try:
        while True:
            time.sleep(1.0)
    except KeyboardInterrupt:
        console.print()
