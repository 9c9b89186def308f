"""`driftjudge init`: a commented driftjudge.toml to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def init(
    folder: Annotated[Path, typer.Argument(help="Folder of the project; made if need be.")] = Path(),
    strong: Annotated[str | None, typer.Option(help="Model of the judge you trust.")] = None,
    cheap: Annotated[str | None, typer.Option(help="Model of the judge that scores everything.")] = None,
    base_url: Annotated[
        str | None, typer.Option(help="An OpenAI-compatible endpoint, e.g. http://127.0.0.1:8080/v1.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing driftjudge.toml.")] = False,
) -> None:
    """Start a project: write a driftjudge.toml in which every setting is explained."""
    from driftjudge.project.starter import DEFAULT_CHEAP, DEFAULT_STRONG, starter_text, write_starter

    text = starter_text(strong or DEFAULT_STRONG, cheap or DEFAULT_CHEAP, base_url)
    path = write_starter(folder, text, force=force)
    typer.echo(f"Written: {path}. Say in it what is scored and who judges; then: driftjudge anchors add LABELS")
