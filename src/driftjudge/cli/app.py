"""The commands and their options."""

from __future__ import annotations

import typer

from driftjudge.cli import anchors, calibrate, demo, init, judge, plan, reanchor, replay, reproduce, run, serve

app = typer.Typer(
    name="driftjudge",
    help="Who drifted: the system or the judge? With a stated error rate, however often you look.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.command("replay")(replay.replay)
app.command("reproduce")(reproduce.reproduce)
app.command("plan")(plan.plan)
app.command("init")(init.init)
app.add_typer(anchors.anchors, name="anchors")
app.command("calibrate")(calibrate.calibrate)
app.command("judge")(judge.judge)
app.command("run")(run.run)
app.command("reanchor")(reanchor.reanchor)
app.command("acknowledge")(reanchor.acknowledge)
app.command("serve")(serve.serve)


def _version(wanted: bool) -> None:
    if wanted:
        from driftjudge import __version__

        typer.echo(f"driftjudge {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and leave."
    ),
) -> None:
    """Take the options that stand before a command."""
