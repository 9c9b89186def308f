"""`driftjudge reanchor` and `driftjudge acknowledge`: going on after a verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from driftjudge.cli.anchors import AS_JSON, PROJECT


def reanchor(project: Annotated[Path, PROJECT] = Path(), as_json: Annotated[bool, AS_JSON] = False) -> None:
    """Accept the strong judge as it is now: new passes over the anchors, new bars, a new epoch."""
    from driftjudge.cli.calibrate import tell
    from driftjudge.cli.meter import BarMeter
    from driftjudge.project.config import load_config
    from driftjudge.project.road import reanchor as take

    config = load_config(project)
    with BarMeter(quiet=as_json) as meter:
        found = take(config, meter)
    tell(found, as_json=as_json, last="A new epoch begins; go on with: driftjudge run ITEMS")


def acknowledge(project: Annotated[Path, PROJECT] = Path(), as_json: Annotated[bool, AS_JSON] = False) -> None:
    """Take note of a system verdict: the watch goes on in a new epoch, against the same bars."""
    from driftjudge.project.config import load_config
    from driftjudge.project.road import acknowledge as note

    before = note(load_config(project))
    if as_json:
        typer.echo(json.dumps({"acknowledged": before.kind, "epoch": before.epoch + 1}))
        return
    typer.echo(f"Acknowledged: {before.explain()} Epoch {before.epoch + 1} begins, against the same bars.")
