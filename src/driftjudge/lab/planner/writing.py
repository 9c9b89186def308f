"""The plan as a config file that `replay` reads, and whose [monitor] section is that of `run` and `serve` too."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from driftjudge.lab.planner.errors import PlanError
from driftjudge.lab.planner.plan import Plan

HEAD = "# Written by `driftjudge plan`"
"""Marks files that may be written over."""
PLANNED = ("budget", "anchor_every", "burst", "guard")
_ALWAYS = ("preset", "alpha_system", "alpha_judge", "acquisition", "slack", "cheap_price", "strong_price")


def write_plan(plan: Plan, path: Path, sections: Mapping[str, Mapping[str, Any]], command: str) -> Path:
    """Write the config; `sections` are the settings the plan was made with (columns, roles, replay, monitor)."""
    check_free(path)
    try:
        path.write_text(plan_toml(plan, sections, command), encoding="utf-8")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise PlanError(f"cannot write {path} ({reason}); choose a file in a folder you can write to") from error
    return path


def check_free(path: Path) -> None:
    """Refuse to write over a file that somebody else wrote, a project's settings for example."""
    if path.exists() and not path.read_text(encoding="utf-8", errors="replace").startswith(HEAD):
        raise PlanError(f"{path} exists and was not written by plan; name another file and copy its [monitor] section")
    if not path.parent.is_dir():
        raise PlanError(f"cannot write {path}: there is no folder {path.parent}; make it first")


def plan_toml(plan: Plan, sections: Mapping[str, Mapping[str, Any]], command: str) -> str:
    """The text of the file."""
    kind = "replica" if plan.replica else "table"
    promised = "all of the target is promised" if plan.met else "NOT all of the target could be promised"
    lines = [
        f"{HEAD} for the {kind} {plan.table}: {promised}.",
        f"# {command}",
        f"# Running cost {plan.price.fraction:.3f} of asking the strong judge about everything. Collect "
        f"{plan.design.anchors} human labels;",
        f"# for `run`, copy [monitor] to driftjudge.toml and set passes = {plan.design.passes} in its [calibration].",
        *(f"# {finding}" for finding in plan.findings),
    ]
    config = plan.config.to_json()
    given = {key: value for key, value in sections.get("monitor", {}).items() if key not in PLANNED}
    monitor = {**{key: config[key] for key in _ALWAYS}, **given, **{key: config[key] for key in PLANNED}}
    lines += _section("monitor", monitor)
    for name in ("columns", "roles"):
        if sections.get(name):
            lines += _section(name, sections[name])
    replay = {key: value for key, value in sections.get("replay", {}).items() if key != "anchors"}
    anchors = sections.get("replay", {}).get("anchors")
    replay["anchors"] = anchors if isinstance(anchors, str) and not anchors.isdigit() else plan.design.anchors
    lines += _section("replay", replay)
    target = {key: value for key, value in asdict(plan.target).items() if value != ()}
    assumptions = {key: value for key, value in asdict(plan.assumptions).items() if value is not None}
    lines += _section("plan", {**target, **assumptions})
    chosen = {"anchors": plan.design.anchors, "passes": plan.design.passes, "calibration_items": plan.calibration}
    lines += _section("plan.recommended", {**chosen, "cost_fraction": plan.price.fraction, "met": plan.met})
    return "\n".join(lines) + "\n"


def _section(name: str, values: Mapping[str, Any]) -> list[str]:
    return ["", f"[{name}]", *(f"{_key(key)} = {toml_value(value)}" for key, value in values.items())]


def toml_value(value: Any) -> str:
    """A value as TOML; JSON's texts, numbers and truths are TOML's too.

    >>> print(toml_value({"later": 821}), toml_value((0, 4)), toml_value("a\\"b"), toml_value(True))
    { later = 821 } [0, 4] "a\\"b" true
    """
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(key)} = {toml_value(part)}" for key, part in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(toml_value(part) for part in value)}]"
    return json.dumps(str(value) if isinstance(value, Path) else value, ensure_ascii=False)


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    return key if bare else json.dumps(key, ensure_ascii=False)
