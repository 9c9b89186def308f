"""`driftjudge anchors`: human labels in, a frozen anchor set out."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from driftjudge.project.anchor_check import AnchorCheck

anchors = typer.Typer(help="The frozen items with human labels that the judge is held against.", no_args_is_help=True)

PROJECT = typer.Option("--project", "-C", help="Folder with driftjudge.toml.")
AS_JSON = typer.Option("--json", help="Print one JSON object and nothing else.")


@anchors.command("add")
def add(
    labels: Annotated[
        Path, typer.Argument(help="Human labels (.csv, .jsonl, .parquet): id, a column per rubric, perhaps rater.")
    ],
    items: Annotated[Path | None, typer.Option(help="The items, by id, where the labels come without texts.")] = None,
    project: Annotated[Path, PROJECT] = Path(),
) -> None:
    """Add labelled items; a second rater's labels of the same items show how noisy labels are."""
    from driftjudge.project.anchor_file import is_frozen, lock_path, read_anchors, write_anchors
    from driftjudge.project.config import load_config
    from driftjudge.project.errors import ProjectError
    from driftjudge.project.labels import read_labels

    config = load_config(project)
    path, rubrics, scale = config.anchors_file, config.rubric_names, config.score_range
    if is_frozen(path):
        raise ProjectError(
            f"the anchors are frozen, so that every score can be compared with them; to start with another set delete "
            f"{lock_path(path).name}, freeze again and calibrate anew"
        )
    before = read_anchors(path, rubrics, scale)
    after = before.with_labels(read_labels(labels, config.items, rubrics, scale, items))
    write_anchors(path, after)
    typer.echo(
        f"{len(after) - len(before)} anchors added, {len(after)} in all, in {path}. Next: driftjudge anchors check"
    )


@anchors.command("check")
def check(project: Annotated[Path, PROJECT] = Path(), as_json: Annotated[bool, AS_JSON] = False) -> None:
    """Look at the labels before anything is paid for: noise, numbers, rubrics that can hardly move."""
    from driftjudge.project.anchor_check import check_anchors
    from driftjudge.project.anchor_file import frozen_anchors, is_frozen, read_anchors
    from driftjudge.project.config import load_config

    config = load_config(project)
    frozen = is_frozen(config.anchors_file)
    read = frozen_anchors if frozen else read_anchors
    found = check_anchors(
        read(config.anchors_file, config.rubric_names, config.score_range), config.monitor, config.calibration.passes
    )
    if as_json:
        typer.echo(json.dumps(plain({**asdict(found), "frozen": frozen})))
    else:
        _show(found, frozen=frozen)


@anchors.command("freeze")
def freeze(project: Annotated[Path, PROJECT] = Path(), as_json: Annotated[bool, AS_JSON] = False) -> None:
    """Freeze the anchors with a hash; from then on an edit is noticed before anything is scored."""
    from driftjudge.project.anchor_check import check_anchors
    from driftjudge.project.anchor_file import freeze as freeze_file
    from driftjudge.project.anchor_file import frozen_anchors, is_frozen, read_anchors
    from driftjudge.project.config import load_config

    config = load_config(project)
    path, rubrics, scale = config.anchors_file, config.rubric_names, config.score_range
    if is_frozen(path):
        made = frozen_anchors(path, rubrics, scale).freeze_hash
    else:
        made = freeze_file(path, read_anchors(path, rubrics, scale))
    found = check_anchors(read_anchors(path, rubrics, scale), config.monitor, config.calibration.passes)
    if as_json:
        typer.echo(json.dumps(plain({"freeze_hash": made, "anchors": found.anchors, "warnings": found.warnings})))
        return
    for warning in found.warnings:
        typer.echo(f"warning: {warning}", err=True)
    typer.echo(f"{found.anchors} anchors frozen: {made[:16]}. Next: driftjudge calibrate")


def plain(value: Any) -> Any:
    """JSON has no NaN: what is not known is null."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _show(found: AnchorCheck, *, frozen: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table(title=f"{found.anchors} anchors, {found.several_raters} with several raters", title_justify="left")
    for name in ("rubric", "mean", "at lowest", "at highest", "raters' kappa", "label noise"):
        table.add_column(name, justify="left" if name == "rubric" else "right")
    for row in found.rubrics:
        table.add_row(
            row.rubric,
            f"{row.mean:.2f}",
            f"{row.at_lowest:.0%}",
            f"{row.at_highest:.0%}",
            *("unknown" if math.isnan(value) else f"{value:.2f}" for value in (row.raters_kappa, row.noise)),
        )
    console.print(table)
    for warning in found.warnings:
        console.print(f"warning: {warning}", highlight=False, soft_wrap=True)
    state = "frozen" if frozen else "not frozen yet"
    console.print(f"{state}: {found.freeze_hash[:16]}", highlight=False)
