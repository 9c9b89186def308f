"""Settings of the service itself: where it listens, where it stores, and the limit on everything it takes in."""

from __future__ import annotations

import difflib
import ipaddress
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from driftjudge.service.errors import ServiceError

ENVIRONMENT = "DRIFTJUDGE_"
"""Settings may come from the environment as DRIFTJUDGE_PORT, DRIFTJUDGE_STORE and so on."""

ADMIN_KEY = "DRIFTJUDGE_ADMIN_KEY"
"""An administrator's key that lives in the environment only: never in a file, never in the store."""

SHORTEST_ADMIN_KEY = 24

HOSTS_OF_THIS_MACHINE = ("localhost", "127.0.0.1", "[::1]", "::1")


class SettingsError(ServiceError):
    """A setting of the service itself that cannot work."""


@dataclass(frozen=True)
class ServiceSettings:
    """What `driftjudge serve` can be told; every limit has a default."""

    host: str = "127.0.0.1"
    port: int = 8321
    store: str = "driftjudge.db"
    """A file for SQLite, or a postgresql:// address."""
    public_url: str = ""
    """Where people reach the page, for the links in alerts; without it, the address it listens on."""
    max_body_bytes: int = 8_000_000
    """Largest request body."""
    max_requests: int = 256
    """Most requests being answered at a time; more are sent away with 429."""
    max_streams: int = 64
    """Most open streams of changes."""
    heartbeat_seconds: float = 15.0
    """A stream says that it is alive at least this often."""
    metrics_monitors: int = 200
    """Most monitors that /metrics shows one by one; the rest are counted together."""
    shutdown_seconds: float = 20.0
    """How long a request may take to finish after the order to stop."""
    log_level: str = "info"

    def __post_init__(self) -> None:
        """Refuse what cannot work, with the name of the setting."""
        for name, lowest, highest in (
            ("port", 0, 65_535),
            ("max_body_bytes", 1_000, 1_000_000_000),
            ("max_requests", 1, 100_000),
            ("max_streams", 1, 100_000),
            ("metrics_monitors", 0, 10_000),
        ):
            _whole(name, getattr(self, name), lowest, highest)
        for name, highest_seconds in (("heartbeat_seconds", 3_600.0), ("shutdown_seconds", 3_600.0)):
            _seconds(name, getattr(self, name), highest_seconds)
        for name in ("host", "store"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise SettingsError(f"{name} is {getattr(self, name)!r}; give a text")
        public: object = self.public_url  # a file may say anything
        if not isinstance(public, str) or not (public == "" or _is_address(public)):
            raise SettingsError(f"public_url is {self.public_url!r}; write for example https://driftjudge.example.org")
        if self.log_level not in ("debug", "info", "warning", "error"):
            raise SettingsError(f"log_level is {self.log_level!r}; choose debug, info, warning or error")

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the service."""
        return is_loopback(self.host)

    def over(self, **given: Any) -> ServiceSettings:
        """These settings with those on top that were given (not None)."""
        return replace(self, **{name: value for name, value in given.items() if value is not None})


def _is_address(url: str) -> bool:
    return urlsplit(url).scheme in ("http", "https") and url.isprintable()


def is_loopback(host: str) -> bool:
    """True for addresses nobody else can reach.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "10.0.0.7", "example.org")]
    [True, True, True, False, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def read_settings(path: Path | None = None, environment: Mapping[str, str] | None = None) -> ServiceSettings:
    """Defaults, then the section [service] of a TOML file, then the environment."""
    found: dict[str, Any] = {}
    if path is not None:
        found.update(_section(path))
    found.update(_from_environment(os.environ if environment is None else environment))
    return ServiceSettings(**found)


def admin_key(environment: Mapping[str, str] | None = None) -> str | None:
    """The administrator's key of the environment, if there is one."""
    key = (os.environ if environment is None else environment).get(ADMIN_KEY)
    if not key:
        return None
    if len(key) < SHORTEST_ADMIN_KEY or not key.isascii() or not key.isprintable() or " " in key:
        raise SettingsError(
            f"{ADMIN_KEY} is too short or holds odd characters; give at least {SHORTEST_ADMIN_KEY} random printable "
            "ones, for example from: openssl rand -hex 32"
        )
    return key


def _section(path: Path) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}; mend it or leave --config out") from error
    section = data.get("service", {})
    if not isinstance(section, dict):
        raise SettingsError(f"{path}: service is {section!r}; write a section [service]")
    for key in section:
        if key not in _known():
            near = difflib.get_close_matches(key, _known(), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known settings: {', '.join(_known())}"
            raise SettingsError(f"{path}: unknown setting {key!r} in [service]; {hint}")
    return dict(section)


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in fields(ServiceSettings):
        text = environment.get(ENVIRONMENT + field.name.upper())
        if text is None:
            continue
        kind: Any = type(field.default)
        try:
            found[field.name] = kind(text)
        except ValueError as error:
            raise SettingsError(f"{ENVIRONMENT}{field.name.upper()} is {text!r}; give a number") from error
    return found


def _known() -> list[str]:
    return [field.name for field in fields(ServiceSettings)]


def _whole(name: str, value: object, lowest: int, highest: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
        raise SettingsError(f"{name} is {value!r}; give a whole number from {lowest} to {highest}")


def _seconds(name: str, value: object, highest: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value <= highest:
        raise SettingsError(f"{name} is {value!r}; give seconds above 0, at most {highest:g}")
