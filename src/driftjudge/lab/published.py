"""The paper's figures, by data set; other tables have none."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Any


@lru_cache(maxsize=1)
def _all() -> dict[str, Any]:
    return tomllib.loads(files("driftjudge.lab").joinpath("published.toml").read_text(encoding="utf-8"))


def published(dataset: str, *path: str) -> Any:
    """The figure at `path`, or None where the paper gives none.

    >>> published("helpsteer2", "confusion", "matched", "system")
    '17/41/2'
    >>> published("helpsteer2", "confusion", "nonsense") is None
    True
    """
    found: Any = _all().get(dataset)
    for step in path:
        found = found.get(step) if isinstance(found, dict) else None
    return found
