"""`driftjudge judge`: scores for a file of items."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from driftjudge.cli.anchors import AS_JSON, PROJECT


def judge(
    items: Annotated[Path, typer.Argument(help="Items (.jsonl, .csv, .parquet) with the columns of [items].")],
    who: Annotated[str, typer.Option("--judge", help="strong or cheap.")] = "strong",
    out: Annotated[Path, typer.Option(help="The table to write; one that is there already gets another judge.")] = Path(
        "scores.csv"
    ),
    project: Annotated[Path, PROJECT] = Path(),
    as_json: Annotated[bool, AS_JSON] = False,
) -> None:
    """Score a file of items into a table for `driftjudge replay`. Killed, it can go on and pays for nothing twice."""
    from driftjudge.cli.meter import BarMeter
    from driftjudge.project.bench import told_spending
    from driftjudge.project.config import load_config
    from driftjudge.project.road import judge_file

    config = load_config(project)
    with BarMeter(quiet=as_json) as meter:
        found = judge_file(config, items, who, out, meter)
    if as_json:
        body = {
            "out": str(out),
            "judge": who,
            "items": len(found.table),
            "scored": found.scored,
            "unscored": found.unscored,
            "calls": found.spent.calls,
            "dollars": found.spent.dollars,
        }
        typer.echo(json.dumps(body))
        return
    lacking = ", ".join(f"{count} {reason}" for reason, count in found.unscored.items())
    typer.echo(
        f"{found.scored:,} of {len(found.table):,} items scored by the {who} judge into {out}"
        + (f" (unscored: {lacking})" if lacking else "")
        + f". Spent by this project so far: {told_spending(found.spent)}."
    )
