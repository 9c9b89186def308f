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

SECTIONS = ("monitor", "columns", "roles", "replay")


@dataclass(frozen=True)
class Settings:
    """The four sections of a config file, each as given."""

    monitor: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, Any] = field(default_factory=dict)
    roles: dict[str, Any] = field(default_factory=dict)
    replay: dict[str, Any] = field(default_factory=dict)

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
        columns: Columns = _made(Columns, "columns", _tuples(self.columns))
        return columns

    def table_roles(self) -> Roles:
        """Who plays which part."""
        roles = _tuples(self.roles)
        if roles.get("human") == "":
            roles["human"] = None
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


def _made(kind: type[Any], section: str, values: dict[str, Any]) -> Any:
    known = list(kind.__dataclass_fields__)
    unknown = [key for key in values if key not in known]
    if unknown:
        raise ConfigError(f"unknown setting {unknown[0]!r} in [{section}]; known settings: {', '.join(known)}")
    return kind(**values)
