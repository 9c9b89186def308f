"""`driftjudge plan`: size budget, anchors and guard for the changes you care about and the money you have."""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftjudge.cli.demo import Preset

if TYPE_CHECKING:
    from driftjudge.cli.settings import Settings
    from driftjudge.lab.planner import Assumptions, Plan, Target, World

_TARGET, _LIMITS, _ASSUMED, _ROLES = "What to catch", "Limits", "What is taken for granted", "The table"


def plan(
    source: Annotated[
        str,
        typer.Argument(help="A table of healthy scores (.csv, .jsonl, .parquet), or helpsteer2 or tldr (replicas)."),
    ],
    config: Annotated[
        Path | None, typer.Option(help="TOML file with sections plan, monitor, columns, roles, replay.")
    ] = None,
    write: Annotated[Path | None, typer.Option(help="Write a config file that replay reads.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw the cost menu here (.png, .svg or .html).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    drop: Annotated[
        float | None, typer.Option(help="Drop of a stratum's mean score to catch; 0.1.", rich_help_panel=_TARGET)
    ] = None,
    within: Annotated[
        int | None, typer.Option(help="Items in which to catch it; 1000.", rich_help_panel=_TARGET)
    ] = None,
    judge_shift: Annotated[
        float | None, typer.Option(help="Shift of the judge's mean score to catch; 0.05.", rich_help_panel=_TARGET)
    ] = None,
    judge_within: Annotated[
        int | None, typer.Option(help="Items in which to catch it; 2000.", rich_help_panel=_TARGET)
    ] = None,
    detect: Annotated[
        float | None, typer.Option(help="How surely to catch each; 0.9.", rich_help_panel=_TARGET)
    ] = None,
    exempt: Annotated[
        str | None, typer.Option("--except", help="Strata left out of the target, by comma.", rich_help_panel=_TARGET)
    ] = None,
    spend: Annotated[
        float | None,
        typer.Option(
            help="Running cost at most, over asking the strong judge everything; 0.4.", rich_help_panel=_LIMITS
        ),
    ] = None,
    spill: Annotated[
        float | None,
        typer.Option(help="Share of judge changes charged to the system at most; 0.05.", rich_help_panel=_LIMITS),
    ] = None,
    labels: Annotated[int | None, typer.Option(help="Human labels at most; 200.", rich_help_panel=_LIMITS)] = None,
    cheap_price: Annotated[float | None, typer.Option(help="Dollars per cheap call.", rich_help_panel=_LIMITS)] = None,
    strong_price: Annotated[
        float | None, typer.Option(help="Dollars per strong call.", rich_help_panel=_LIMITS)
    ] = None,
    label_price: Annotated[
        float | None, typer.Option(help="Dollars per human label; 1.", rich_help_panel=_LIMITS)
    ] = None,
    lifetime: Annotated[
        int | None, typer.Option(help="Items over which labels pay off; 100000.", rich_help_panel=_LIMITS)
    ] = None,
    age: Annotated[
        int | None, typer.Option(help="Healthy items before a change; 1000.", rich_help_panel=_ASSUMED)
    ] = None,
    repeat_noise: Annotated[
        float | None,
        typer.Option(help="Chance that the judge, asked again, moves a score; 0.03.", rich_help_panel=_ASSUMED),
    ] = None,
    cheap_sees: Annotated[
        float | None, typer.Option(help="Share of a drop the cheap judge sees; 0: blind.", rich_help_panel=_ASSUMED)
    ] = None,
    one_rubric: Annotated[
        bool, typer.Option("--one-rubric", help="Only the noisiest rubric moves, not all.", rich_help_panel=_ASSUMED)
    ] = False,
    calibration: Annotated[
        int | None, typer.Option(help="Healthy items for the bars; the table's.", rich_help_panel=_ASSUMED)
    ] = None,
    preset: Annotated[Preset | None, typer.Option(help="Ours, or exactly the paper's.")] = None,
    alpha: Annotated[float | None, typer.Option(help="Error rate, for system and judge each.")] = None,
    streams: Annotated[
        int, typer.Option(min=20, max=10_000, help="Fresh streams per promise: more promise more and take longer.")
    ] = 300,
    seed: Annotated[int, typer.Option(min=0, max=1_000_000, help="Everything random is drawn from this.")] = 0,
    cheap: Annotated[str | None, typer.Option(help="Judge that scored every item.", rich_help_panel=_ROLES)] = None,
    strong: Annotated[str | None, typer.Option(help="Judge that is trusted.", rich_help_panel=_ROLES)] = None,
    human: Annotated[str | None, typer.Option(help="Human labels.", rich_help_panel=_ROLES)] = None,
    passes: Annotated[
        str | None, typer.Option(help="Judges that are repeated scorings, by comma.", rich_help_panel=_ROLES)
    ] = None,
    anchors: Annotated[
        str | None, typer.Option(help="A table of labelled items, if they have their own.", rich_help_panel=_ROLES)
    ] = None,
    id_column: Annotated[str | None, typer.Option(help="Item ids.", rich_help_panel=_ROLES)] = None,
    stratum_column: Annotated[str | None, typer.Option(help="Strata.", rich_help_panel=_ROLES)] = None,
    rubric_column: Annotated[str | None, typer.Option(help="Rubrics (long tables).", rich_help_panel=_ROLES)] = None,
    rubrics: Annotated[str | None, typer.Option(help="Only these, by comma.", rich_help_panel=_ROLES)] = None,
    scale: Annotated[str | None, typer.Option(help="Range of the scores, e.g. 1,5.", rich_help_panel=_ROLES)] = None,
) -> None:
    """Find the cheapest monitor that catches what you care about, by simulation on your own scores.

    Exit code 0: everything asked for is promised; 1: not all of it, and what could be had instead is said.
    """
    from driftjudge.cli.settings import read_settings

    target: dict[str, Any] = {
        "drop": drop,
        "within": within,
        "judge_shift": judge_shift,
        "judge_within": judge_within,
        "detect": detect,
        "exempt": exempt,
        "spend": spend,
        "spill": spill,
        "labels": labels,
        "label_price": label_price,
        "lifetime": lifetime,
        "age": age,
        "repeat_noise": repeat_noise,
        "cheap_sees": cheap_sees,
        "one_rubric": one_rubric or None,
        "calibration": calibration,
    }
    columns = {"id": id_column, "stratum": stratum_column, "rubric": rubric_column, "rubrics": rubrics, "scale": scale}
    monitor = {
        "preset": preset.value if preset else None,
        "alpha_system": alpha,
        "alpha_judge": alpha,
        "cheap_price": cheap_price,
        "strong_price": strong_price,
    }
    settings = read_settings(config).over(
        plan=target,
        columns=columns,
        monitor=monitor,
        roles={"cheap": cheap, "strong": strong, "human": human, "passes": passes},
        replay={"anchors": anchors},
    )
    _check_outputs(write, picture)
    made = _made(source, settings, seed, streams, quiet=as_json)
    if write is not None:
        from driftjudge.lab.planner.writing import write_plan

        write_plan(made, write, _sections(settings, write), _command())
    if picture is not None:
        from driftjudge.cli.plan_words import menu_picture

        menu_picture(made, picture)
    if as_json:
        typer.echo(json.dumps(made.to_json()))
    else:
        from rich.console import Console

        from driftjudge.cli.plan_words import tell

        console = Console()
        tell(made, console if console.is_terminal else Console(width=120))
        for path in (write, picture):
            if path is not None:
                console.print(f"Written: {path}")
    raise typer.Exit(0 if made.met else 1)


def _check_outputs(write: Path | None, picture: Path | None) -> None:
    """Refuse what could not be written before half a minute is spent on it."""
    if write is not None:
        from driftjudge.lab.planner.writing import check_free

        check_free(write)
    if picture is not None:
        from driftjudge.report.charts import check_picture

        check_picture(picture)


def _made(source: str, settings: Settings, seed: int, streams: int, *, quiet: bool) -> Plan:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from driftjudge.lab.planner import Effort, make_plan
    from driftjudge.monitor import MonitorConfig

    target, assumptions = _target(settings)
    world = _world(source, settings)
    base = MonitorConfig.from_json({**settings.monitor, "rubrics": world.rubrics, "strata": world.strata})
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
        bar = progress.add_task("setting up", total=None)

        def told(doing: str, done: int, total: int) -> None:
            progress.update(bar, description=doing, completed=done, total=total)

        return make_plan(
            world,
            base,
            target,
            assumptions,
            seed=seed,
            effort=Effort.of(streams),
            workers=os.cpu_count() or 1,
            on_progress=told,
        )


def _target(settings: Settings) -> tuple[Target, Assumptions]:
    """The [plan] section as a target and assumptions; an unknown key is refused by name."""
    import difflib
    from dataclasses import fields

    from driftjudge.cli.settings import _names as names
    from driftjudge.lab.planner import Assumptions, PlanError, Target

    given = {key: value for key, value in settings.plan.items() if key != "recommended"}
    kinds = {field.name: kind for kind in (Target, Assumptions) for field in fields(kind)}
    for key in given:
        if key not in kinds:
            near = difflib.get_close_matches(key, kinds, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known settings: {', '.join(kinds)}"
            raise PlanError(f"unknown setting {key!r} in [plan]; {hint}")
    if "exempt" in given:
        listed = given["exempt"]
        given["exempt"] = names(tuple(listed) if isinstance(listed, list) else listed, "exempt")
    wanted = {key: value for key, value in given.items() if kinds[key] is Target}
    assumed = {key: value for key, value in given.items() if kinds[key] is Assumptions}
    return Target(**wanted), Assumptions(**assumed)


def _world(source: str, settings: Settings) -> World:
    from driftjudge.cli.replay import _options, _read
    from driftjudge.lab.planner import PlanError, world_of
    from driftjudge.lab.setting import table_name
    from driftjudge.tables import REPLICAS, ScoreTable, load_replica

    if source in REPLICAS:
        return world_of(load_replica(source), settings.table_roles())
    if not Path(source).exists():
        raise PlanError(f"unknown table {source!r}; give a file of scores, or a replica: {', '.join(REPLICAS)}")
    roles, columns = settings.table_roles(), settings.table_columns()
    labelled = _options(settings, columns, roles).get("anchors")
    own = labelled if isinstance(labelled, ScoreTable) else None
    judges = [roles.cheap, roles.strong, *([] if own else [roles.human, *roles.passes])]
    table = _read(Path(source), columns, judges)
    for judge in filter(None, judges):
        if judge not in table.scores:
            known = ", ".join(table.judge_names)
            raise PlanError(
                f"{table.name} has no judge {judge!r}; name judges among {known} with --cheap, --strong and --human, "
                f"or a table of labelled items with --anchors"
            )
    return world_of(replace(table, name=table_name(source)), roles, own)


def _sections(settings: Settings, write: Path) -> dict[str, dict[str, Any]]:
    """The settings to write beside the plan; a table of anchors is named from where the file will stand."""
    replay = dict(settings.replay)
    anchors = replay.get("anchors")
    if isinstance(anchors, str) and not anchors.isdigit():
        replay["anchors"] = os.path.relpath(anchors, write.parent)
    return {"monitor": settings.monitor, "columns": settings.columns, "roles": settings.roles, "replay": replay}


def _command() -> str:
    return "driftjudge " + shlex.join(sys.argv[1:])
