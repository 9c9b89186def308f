"""`driftjudge replay`: the verdict on scores you already have."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftjudge.cli.demo import Preset

if TYPE_CHECKING:
    from driftjudge.cli.settings import Settings
    from driftjudge.tables import Columns, ScoreTable
    from driftjudge.tables.replay import Replay, Roles

EXIT_CODES = {"none": 0, "system": 3, "judge": 4, "unattributed": 5}

_COLUMNS, _ROLES, _MONITOR = "Columns of the table", "Who is who", "The monitor"


def replay(
    table: Annotated[Path, typer.Argument(help="Scores: .csv, .jsonl or .parquet, in the order of time.")],
    config: Annotated[
        Path | None, typer.Option(help="TOML file with sections monitor, columns, roles, replay.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a self-contained HTML report here.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw the race here (.png, .svg or .html).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    cheap: Annotated[str | None, typer.Option(help="Judge that scored every item.", rich_help_panel=_ROLES)] = None,
    strong: Annotated[str | None, typer.Option(help="Judge that is trusted.", rich_help_panel=_ROLES)] = None,
    human: Annotated[
        str | None, typer.Option(help='Human labels; "" to go without anchors.', rich_help_panel=_ROLES)
    ] = None,
    strong_after: Annotated[
        str | None, typer.Option(help="Judge that silently takes over, to try one out.", rich_help_panel=_ROLES)
    ] = None,
    change_at: Annotated[
        float | None,
        typer.Option(help="Share or position at which it does (default: half-way).", rich_help_panel=_ROLES),
    ] = None,
    passes: Annotated[
        str | None, typer.Option(help="Judges that are repeated time-0 scorings, by comma.", rich_help_panel=_ROLES)
    ] = None,
    rescored: Annotated[
        str | None,
        typer.Option(help="Later re-scorings of the anchors: NAME@POSITION, by comma.", rich_help_panel=_ROLES),
    ] = None,
    id_column: Annotated[str | None, typer.Option(help="Item ids.", rich_help_panel=_COLUMNS)] = None,
    stratum_column: Annotated[str | None, typer.Option(help="Strata.", rich_help_panel=_COLUMNS)] = None,
    rubric_column: Annotated[str | None, typer.Option(help="Rubrics (long tables).", rich_help_panel=_COLUMNS)] = None,
    rubrics: Annotated[str | None, typer.Option(help="Only these rubrics, by comma.", rich_help_panel=_COLUMNS)] = None,
    scale: Annotated[str | None, typer.Option(help="Range of the scores, e.g. 1,5.", rich_help_panel=_COLUMNS)] = None,
    anchors: Annotated[
        str | None, typer.Option(help="How many labelled items to set aside as anchors, or a table of them.")
    ] = None,
    calibration: Annotated[
        float | None, typer.Option(help="Share or number of items, from the front, that show what healthy is.")
    ] = None,
    shuffle: Annotated[bool, typer.Option("--shuffle", help="The table's order is not time.")] = False,
    resample: Annotated[int | None, typer.Option(min=1, help="Draw a stream of this length with replacement.")] = None,
    preset: Annotated[
        Preset | None, typer.Option(help="Ours, or exactly the paper's.", rich_help_panel=_MONITOR)
    ] = None,
    budget: Annotated[
        float | None, typer.Option(help="Share of items to ask the strong judge about.", rich_help_panel=_MONITOR)
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Error rate, for system and judge each.", rich_help_panel=_MONITOR)
    ] = None,
    anchor_every: Annotated[
        int | None, typer.Option(help="Re-score an anchor at every so many items.", rich_help_panel=_MONITOR)
    ] = None,
    guard: Annotated[int | None, typer.Option(help="Guard in items.", rich_help_panel=_MONITOR)] = None,
    burst: Annotated[
        int | None, typer.Option(help="Anchors to re-score at a system alarm.", rich_help_panel=_MONITOR)
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Keys every coin and choice.", rich_help_panel=_MONITOR)] = None,
) -> None:
    """Find out from a table of scores who drifted. Exit code 0: none, 3: system, 4: judge, 5: nobody can say."""
    from driftjudge.cli.settings import read_settings

    roles: dict[str, Any] = {
        "cheap": cheap,
        "strong": strong,
        "human": human,
        "strong_after": strong_after,
        "passes": passes,
        "rescored": rescored,
    }
    columns = {"id": id_column, "stratum": stratum_column, "rubric": rubric_column, "rubrics": rubrics}
    monitor = {
        "preset": preset.value if preset else None,
        "budget": budget,
        "alpha_system": alpha,
        "alpha_judge": alpha,
        "anchor_every": anchor_every,
        "guard": guard,
        "burst": burst,
        "seed": seed,
    }
    run = {"anchors": anchors, "calibration": calibration, "change_at": change_at, "resample": resample}
    settings = read_settings(config).over(
        roles=roles,
        columns={**columns, "scale": scale},
        monitor=monitor,
        replay={**run, "shuffle": shuffle or None},
    )
    result = _run(table, settings, quiet=as_json)
    _tell(result, report, picture, as_json=as_json)
    raise typer.Exit(EXIT_CODES[result.verdict.kind])


def _run(path: Path, settings: Settings, *, quiet: bool) -> Replay:
    from rich.console import Console
    from rich.progress import Progress

    from driftjudge.monitor.trace import POINTS
    from driftjudge.tables import ScoreTable
    from driftjudge.tables.replay import replay as replay_table

    roles, columns = settings.table_roles(), settings.table_columns()
    options = _options(settings, columns, roles)
    stream_judges = [roles.cheap, roles.strong, roles.strong_after]
    own = [] if isinstance(options.get("anchors"), ScoreTable) else [roles.human, *roles.passes, *roles.rescored]
    table = _read(path, columns, [*stream_judges, *own])
    config, console = settings.config(table), Console(stderr=True)
    with Progress(console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
        task = progress.add_task("replaying", total=POINTS)
        return replay_table(table, config, roles=roles, on_progress=lambda _: progress.advance(task), **options)


def _read(path: Path, columns: Columns, wanted: list[str | None]) -> ScoreTable:
    """The table, with the named judges; with what its columns suggest where only the usual names are wanted."""
    from driftjudge.tables import read_table

    if columns.judges is None and not set(wanted) <= {"cheap", "strong", "human", None}:
        columns = replace(columns, judges={name: name for name in wanted if name})
    return read_table(path, columns)


def _options(settings: Settings, columns: Columns, roles: Roles) -> dict[str, Any]:
    from driftjudge.monitor.errors import ConfigError

    options = dict(settings.replay)
    known = ("anchors", "calibration", "change_at", "resample", "shuffle", "low_bars")
    for key in options:
        if key not in known:
            raise ConfigError(f"unknown setting {key!r} in [replay]; known settings: {', '.join(known)}")
    for key, wanted in (("calibration", (int, float)), ("change_at", (int, float)), ("resample", (int,))):
        if key in options and (isinstance(options[key], bool) or not isinstance(options[key], wanted)):
            raise ConfigError(f"{key} in [replay] is {options[key]!r}; give a number")
    anchors = options.get("anchors")
    if isinstance(anchors, str) and anchors.lstrip("-").isdigit():
        options["anchors"] = int(anchors)
    elif isinstance(anchors, str):
        strong = [] if roles.passes else [roles.strong]
        options["anchors"] = _read(Path(anchors), columns, [roles.human, *strong, *roles.passes, *roles.rescored])
    return options


def _tell(result: Replay, report: Path | None, picture: Path | None, *, as_json: bool) -> None:
    from rich.console import Console

    from driftjudge.cli.live import verdict_text

    command = "driftjudge " + shlex.join(sys.argv[1:])
    if report is not None:
        from driftjudge.report import write_report

        write_report(
            report,
            title="Who drifted?",
            table_name=result.table,
            replica=result.replica,
            evidence=result.evidence,
            trace=result.trace,
            change_at=result.change_at,
            command=command,
        )
    if picture is not None:
        from driftjudge.report import race_chart, save_picture

        save_picture(race_chart(result.trace, result.evidence, change_at=result.change_at, title=result.table), picture)
    if as_json:
        typer.echo(json.dumps(result.to_json()))
        return
    console, cost = Console(), result.evidence.cost
    console.print(verdict_text(result.verdict))
    for who, position in (("system", result.verdict.system_alarm_at), ("judge", result.verdict.judge_alarm_at)):
        if position is not None:
            console.print(f"The {who} alarm rose at watched item {position:,}: id {result.id_at(position)!r}.")
    anchors, healthy, watched = result.split
    console.print(f"{anchors:,} anchors, {healthy:,} items to calibrate on, {watched:,} items watched, in that order.")
    console.print(
        f"{cost.items:,} items, {cost.strong_calls:,} strong calls, {cost.anchor_calls:,} anchor re-scores: "
        f"{cost.fraction:.2f} of the cost of asking the strong judge about everything, if a cheap call costs "
        f"{result.evidence.config.cheap_price / result.evidence.config.strong_price:.3g} of a strong one."
    )
    if cost.strong_calls == 0:
        console.print("No strong call was made on so few items, so this says nothing; watch more.", style="bold")
    if cost.strong_unscored:
        console.print(f"{cost.strong_unscored:,} strong calls lack a score and count as the best one.")
    if not result.verdict.judge_watched:
        console.print(result.evidence.assumptions[-1])
    for made in (report, picture):
        if made is not None:
            console.print(f"Written: {made}")
