"""Each sink's exact message, as a real receiver on loopback gets it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from driftjudge.service.alerts.alert import MOST_KEY, Alert, bounded_key
from driftjudge.service.alerts.delivery import Links, Sender
from driftjudge.service.alerts.settings import AlertSettings, NamedSink, Sink, read_alerts
from driftjudge.service.alerts.sinks.alertmanager import Alertmanager
from driftjudge.service.alerts.sinks.email import Email
from driftjudge.service.alerts.sinks.pagerduty import PagerDuty
from driftjudge.service.alerts.sinks.slack import Slack
from driftjudge.service.alerts.sinks.webhook import SIGNATURE, Webhook, verify
from tests.service.alerts.receiver import http_receiver, mail_receiver

ALERT = Alert(
    id="shop-4-attributed",
    key="driftjudge:shop:helpfulness:coding:2",
    phase="attributed",
    monitor="shop",
    subject="system",
    sentence="Your system got worse: helpfulness in coding fell below the bar.",
    facts=("Fact one.", "Fact <two> & more.", "Fact three."),
    advice="Look at the last release.",
    at="2026-11-15T03:00:00+00:00",
    rubric="helpfulness",
    stratum="coding",
    epoch=2,
)
CLOSED = replace(ALERT, id="shop-5", phase="closed", sentence="The alarm was closed: fixed.", facts=(), advice="")
LINKS = Links("https://drift.example.org/")
NOW = 1_794_711_600.0


def sent(sink: Sink, alert: Alert = ALERT) -> None:
    settings = AlertSettings({"it": NamedSink("it", "any", sink, allow_private=True)}, ())
    sender = Sender(settings, LINKS)
    try:
        outcome = sender.send("it", alert)
    finally:
        sender.close()
    assert outcome.accepted, outcome.error


def test_slack_gets_a_header_the_sentence_the_facts_what_to_do_and_two_links() -> None:
    with http_receiver() as receiver:
        sent(Slack(f"{receiver.url}/services/T0/B0/XYZ"))
    (request,) = receiver.requests
    assert request.path == "/services/T0/B0/XYZ"
    assert request.headers["Content-Type"] == "application/json"
    assert request.json == {
        "text": "The system drifted · shop: Your system got worse: helpfulness in coding fell below the bar.",
        "blocks": [
            {"type": "header", "text": {"type": "plain_text", "text": "The system drifted · shop"}},
            {
                "type": "section",
                "text": {
                    "type": "mrkdwn",
                    "text": "Your system got worse: helpfulness in coding fell below the bar.",
                },
            },
            {
                "type": "section",
                "text": {"type": "mrkdwn", "text": "• Fact one.\n• Fact &lt;two&gt; &amp; more.\n• Fact three."},
            },
            {"type": "section", "text": {"type": "mrkdwn", "text": "*Now:* Look at the last release."}},
            {
                "type": "context",
                "elements": [
                    {
                        "type": "mrkdwn",
                        "text": "<https://drift.example.org/monitors/shop|Open the page> · "
                        "<https://drift.example.org/runbooks/system|Runbook>",
                    }
                ],
            },
        ],
    }


def test_slack_texts_stay_within_its_limits() -> None:
    long = replace(ALERT, monitor="m" * 400, sentence="s" * 5_000, facts=("<" * 2_000,) * 3)
    body = json.loads(Slack("https://hooks.example.org/x").render(long).body)
    assert len(body["blocks"][0]["text"]["text"]) <= 150
    assert all(len(block["text"]["text"]) <= 3_000 for block in body["blocks"] if block["type"] == "section")


def test_pagerduty_triggers_and_resolves_under_one_key() -> None:
    with http_receiver() as receiver:
        sink = PagerDuty("R0UT1NG", f"{receiver.url}/v2/enqueue")
        sent(sink)
        sent(sink, CLOSED)
    first, last = (request.json for request in receiver.requests)
    assert first == {
        "routing_key": "R0UT1NG",
        "event_action": "trigger",
        "dedup_key": "driftjudge:shop:helpfulness:coding:2",
        "payload": {
            "summary": "The system drifted · shop: Your system got worse: helpfulness in coding fell below the bar.",
            "source": "shop",
            "severity": "critical",
            "timestamp": "2026-11-15T03:00:00+00:00",
            "component": "helpfulness",
            "group": "coding",
            "class": "system",
            "custom_details": {
                "facts": ["Fact one.", "Fact <two> & more.", "Fact three."],
                "what_to_do": "Look at the last release.",
                "alert_id": "shop-4-attributed",
            },
        },
        "links": [
            {"href": "https://drift.example.org/monitors/shop", "text": "The monitor's page"},
            {"href": "https://drift.example.org/runbooks/system", "text": "Runbook"},
        ],
        "client": "driftjudge",
        "client_url": "https://drift.example.org/monitors/shop",
    }
    assert (last["event_action"], last["dedup_key"]) == ("resolve", first["dedup_key"])


def test_alertmanager_gets_the_same_labels_for_the_whole_life_of_an_alarm() -> None:
    with http_receiver() as receiver:
        sent(Alertmanager(receiver.url + "/", lambda: NOW))
        sent(Alertmanager(receiver.url), CLOSED)
    assert [request.path for request in receiver.requests] == ["/api/v2/alerts", "/api/v2/alerts"]
    (first,), (last,) = (request.json for request in receiver.requests)
    assert first == {
        "labels": {"alertname": "DriftjudgeAlarm", "monitor": "shop", "alarm": ALERT.key},
        "annotations": {
            "summary": "Your system got worse: helpfulness in coding fell below the bar.",
            "description": "Fact one. Fact <two> & more. Fact three. Look at the last release.",
            "verdict": "system",
            "severity": "critical",
            "runbook_url": "https://drift.example.org/runbooks/system",
        },
        "startsAt": "2026-11-15T03:00:00+00:00",
        "endsAt": "2026-12-15T03:00:00+00:00",
        "generatorURL": "https://drift.example.org/monitors/shop",
    }
    assert last["labels"] == first["labels"]
    assert last["endsAt"] == CLOSED.at
    assert "startsAt" not in last


@pytest.mark.parametrize(("days", "ends"), [(14, "2026-12-15"), (15, "2026-12-30"), (44, "2027-01-14")])
def test_an_alarm_that_stays_open_gets_a_later_end_at_alertmanager_in_good_time(days: int, ends: str) -> None:
    (entry,) = json.loads(Alertmanager("http://it", lambda: NOW + days * 86_400.0).render(ALERT).body)
    assert (entry["startsAt"], entry["endsAt"]) == (ALERT.at, f"{ends}T03:00:00+00:00")


def test_a_webhook_is_a_signed_cloud_event() -> None:
    with http_receiver() as receiver:
        sent(Webhook(f"{receiver.url}/hook?team=a", lambda: NOW, "hush"))
    (request,) = receiver.requests
    assert request.path == "/hook?team=a"
    assert request.headers["Content-Type"] == "application/cloudevents+json; charset=utf-8"
    event = request.json
    data = event.pop("data")
    assert event == {
        "specversion": "1.0",
        "id": "shop-4-attributed",
        "source": "/driftjudge/monitors/shop",
        "type": "dev.driftjudge.alarm.attributed.v1",
        "subject": "system",
        "time": "2026-11-15T03:00:00+00:00",
        "datacontenttype": "application/json",
    }
    assert data["key"] == ALERT.key
    assert data["facts"] == list(ALERT.facts)
    assert data["page_url"] == "https://drift.example.org/monitors/shop"
    header = request.headers[SIGNATURE]
    assert verify(request.body, header, "hush", NOW + 60)
    assert not verify(request.body + b" ", header, "hush", NOW)
    assert not verify(request.body, header, "other", NOW)
    assert not verify(request.body, header, "hush", NOW + 3_600)
    assert not verify(request.body, "nonsense", "hush", NOW)


def test_mail_is_plain_text_in_one_thread_with_one_id_per_message() -> None:
    with mail_receiver() as mailbox:
        sink = Email("127.0.0.1", mailbox.port, "drift@example.org", ("a@example.org", "b@example.org"), "none")
        sent(sink)
        sent(sink)
        sent(sink, CLOSED)
    first, again, closed = mailbox.messages
    assert first["Subject"] == "[driftjudge] The system drifted · shop"
    assert first["To"] == "a@example.org, b@example.org"
    assert first.get_content().replace("\r\n", "\n") == (
        "Your system got worse: helpfulness in coding fell below the bar.\n\n"
        "- Fact one.\n- Fact <two> & more.\n- Fact three.\n\n"
        "Now: Look at the last release.\n\n"
        "Page: https://drift.example.org/monitors/shop\nRunbook: https://drift.example.org/runbooks/system\n"
    )
    assert first["Message-ID"] == again["Message-ID"] != closed["Message-ID"]
    assert first["References"] == closed["References"]


def test_a_monitor_name_cannot_add_a_mail_header() -> None:
    sly = replace(ALERT, monitor="x\r\nBcc: everybody@example.org")
    message = Email("h", 25, "a@example.org", ("b@example.org",), "none").render(sly)
    assert message["Bcc"] is None
    assert "\n" not in message["Subject"]


def test_a_key_is_never_longer_than_the_strictest_receiver_takes() -> None:
    long = bounded_key("m" * 300)
    assert len(long.encode()) <= MOST_KEY
    assert long != bounded_key("m" * 301)
    assert len(bounded_key("é" * 200).encode()) <= MOST_KEY
    assert bounded_key("driftjudge:shop:tone:chat:1") == "driftjudge:shop:tone:chat:1"


def test_no_sink_shows_its_secret() -> None:
    environ = {"URL": "https://hooks.example.org/canary-1", "KEY": "canary-2", "PASS": "canary-3"}
    section = {
        "sinks": [
            {"name": "s", "kind": "slack", "url_env": "URL"},
            {"name": "p", "kind": "pagerduty", "routing_key_env": "KEY"},
            {"name": "w", "kind": "webhook", "url_env": "URL", "secret_env": "KEY"},
            {
                "name": "e",
                "kind": "email",
                "host": "h",
                "from": "a@example.org",
                "to": ["b@example.org"],
                "user": "u",
                "password_env": "PASS",
            },
        ]
    }
    settings = read_alerts(section, environ)
    assert "canary" not in repr(settings)
    for named in settings.sinks.values():
        if not isinstance(named.sink, Email):
            assert "canary" not in repr(named.sink.render(ALERT))


@pytest.mark.parametrize("phase", ["opened", "attributed", "closed", "test"])
def test_an_alert_survives_the_outbox(phase: str) -> None:
    alert = replace(ALERT, phase=phase)  # type: ignore[arg-type]  # the parameter is a phase
    assert Alert.from_json(json.loads(json.dumps(alert.to_json()))) == alert
