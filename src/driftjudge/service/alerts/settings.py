"""Sinks and routes from a config file: who is told what, and when. Secrets are named there and live in the environment.

[[alerts.sinks]]
name = "oncall"
kind = "pagerduty"
routing_key_env = "PAGERDUTY_ROUTING_KEY"

[[alerts.routes]]
sinks = ["oncall"]
monitors = ["shop-*"]                     # default: every monitor
subjects = ["system", "judge"]            # default: every verdict and condition
phases = ["attributed", "closed"]         # default: all of an alarm's life
quiet_hours = "22:00-07:00 Europe/Berlin" # default: none
"""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from driftjudge.service.alerts.alert import SEVERITIES, Alert
from driftjudge.service.alerts.errors import AlertSettingsError
from driftjudge.service.alerts.quiet import QuietHours
from driftjudge.service.alerts.sinks.alertmanager import Alertmanager
from driftjudge.service.alerts.sinks.email import Email
from driftjudge.service.alerts.sinks.pagerduty import EVENTS_URL, PagerDuty
from driftjudge.service.alerts.sinks.slack import Slack
from driftjudge.service.alerts.sinks.webhook import Webhook

Sink = Slack | PagerDuty | Alertmanager | Webhook | Email
PHASES = ("opened", "attributed", "closed")
MOST_SINKS = 100
MOST_ROUTES = 1_000


@dataclass(frozen=True)
class NamedSink:
    """A sink under the name that routes, deliveries and metrics use."""

    name: str
    kind: str
    sink: Sink
    allow_private: bool = False


@dataclass(frozen=True)
class Route:
    """Which alerts go to which sinks."""

    sinks: tuple[str, ...]
    monitors: tuple[str, ...] = ("*",)
    subjects: tuple[str, ...] = ("*",)
    phases: tuple[str, ...] = PHASES
    quiet: QuietHours | None = None

    def takes(self, alert: Alert, earlier: Sequence[Alert] = ()) -> bool:
        """True for an alert this route carries; a test message goes straight to its sink and takes no route.

        `earlier`: what was told of the same alarm before, oldest first. Whoever heard of an alarm under one name hears
        what becomes of it under another: `system` may turn into `judge`, and both must end. The first message of an
        alarm is its opening, even where the verdict is final at once.
        """
        heard = any(self._meets(before, first=place == 0) for place, before in enumerate(earlier))
        return self._meets(alert, first=not earlier) or (heard and alert.phase in self.phases)

    def _meets(self, alert: Alert, *, first: bool) -> bool:
        opens = first and alert.phase == "attributed" and "opened" in self.phases
        return (alert.phase in self.phases or opens) and self._named(alert)

    def _named(self, alert: Alert) -> bool:
        return any(fnmatchcase(alert.monitor, pattern) for pattern in self.monitors) and any(
            pattern in ("*", alert.subject) for pattern in self.subjects
        )


@dataclass(frozen=True)
class AlertSettings:
    """Every sink and route of a service."""

    sinks: Mapping[str, NamedSink]
    routes: tuple[Route, ...]

    def routed(self, alert: Alert, earlier: Sequence[Alert] = ()) -> dict[str, QuietHours | None]:
        """The sinks that get this alert, each with the quiet hours to respect; one route without them wins."""
        found: dict[str, QuietHours | None] = {}
        for route in self.routes:
            if route.takes(alert, earlier):
                for name in route.sinks:
                    found[name] = route.quiet if name not in found else (found[name] and route.quiet)
        return found


NO_ALERTS = AlertSettings({}, ())


def read_alerts(
    section: Mapping[str, Any], environ: Mapping[str, str], clock: Callable[[], float] = time.time
) -> AlertSettings:
    """The settings of an `[alerts]` section; every mistake is found here, before anything is sent."""
    _known(section, ("sinks", "routes"), "[alerts]")
    raw_sinks, raw_routes = (_tables(section.get(name, []), name) for name in ("sinks", "routes"))
    if len(raw_sinks) > MOST_SINKS or len(raw_routes) > MOST_ROUTES:
        raise AlertSettingsError(
            f"{len(raw_sinks)} alert sinks and {len(raw_routes)} routes; at most {MOST_SINKS} and {MOST_ROUTES}"
        )
    sinks: dict[str, NamedSink] = {}
    for raw in raw_sinks:
        made = _sink(raw, environ, clock)
        if made.name in sinks:
            raise AlertSettingsError(f"two alert sinks are called {made.name!r}; give each a name of its own")
        sinks[made.name] = made
    routes = tuple(_route(raw, sinks) for raw in raw_routes)
    named = {name for route in routes for name in route.sinks}
    left = tuple(name for name in sinks if name not in named)
    if left:  # somebody who names a sink and no route to it wants everything there
        routes = (*routes, Route(left))
    return AlertSettings(sinks, routes)


def _sink(raw: Mapping[str, Any], environ: Mapping[str, str], clock: Callable[[], float]) -> NamedSink:
    name, kind = _text(raw, "name", "an alert sink"), _text(raw, "kind", "an alert sink")
    what = f"alert sink {name!r}"
    if kind not in _KINDS:
        near = difflib.get_close_matches(kind, _KINDS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(_KINDS)}"
        raise AlertSettingsError(f"{what} is of the unknown kind {kind!r}; {hint}")
    keys, make = _KINDS[kind]
    _known(raw, ("name", "kind", "allow_private", *keys), what)
    private = raw.get("allow_private", False)
    if not isinstance(private, bool):
        raise AlertSettingsError(f"{what}: allow_private is {private!r}; write true or false")
    return NamedSink(name, kind, make(raw, environ, what, clock), private)


Make = Callable[[Mapping[str, Any], Mapping[str, str], str, Callable[[], float]], Sink]


def _slack(raw: Mapping[str, Any], environ: Mapping[str, str], what: str, _clock: object) -> Sink:
    return Slack(_secret(raw, "url_env", environ, what))


def _pagerduty(raw: Mapping[str, Any], environ: Mapping[str, str], what: str, _clock: object) -> Sink:
    return PagerDuty(_secret(raw, "routing_key_env", environ, what), _text(raw, "url", what, EVENTS_URL))


def _alertmanager(raw: Mapping[str, Any], _environ: Mapping[str, str], what: str, clock: Callable[[], float]) -> Sink:
    return Alertmanager(_text(raw, "url", what), clock)


def _webhook(raw: Mapping[str, Any], environ: Mapping[str, str], what: str, clock: Callable[[], float]) -> Sink:
    url = _secret(raw, "url_env", environ, what) if "url_env" in raw else _text(raw, "url", what)
    secret = _secret(raw, "secret_env", environ, what) if "secret_env" in raw else ""
    return Webhook(url, clock, secret)


def _email(raw: Mapping[str, Any], environ: Mapping[str, str], what: str, _clock: object) -> Sink:
    security = _text(raw, "security", what, "starttls")
    if security not in ("starttls", "tls", "none"):
        raise AlertSettingsError(f"{what}: security is {security!r}; choose 'starttls', 'tls' or 'none'")
    port = raw.get("port", {"starttls": 587, "tls": 465, "none": 25}[security])
    if isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 65_536:
        raise AlertSettingsError(f"{what}: port is {port!r}; give a number from 1 to 65535")
    recipients = _texts(raw, "to", what)
    sender = _text(raw, "from", what)
    for address in (sender, *recipients):
        if "@" not in address or any(c in address for c in "\r\n,"):
            raise AlertSettingsError(f"{what}: {address!r} is not a mail address; write for example oncall@example.org")
    password = _secret(raw, "password_env", environ, what) if "password_env" in raw else ""
    return Email(_text(raw, "host", what), port, sender, recipients, security, _text(raw, "user", what, ""), password)  # type: ignore[arg-type]  # checked above


_KINDS: dict[str, tuple[tuple[str, ...], Make]] = {
    "slack": (("url_env",), _slack),
    "pagerduty": (("routing_key_env", "url"), _pagerduty),
    "alertmanager": (("url",), _alertmanager),
    "webhook": (("url", "url_env", "secret_env"), _webhook),
    "email": (("host", "port", "from", "to", "security", "user", "password_env"), _email),
}


def _route(raw: Mapping[str, Any], sinks: Mapping[str, NamedSink]) -> Route:
    what = "an alert route"
    _known(raw, ("sinks", "monitors", "subjects", "phases", "quiet_hours"), what)
    names = _texts(raw, "sinks", what)
    for name in names:
        if name not in sinks:
            raise AlertSettingsError(
                f"{what} names the sink {name!r}, which is not defined; defined: {', '.join(sinks) or 'none'}"
            )
    subjects, phases = _texts(raw, "subjects", what, ("*",)), _texts(raw, "phases", what, PHASES)
    for given, known, key in (
        (subjects, ("*", *(s for s in SEVERITIES if s != "test")), "subjects"),
        (phases, PHASES, "phases"),
    ):
        for value in given:
            if value not in known:
                raise AlertSettingsError(f"{what} has {value!r} among its {key}; known: {', '.join(known)}")
    quiet = QuietHours.parse(raw["quiet_hours"]) if "quiet_hours" in raw else None
    return Route(names, _texts(raw, "monitors", what, ("*",)), subjects, phases, quiet)


def _secret(raw: Mapping[str, Any], key: str, environ: Mapping[str, str], what: str) -> str:
    variable = _text(raw, key, what)
    value = environ.get(variable, "")
    if not value:
        raise AlertSettingsError(f"{what}: the environment variable {variable} is not set; put the secret there")
    return value


def _text(raw: Mapping[str, Any], key: str, what: str, default: str | None = None) -> str:
    value = raw.get(key, default)
    if not isinstance(value, str) or (not value and default is None):
        raise AlertSettingsError(f"{what}: {key} is {value!r}; give a text" if key in raw else f"{what} lacks {key!r}")
    return value


def _texts(raw: Mapping[str, Any], key: str, what: str, default: Sequence[str] | None = None) -> tuple[str, ...]:
    value = raw.get(key, default)
    if value is None:
        raise AlertSettingsError(f"{what} lacks {key!r}; give a list of names")
    if isinstance(value, str) or not isinstance(value, Sequence) or not value:
        raise AlertSettingsError(f"{what}: {key} is {value!r}; give a list of names")
    if not all(isinstance(entry, str) and entry for entry in value):
        raise AlertSettingsError(f"{what}: {key} holds something that is not a name; give a list of names")
    return tuple(value)


def _tables(value: Any, name: str) -> list[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
        raise AlertSettingsError(f"alerts.{name} is not a list of tables; write [[alerts.{name}]]")
    return value


def _known(raw: Mapping[str, Any], keys: Sequence[str], what: str) -> None:
    for key in raw:
        if key not in keys:
            near = difflib.get_close_matches(key, keys, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(keys)}"
            raise AlertSettingsError(f"{what} has the unknown setting {key!r}; {hint}")
