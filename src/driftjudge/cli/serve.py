"""`driftjudge serve`: the service with its page, on an embedded store by default."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on (127.0.0.1); others need an API key first.")
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port (8321); 0 takes any free one.")] = None,
    store: Annotated[
        str | None, typer.Option(help="A file for SQLite (driftjudge.db), or a postgresql:// address.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file with the sections service and alerts.")] = None,
    log_level: Annotated[str | None, typer.Option(help="debug, info, warning or error; JSON lines on stderr.")] = None,
) -> None:
    """Start the service: HTTP API, page, judge workers and alerts in one process. Stop it with Ctrl+C."""
    from driftjudge.service.serving import read_alert_section
    from driftjudge.service.serving import serve as run
    from driftjudge.service.settings import read_settings

    settings = read_settings(config).over(host=host, port=port, store=store, log_level=log_level)
    run(settings, alerts=read_alert_section(config), announce=lambda line: typer.echo(line))
