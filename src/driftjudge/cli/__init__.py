"""The command line: one module per command, nothing heavy imported before a command needs it."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of `driftjudge`: every foreseeable mistake ends in one sentence and exit code 2."""
    try:
        from driftjudge.cli.app import app
    except ImportError as error:
        sys.exit(f'driftjudge: the command line needs {error.name}; install it with: pip install "driftjudge[all]"')
    from driftjudge.cli.failure import one_sentence

    try:
        app()
    except Exception as error:
        sentence = one_sentence(error)
        if sentence is None:
            raise
        print(f"driftjudge: {sentence}", file=sys.stderr)
        sys.exit(2)
