"""Sinks and routes from a file: every mistake is one sentence, found before anything is sent."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from driftjudge.service.alerts.errors import AlertSettingsError, TargetError
from driftjudge.service.alerts.quiet import QuietHours
from driftjudge.service.alerts.settings import read_alerts
from driftjudge.service.alerts.targets import check_target
from tests.service.alerts.test_sinks import ALERT

HOOK = {"name": "hook", "kind": "webhook", "url": "https://example.org/hook"}
PAGER = {"name": "pager", "kind": "pagerduty", "routing_key_env": "KEY"}
ENVIRON = {"KEY": "secret"}


def routed(routes: list[dict[str, Any]], **changes: Any) -> list[str]:
    settings = read_alerts({"sinks": [HOOK, PAGER], "routes": routes}, ENVIRON)
    return sorted(settings.routed(replace(ALERT, **changes)))


def test_a_sink_without_any_route_gets_everything() -> None:
    assert routed([]) == ["hook", "pager"]


def test_routes_choose_by_monitor_verdict_condition_and_phase() -> None:
    routes = [
        {"sinks": ["pager"], "monitors": ["shop*"], "subjects": ["system"], "phases": ["attributed", "closed"]},
        {"sinks": ["hook"], "subjects": ["no_data"]},
    ]
    assert routed(routes) == ["pager"]
    assert routed(routes, phase="opened") == []
    assert routed(routes, monitor="bank") == []
    assert routed(routes, subject="judge") == []
    assert routed(routes, subject="no_data", monitor="bank") == ["hook"]


def test_one_route_without_quiet_hours_wins() -> None:
    quiet = {"sinks": ["hook"], "quiet_hours": "22:00-07:00"}
    held = read_alerts({"sinks": [HOOK], "routes": [quiet]}, ENVIRON).routed(ALERT)
    assert held["hook"] == QuietHours.parse("22:00-07:00")
    for routes in ([quiet, {"sinks": ["hook"]}], [{"sinks": ["hook"]}, quiet]):
        assert read_alerts({"sinks": [HOOK], "routes": routes}, ENVIRON).routed(ALERT) == {"hook": None}


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ({"sink": []}, "did you mean 'sinks'"),
        ({"sinks": {}}, "not a list of tables"),
        ({"sinks": [{"kind": "slack"}]}, "lacks 'name'"),
        ({"sinks": [{"name": "x", "kind": "slak"}]}, "did you mean 'slack'"),
        ({"sinks": [{"name": "x", "kind": "slack", "url": "https://a"}]}, "unknown setting 'url'"),
        ({"sinks": [{"name": "x", "kind": "slack", "url_env": "NOPE"}]}, "NOPE is not set"),
        ({"sinks": [HOOK, HOOK]}, "two alert sinks are called 'hook'"),
        ({"sinks": [{**HOOK, "allow_private": "yes"}]}, "true or false"),
        (
            {"sinks": [{"name": "m", "kind": "email", "host": "h", "from": "me", "to": ["b@example.org"]}]},
            "not a mail address",
        ),
        (
            {
                "sinks": [
                    {"name": "m", "kind": "email", "host": "h", "from": "a@b.c", "to": ["b@example.org"], "port": 0}
                ]
            },
            "port is 0",
        ),
        (
            {
                "sinks": [
                    {"name": "m", "kind": "email", "host": "h", "from": "a@b.c", "to": ["b@c.d"], "security": "ssl"}
                ]
            },
            "choose 'starttls'",
        ),
        ({"sinks": [HOOK], "routes": [{"sinks": ["pager"]}]}, "not defined"),
        ({"sinks": [HOOK], "routes": [{}]}, "lacks 'sinks'"),
        ({"sinks": [HOOK], "routes": [{"sinks": "hook"}]}, "give a list"),
        ({"sinks": [HOOK], "routes": [{"sinks": ["hook"], "subjects": ["sytem"]}]}, "'sytem' among its subjects"),
        ({"sinks": [HOOK], "routes": [{"sinks": ["hook"], "phases": ["later"]}]}, "'later' among its phases"),
        ({"sinks": [HOOK], "routes": [{"sinks": ["hook"], "quiet_hours": "late"}]}, "quiet_hours is 'late'"),
        ({"sinks": [HOOK], "routes": [{"sinks": ["hook"], "quiet_hours": "25:00-07:00"}]}, "impossible hour"),
        ({"sinks": [HOOK], "routes": [{"sinks": ["hook"], "quiet_hours": "22:00-07:00 Mars/X"}]}, "unknown time zone"),
    ],
)
def test_a_mistake_in_the_settings_is_one_sentence(section: dict[str, Any], words: str) -> None:
    with pytest.raises(AlertSettingsError, match=words):
        read_alerts(section, ENVIRON)


@pytest.mark.parametrize(
    ("hours", "now", "until"),
    [
        ("22:00-07:00", "2026-11-15T23:00", "2026-11-16T07:00"),
        ("22:00-07:00", "2026-11-15T06:59", "2026-11-15T07:00"),
        ("22:00-07:00", "2026-11-15T07:00", None),
        ("22:00-07:00 Europe/Berlin", "2026-11-15T21:30", "2026-11-16T06:00"),
        ("12:00-13:00", "2026-11-15T12:30", "2026-11-15T13:00"),
        ("12:00-13:00", "2026-11-15T13:30", None),
    ],
)
def test_quiet_hours_end_when_they_say(hours: str, now: str, until: str | None) -> None:
    found = QuietHours.parse(hours).until(datetime.fromisoformat(now).replace(tzinfo=UTC))
    assert found == (None if until is None else datetime.fromisoformat(until).replace(tzinfo=UTC))


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::1", "::",
        "fe80::1", "fc00::1", "::ffff:10.0.0.1", "2002:7f00:1::", "64:ff9b::7f00:1", "224.0.0.1", "ff02::1",
    ],
)  # fmt: skip
def test_alerts_do_not_go_to_loopback_or_private_addresses(address: str) -> None:
    with pytest.raises(TargetError, match="allow_private"):
        check_target("https://hook.example.org/x", resolver=lambda _host, _port: [address])
    assert check_target("https://hook.example.org/x", allow_private=True, resolver=lambda *_: [address]).ip == address


def test_one_private_address_among_public_ones_is_enough_to_refuse() -> None:
    with pytest.raises(TargetError, match="private"):
        check_target("https://hook.example.org", resolver=lambda *_: ["93.184.216.34", "127.0.0.1"])


def test_the_checked_address_is_the_one_that_is_called() -> None:
    target = check_target("https://hook.example.org:8443/x?y=1", resolver=lambda *_: ["93.184.216.34"])
    assert target.url == "https://93.184.216.34:8443/x?y=1"
    assert target.host_header == "hook.example.org:8443"


@pytest.mark.parametrize(
    "url", ["ftp://example.org", "http://", "nonsense", "http://user:pw@example.org/", "http://example.org:99999/"]
)
def test_an_address_that_is_none_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(TargetError) as caught:
        check_target(url, resolver=lambda *_: ["93.184.216.34"])
    assert "pw" not in str(caught.value)


def test_a_sink_that_no_route_names_gets_everything_beside_those_that_are_named() -> None:
    sinks = [{"name": name, "kind": "webhook", "url": "https://example.org/"} for name in ("named", "forgotten")]
    settings = read_alerts({"sinks": sinks, "routes": [{"sinks": ["named"], "subjects": ["judge"]}]}, {})
    assert [(route.sinks, route.subjects) for route in settings.routes] == [
        (("named",), ("judge",)),
        (("forgotten",), ("*",)),
    ]
