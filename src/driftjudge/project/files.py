"""Small files that are replaced in one step: a kill leaves the old one or the new one, never half of each."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from driftjudge.project.errors import ProjectError


def write_text(path: Path, text: str) -> None:
    """Write beside, make durable, then rename over."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with beside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Replace a file of lines."""
    write_text(path, "".join(line + "\n" for line in lines))


def write_json(path: Path, body: dict[str, Any]) -> None:
    """Replace a JSON file."""
    write_text(path, json.dumps(body, indent=1, ensure_ascii=False) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file."""
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise ProjectError(f"'{path}' is damaged; restore it, or delete it and make it anew") from None
    if not isinstance(body, dict):
        raise ProjectError(f"'{path}' is damaged; restore it, or delete it and make it anew")
    return body
