"""Settings of a replay from a TOML file and from flags; a flag wins."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.errors import ConfigError
from driftjudge.tables import Columns, ScoreTable
from driftjudge.tables.replay import Roles

SECTIONS = ("monitor", "columns", "roles", "replay", "plan")


@dataclass(frozen=True)
class Settings:
    """The sections of a config file, each as given."""

    monitor: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, Any] = field(default_factory=dict)
    roles: dict[str, Any] = field(default_factory=dict)
    replay: dict[str, Any] = field(default_factory=dict)
    plan: dict[str, Any] = field(default_factory=dict)
    """The target a plan was made for; only `plan` reads it."""

    def over(self, **flags: dict[str, Any]) -> Settings:
        """These settings with the flags that were given on top."""
        merged = {
            name: {**getattr(self, name), **{k: v for k, v in flags.get(name, {}).items() if v is not None}}
            for name in SECTIONS
        }
        return Settings(**merged)

    def config(self, table: ScoreTable) -> MonitorConfig:
        """The monitor's config; rubrics and strata come from the table unless they are given."""
        return MonitorConfig.from_json({"rubrics": table.rubrics, "strata": table.stratum_names, **self.monitor})

    def table_columns(self) -> Columns:
        """How to read the table."""
        values = _tuples(self.columns)
        if "scale" in values:
            values["scale"] = _scale(values["scale"])
        if "rubrics" in values:
            values["rubrics"] = _names(values["rubrics"], "rubrics")
        columns: Columns = _made(Columns, "columns", values)
        return columns

    def table_roles(self) -> Roles:
        """Who plays which part."""
        roles = _tuples(self.roles)
        if roles.get("human") == "":
            roles["human"] = None
        if "passes" in roles:
            roles["passes"] = _names(roles["passes"], "passes")
        if "rescored" in roles:
            roles["rescored"] = _rescored(roles["rescored"])
        for key in ("cheap", "strong", "human", "strong_after"):
            if roles.get(key) is not None and not isinstance(roles[key], str):
                raise ConfigError(f"{key} in [roles] is {roles[key]!r}; give the name of a judge")
        made: Roles = _made(Roles, "roles", roles)
        return made


def read_settings(path: Path | None) -> Settings:
    """The settings of a TOML file, or none."""
    if path is None:
        return Settings()
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path} is not a text file; give a TOML file with the sections {', '.join(SECTIONS)}"
        ) from error
    for section, values in data.items():
        if section not in SECTIONS or not isinstance(values, dict):
            raise ConfigError(f"{path} has the unknown section {section!r}; known sections: {', '.join(SECTIONS)}")
    anchors = data.get("replay", {}).get("anchors")
    if isinstance(anchors, str):  # named beside the config, wherever the command is run
        data["replay"]["anchors"] = str(path.parent / anchors)
    return Settings(**data)


def _tuples(values: dict[str, Any]) -> dict[str, Any]:
    """TOML lists as tuples, inside mappings too."""

    def fixed(value: Any) -> Any:
        if isinstance(value, list):
            return tuple(value)
        return {k: fixed(v) for k, v in value.items()} if isinstance(value, dict) else value

    return {key: fixed(value) for key, value in values.items()}


def _names(value: Any, key: str) -> tuple[str, ...]:
    """A list of names, or names separated by commas."""
    if isinstance(value, str):
        value = tuple(name.strip() for name in value.split(",") if name.strip())
    if not isinstance(value, tuple) or not all(isinstance(name, str) for name in value):
        raise ConfigError(f"{key} is {value!r}; give names, separated by commas on the command line")
    return value


def _scale(value: Any) -> Any:
    """A range as two numbers or as text such as 1,5; per rubric where it is a mapping."""
    if isinstance(value, dict):
        return {rubric: _scale(part) for rubric, part in value.items()}
    parts = value.split(",") if isinstance(value, str) else value
    try:
        low, high = (float(part) for part in parts)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"scale is {value!r}; give the lowest and the highest score, for example 1,5") from error
    return low, high


def _rescored(value: Any) -> dict[str, int]:
    """Judges with the position from which each shows the judge in force, as a mapping or as text such as later@500."""
    if isinstance(value, str):
        value = dict(part.rpartition("@")[::2] for part in _names(value, "rescored"))
    found = {}
    for name, position in value.items() if isinstance(value, dict) else (("", ""),):
        if not name or not str(position).isdigit():
            raise ConfigError(f"rescored has {name!r} at {position!r}; give a judge and a position, e.g. week2@601")
        found[name] = int(position)
    return found


def _made(kind: type[Any], section: str, values: dict[str, Any]) -> Any:
    known = list(kind.__dataclass_fields__)
    unknown = [key for key in values if key not in known]
    if unknown:
        raise ConfigError(f"unknown setting {unknown[0]!r} in [{section}]; known settings: {', '.join(known)}")
    return kind(**values)
