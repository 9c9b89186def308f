"""`driftjudge demo`: a monitored stream on a shipped replica, live in the terminal."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftjudge.cli.demo_page import show_page

if TYPE_CHECKING:
    from driftjudge.lab.scenarios import Staged
    from driftjudge.monitor.evidence import Trace

SECONDS = 4.0
"""How long the live view takes when somebody is looking."""


class Drift(StrEnum):
    """What really happens in the stream."""

    none = "none"
    system = "system"
    judge = "judge"
    both = "both"


class Preset(StrEnum):
    """Which procedure watches."""

    robust = "robust"
    paper = "paper"


class Dataset(StrEnum):
    """Which shipped replica is streamed."""

    helpsteer2 = "helpsteer2"
    tldr = "tldr"


class JudgeChange(StrEnum):
    """How the judge changes."""

    harsh = "harsh"
    lenient = "lenient"
    synthetic = "synthetic"


def demo(
    drift: Annotated[Drift, typer.Option(help="What really happens from item 301 on.")] = Drift.judge,
    preset: Annotated[Preset, typer.Option(help="Procedure: ours, or exactly the paper's.")] = Preset.robust,
    dataset: Annotated[Dataset, typer.Option(help="Replica to stream.")] = Dataset.helpsteer2,
    judge_change: Annotated[
        JudgeChange, typer.Option(help="How the judge changes, if it does: a stricter prompt, a version bump, -0.25.")
    ] = JudgeChange.harsh,
    repeat_noise: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Probability that a score moves one step when the judge is asked again."),
    ] = 0.03,
    seed: Annotated[int, typer.Option(min=0, help="Everything random is drawn from this.")] = 7,
    guard: Annotated[int | None, typer.Option(min=0, help="Guard in items (paper preset); default 300.")] = None,
    picture: Annotated[Path, typer.Option(help="Where the picture of the race goes (.png, .svg or .html).")] = Path(
        "driftjudge-demo.png"
    ),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and nothing else; no picture.")
    ] = False,
    page: Annotated[
        bool, typer.Option("--page", help="Send the stream through the service and watch it on its page.")
    ] = False,
    headless: Annotated[
        bool, typer.Option("--headless", help="With --page: end by itself once the verdict is final.")
    ] = False,
) -> None:
    """Watch a stream drift and see who gets the blame: the system or the judge."""
    from rich.console import Console

    console = Console(stderr=as_json)
    with console.status("Setting up (compiling the statistics takes a few seconds the first time)"):
        staged, title = _stage(drift, preset, dataset, judge_change, repeat_noise, seed, guard)
    if page:
        show_page(staged, dataset.value, _TRUTH[drift].format(at=staged.scenario.change_at + 1), console, headless)
        return
    trace = _watch(staged, title, console, live=console.is_terminal and not as_json)
    if as_json:
        typer.echo(json.dumps(_result(staged, dataset, drift, seed)))
        return
    _conclude(staged, trace, title, drift, picture, console)


def _stage(
    drift: Drift,
    preset: Preset,
    dataset: Dataset,
    judge_change: JudgeChange,
    repeat_noise: float,
    seed: int,
    guard: int | None,
) -> tuple[Staged, str]:
    from driftjudge.lab.scenarios import Scenario, stage
    from driftjudge.monitor import MonitorConfig
    from driftjudge.tables import load_replica

    table = load_replica(dataset.value)
    config = MonitorConfig(rubrics=table.rubrics, strata=table.stratum_names, preset=preset.value, seed=seed)
    if guard is not None:
        config = replace(config, guard=guard)
    scenario = Scenario(condition=drift.value, judge_change=judge_change.value, repeat_noise=repeat_noise)
    return stage(table, config, scenario), f"{table.name}, preset {preset.value}"


def _watch(staged: Staged, title: str, console: object, *, live: bool) -> Trace:
    """Run the stream; with a live view, at a pace the eye can follow."""
    from rich.console import Console
    from rich.live import Live

    from driftjudge.cli.live import live_view
    from driftjudge.monitor.trace import POINTS, traced_run

    assert isinstance(console, Console)
    if not live:
        return traced_run(staged.monitor, staged.block)
    with Live(console=console, refresh_per_second=20, transient=True) as view:

        def show(trace: Trace) -> None:
            view.update(live_view(staged.monitor, trace, len(staged.block), title))
            time.sleep(SECONDS / POINTS)

        return traced_run(staged.monitor, staged.block, on_progress=show)


def _result(staged: Staged, dataset: Dataset, drift: Drift, seed: int) -> dict[str, object]:
    monitor = staged.monitor
    verdict, cost = monitor.verdict, monitor.cost
    return {
        "verdict": verdict.kind,
        "status": verdict.status,
        "truth": drift.value,
        "explanation": verdict.explain(),
        "system_alarm_at": verdict.system_alarm_at,
        "judge_alarm_at": verdict.judge_alarm_at,
        "items": cost.items,
        "strong_calls": cost.strong_calls,
        "anchor_calls": cost.anchor_calls,
        "cost_fraction": cost.fraction,
        "change_at": staged.scenario.change_at + 1 if drift is not Drift.none else None,
        "dataset": dataset.value,
        "replica": True,
        "preset": monitor.config.preset,
        "seed": seed,
        "promise": verdict.promise,
    }


_TRUTH = {
    Drift.none: "nothing changed",
    Drift.system: "the system got worse at item {at}",
    Drift.judge: "the judge changed at item {at}, the system did not",
    Drift.both: "both changed at item {at}, which is reported as judge because its scores cannot be trusted",
}


def _conclude(staged: Staged, trace: Trace, title: str, drift: Drift, picture: Path, console: object) -> None:
    from rich.console import Console

    from driftjudge.cli.live import live_view
    from driftjudge.report import race_chart, save_picture

    assert isinstance(console, Console)
    change = staged.scenario.change_at + 1
    console.print(live_view(staged.monitor, trace, len(staged.block), title))
    console.print(f"What really happened: {_TRUTH[drift].format(at=change)}.")
    chart = race_chart(
        trace,
        staged.monitor.evidence(),
        change_at=change if drift is not Drift.none else None,
        title=f"The race: {title}",
    )
    save_picture(chart, picture)
    console.print(f"The race is drawn in {picture}. The table is a replica: scores drawn to match published figures.")
    if staged.monitor.verdict.status == "pending":
        console.print("The stream ended before the guard closed: the verdict was not final yet.")
    others = ", ".join(other.value for other in Drift if other is not drift)
    console.print(f"Try --drift {others}; then your own scores: driftjudge replay --help", style="dim")
