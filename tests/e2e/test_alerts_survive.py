"""A service that is killed again and again while it alarms: every alarm reaches its receiver, under one key."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from driftjudge.lab.scenarios import Scenario, stage
from driftjudge.monitor import MonitorConfig
from driftjudge.service.client import Client
from driftjudge.service.showcase import Show
from driftjudge.tables import load_replica
from tests.service.alerts.receiver import Receiver, http_receiver

CONFIG = """
[[alerts.sinks]]
name = "pager"
kind = "pagerduty"
routing_key_env = "PAGER_KEY"
url = "{url}/v2/enqueue"
allow_private = true
"""


@contextmanager
def service(folder: Path, port: int, *, kill: bool) -> Iterator[str]:
    """A service that is killed at the end, or stopped in good order."""
    command = [sys.executable, "-m", "driftjudge", "serve", "--port", str(port), "--log-level", "error"]
    process = subprocess.Popen(
        [*command, "--store", str(folder / "s.db"), "--config", str(folder / "serve.toml")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PAGER_KEY": "secret"},
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[3]
    finally:
        process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
        process.wait(30)
        assert process.stdout is not None
        process.stdout.close()


def delivered(receiver: Receiver, action: str) -> set[str]:
    return {r.json["dedup_key"] for r in receiver.accepted if r.json["event_action"] == action}


def wait_for(receiver: Receiver, action: str) -> None:
    deadline = time.monotonic() + 60.0
    while not delivered(receiver, action):
        assert time.monotonic() < deadline, f"no {action} came; seen: {[r.answer for r in receiver.requests]}"
        time.sleep(0.05)


def test_no_alarm_is_lost_when_the_service_is_killed_while_it_tells_of_it(tmp_path: Path) -> None:
    table = load_replica("helpsteer2")
    config = MonitorConfig(rubrics=table.rubrics, strata=table.stratum_names, seed=7)
    staged = stage(table, config, Scenario(condition="system"))
    chance = random.Random(1)
    # The receiver takes nothing at first: it hangs, refuses and cuts while the service is killed under it.
    with http_receiver(["hang", "500", "cut", "hang"]) as receiver:
        (tmp_path / "serve.toml").write_text(CONFIG.format(url=receiver.url))
        with service(tmp_path, 0, kill=True) as url, Client(url) as client:
            show = Show(client, "shop", table, staged, batch=100)
            show.set_up()
            while client.verdict("shop").kind == "none":
                show.step()
        for _ in range(3):
            with service(tmp_path, 0, kill=True):
                time.sleep(chance.uniform(0.0, 1.5))
        receiver.released.set()
        with service(tmp_path, 0, kill=False) as url, Client(url) as client:
            wait_for(receiver, "trigger")
            show.client = client
            while client.verdict("shop").status != "final":
                show.step()
            client.acknowledge("shop", note="rolled back")
            client.close_alarm("shop", client.alarms("shop")[0].id)
            wait_for(receiver, "resolve")
    keys = {request.json["dedup_key"] for request in receiver.requests}
    assert len(keys) == 1, "one alarm, one key"
    actions = [request.json["event_action"] for request in receiver.accepted]
    assert actions == sorted(actions, reverse=True), "trigger comes before resolve"
    # A receiver that honours the ids sees each notification once.
    seen = [request.json["payload"]["custom_details"]["alert_id"] for request in receiver.accepted]
    assert len(seen) == len(set(seen))
