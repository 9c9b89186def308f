"""`driftjudge reproduce`: the paper's tables and figures, published figures beside ours, and what lies beyond it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from driftjudge.cli.demo import Preset

if TYPE_CHECKING:
    from driftjudge.lab.exhibits import Exhibit
    from driftjudge.lab.runner import Task, Work

W = TypeVar("W", bound="Work")

_ROLES = "Who is who (for a table of your own)"
_BEYOND = "Beyond the paper"


def reproduce(
    experiments: Annotated[
        list[str] | None, typer.Argument(help="Experiments by name, all, or beyond: robust against paper.")
    ] = None,
    dataset: Annotated[str, typer.Option(help="helpsteer2 or tldr (replicas), both, or the path of a table.")] = "both",
    preset: Annotated[Preset, typer.Option(help="Procedure to run.")] = Preset.paper,
    seeds: Annotated[int, typer.Option(min=2, max=100_000, help="Streams per figure.")] = 60,
    out: Annotated[
        Path | None, typer.Option(help="Write JSON, Markdown and figures here; finished work is kept.")
    ] = None,
    cheap: Annotated[str, typer.Option(help="Judge that scored every item.", rich_help_panel=_ROLES)] = "cheap",
    strong: Annotated[str, typer.Option(help="Judge that is trusted.", rich_help_panel=_ROLES)] = "strong",
    human: Annotated[str, typer.Option(help="Human labels.", rich_help_panel=_ROLES)] = "human",
    after: Annotated[str, typer.Option(help="Judges that take over, by comma.", rich_help_panel=_ROLES)] = "",
    target: Annotated[
        str | None, typer.Option(help="Cell that regresses: RUBRIC:STRATUM.", rich_help_panel=_ROLES)
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of real tables (beyond only).", envvar="DRIFTJUDGE_DATA", rich_help_panel=_BEYOND),
    ] = None,
    page_file: Annotated[
        Path | None,
        typer.Option("--page", help="Write the page here (beyond only).", rich_help_panel=_BEYOND),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Regenerate the paper's exhibits and check its claims. Exit code 0 whether or not claims hold: read them."""
    if experiments and "beyond" in experiments:
        _beyond(experiments, seeds, data, out, page_file, as_json=as_json)
        return
    tasks = _tasks(experiments or ["all"], dataset, preset, seeds, (cheap, strong, human, after, target))
    exhibits = _run(tasks, out, hidden=as_json)
    if out is not None:
        _draw(tasks, exhibits, out)
    _tell(exhibits, out, as_json=as_json)


def _run(tasks: Sequence[W], out: Path | None, *, hidden: bool) -> list[Exhibit]:
    """All of them, with a bar."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from driftjudge.lab.runner import run_tasks

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=hidden or not console.is_terminal) as progress:
        bar = progress.add_task("reproducing", total=len(tasks))

        def done(task: W, _: Exhibit) -> None:
            progress.update(bar, advance=1, description=task.file_stem)

        return run_tasks(tasks, out, on_done=done)


def _beyond(
    experiments: list[str], seeds: int, data: Path | None, out: Path | None, page_file: Path | None, *, as_json: bool
) -> None:
    """`robust` against `paper`: every part on every table at hand, and the page."""
    from driftjudge.lab.beyond.options import BeyondOptions
    from driftjudge.lab.beyond.page import beyond_page, draw_parts
    from driftjudge.lab.beyond.tasks import beyond_tasks
    from driftjudge.tables import TableError

    if experiments != ["beyond"]:
        raise TableError("beyond is not one of the paper's experiments; run it by itself: driftjudge reproduce beyond")
    tasks, missing = beyond_tasks(BeyondOptions(seeds, None if data is None else str(data)))
    exhibits = _run(tasks, out, hidden=as_json)
    if out is not None:
        draw_parts(tasks, exhibits, out)
    if page_file is not None or out is not None:
        target = page_file or out / "why_not_just_the_paper.md"  # type: ignore[operator]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(beyond_page(tasks, exhibits, missing, _figures(target, out)), encoding="utf-8")
    _tell(exhibits, out, as_json=as_json)
    if missing and not as_json:
        typer.echo(f"Skipped, for want of --data: {', '.join(missing)}.")


def _figures(target: Path, out: Path | None) -> str | None:
    """Where the pictures lie, as the page must call it; None where there are none."""
    if out is None:
        return None
    below = os.path.relpath(out, target.parent)
    return "" if below == "." else f"{Path(below).as_posix()}/"


def _tasks(
    names: list[str], dataset: str, preset: Preset, seeds: int, roles: tuple[str, str, str, str, str | None]
) -> list[Task]:
    from driftjudge.lab.experiments import NAMES, Options
    from driftjudge.lab.runner import Task
    from driftjudge.lab.setting import Source
    from driftjudge.tables import REPLICAS, TableError

    cheap, strong, human, after, target = roles
    datasets = list(REPLICAS) if dataset == "both" else [dataset]
    cell: tuple[str, str] | None = None
    if target is not None:
        rubric, _, stratum = target.partition(":")
        if not stratum:
            raise TableError(f"--target is {target!r}; give a rubric and a stratum, for example helpfulness:creative")
        cell = (rubric, stratum)
    sources = []
    for name in datasets:
        if name in REPLICAS:
            sources.append(Source(name, target=cell))
            continue
        if not Path(name).exists():
            raise TableError(f"unknown dataset {name!r}; use {', '.join(REPLICAS)}, both, or the path of a table")
        judges = tuple(part.strip() for part in after.split(",") if part.strip())
        if not judges:
            raise TableError("a table of your own needs a judge change; name the judge that takes over with --after")
        sources.append(Source(name, cheap, strong, human, judges, cell))
    chosen = list(NAMES) if "all" in names else names
    options = Options(seeds=seeds, preset=preset.value)
    return [Task(name, source, options) for source in sources for name in chosen]


def _draw(tasks: list[Task], exhibits: list[Exhibit], out: Path) -> None:
    from driftjudge.lab.experiments import experiment
    from driftjudge.lab.page import page
    from driftjudge.report import save_picture

    for task, exhibit in zip(tasks, exhibits, strict=True):
        picture = out / f"{task.file_stem}.svg"
        chart = experiment(task.name)[1](exhibit)
        if chart is not None:
            save_picture(chart, picture)
    (out / "index.md").write_text(page(tasks, exhibits), encoding="utf-8")


def _tell(exhibits: list[Exhibit], out: Path | None, *, as_json: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    if as_json:
        claims: list[dict[str, Any]] = [
            {"experiment": e.experiment, "dataset": e.dataset, "name": c.name, "holds": c.holds, "figure": c.figure}
            for e in exhibits
            for c in e.claims
        ]
        typer.echo(json.dumps({"claims": claims, "exhibits": [exhibit.to_json() for exhibit in exhibits]}))
        return
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)  # a file has no edge to fold tables at
    for exhibit in exhibits:
        kind = "replica" if exhibit.replica else "real table"
        beside = "" if exhibit.experiment.startswith("beyond") else ", ours (paper's)"
        table = Table(
            title=f"{exhibit.title} [{exhibit.source}]\n{exhibit.dataset} ({kind}){beside}",
            title_justify="left",
        )
        table.add_column("")
        for name in exhibit.columns:
            table.add_column(name, justify="right")
        for row in exhibit.rows:
            cells = [row.entries[name].text() if name in row.entries else "" for name in exhibit.columns]
            table.add_row(row.label, *cells)
        console.print(table)
        for claim in exhibit.claims:
            mark = "[green]holds[/]" if claim.holds else "[bold red]does not hold[/]"
            console.print(f"  {mark}: {claim.name} ({claim.figure})", highlight=False)
        for note in exhibit.notes:
            console.print(f"  note: {note}", highlight=False)
    held = sum(claim.holds for exhibit in exhibits for claim in exhibit.claims)
    total = sum(len(exhibit.claims) for exhibit in exhibits)
    console.print(f"{held} of {total} claims hold." + (f" Written to {out}." if out is not None else ""))
