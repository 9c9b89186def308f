"""`python -m tests.e2e.crash --runs 200`: kill the service at random moments, and see that nothing shows of it.

A client drives a monitor through its whole life and sends again whatever was not answered. Half of the runs are killed
after a random time, half at a random call of the database, before it, or right after a commit. At the end everything
that can be read from the service is compared with a run that nobody disturbed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.e2e.postgres import Postgres, running_postgres
from tests.e2e.process import Process, Retrying
from tests.e2e.streams import Drive, Mode, state_of

MODES: tuple[Mode, ...] = ("client", "strong", "raw")
WORLDS = 5
LEASE = 0.25


def options(seed: int) -> dict[str, Any]:
    """Many snapshots and quick retries, so that a short run sees all of it."""
    fast = {"tick_seconds": 0.05, "retry_seconds": 0.01, "retry_cap": 0.05}
    return {"lease_seconds": LEASE, "snapshot_every": random.Random(seed).choice([15, 40, 5_000]), **fast}


def undisturbed(url: str, drive: Drive) -> dict[str, Any]:
    """The state that every run must come to."""
    client = Retrying(lambda: Process(url, options(0)))
    drive.run(client)
    state = state_of(client, drive.mode)
    client.process.kill()
    assert client.deaths == 0
    return state


class Killer:
    """Starts services that are going to die, as often as the seed says, and then one that is left alone."""

    def __init__(self, url: str, seed: int) -> None:
        self._url, self._random = url, random.Random(seed)
        self._options = options(seed)
        self._left = self._random.randint(1, 3)
        self._by_call = seed % 2 == 0
        self._killers: list[int] = []

    def start(self) -> Process:
        """The next service."""
        if not self._left:
            return Process(self._url, self._options)
        self._left -= 1
        if self._by_call:
            return Process(self._url, self._options, die_at=int(10 ** self._random.uniform(0.0, 3.0)))
        process = Process(self._url, self._options)
        self._killers.append(_kill_later(process.pid, self._random.uniform(0.0, 0.5)))
        return process

    def close(self) -> None:
        """Nobody is left who might kill somebody else."""
        for pid in self._killers:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _kill_later(victim: int, seconds: float) -> int:
    pid = os.fork()
    if not pid:
        time.sleep(seconds)
        try:
            os.kill(victim, signal.SIGKILL)
        finally:
            time.sleep(3_600)  # so that its number is not given to another before it is reaped
    return pid


def disturbed(url: str, drive: Drive, seed: int) -> tuple[dict[str, Any], int]:
    """The state after a run with deaths in it, and how many there were."""
    killer = Killer(url, seed)
    client = Retrying(killer.start)
    try:
        drive.run(client)
        killer.close()
        killer._killers.clear()
        return state_of(client, drive.mode), client.deaths
    finally:
        client.process.kill()
        killer.close()


def difference(expected: dict[str, Any], found: dict[str, Any]) -> str:
    """Which parts differ."""
    parts = [name for name in expected if expected[name] != found[name]]
    if parts == ["snapshot"] or "snapshot" in parts:
        one, two = expected["snapshot"], found["snapshot"]
        parts += [f"snapshot.{name}" for name in one if one[name] != two.get(name)]
    return ", ".join(parts)


def main(given: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.crash", description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="per database")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--items", type=int, default=60)
    parser.add_argument("--store", choices=["sqlite", "postgres"], action="append")
    arguments = parser.parse_args(given)
    stores = arguments.store or ["sqlite", "postgres"]
    deaths, failed = 0, []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="driftjudge-crash-")))
        server = stack.enter_context(running_postgres()) if "postgres" in stores else None
        expected: dict[tuple[Mode, int], dict[str, Any]] = {}
        for store in stores:
            for seed in range(arguments.first_seed, arguments.first_seed + arguments.runs):
                mode, world = MODES[seed % 3], seed // 3 % WORLDS
                if (mode, world) not in expected:
                    url = f"sqlite:///{folder}/{mode}-{world}.db"
                    expected[mode, world] = undisturbed(url, Drive(mode, world, arguments.items))
                url = _fresh(store, server, folder, seed)
                state, died = disturbed(url, Drive(mode, world, arguments.items), seed)
                deaths += died
                if differing := difference(expected[mode, world], state):
                    failed.append({"store": store, "seed": seed, "mode": mode, "differs": differing})
                    print(f"{store} seed {seed} ({mode}): differs in {differing}", file=sys.stderr, flush=True)
                _forget(store, server, folder, seed, url)
    print(json.dumps({"runs": len(stores) * arguments.runs, "deaths": deaths, "failed": failed}))
    return 1 if failed else 0


def _fresh(store: str, server: Postgres | None, folder: Path, seed: int) -> str:
    if store == "postgres":
        assert server is not None
        return server.database()
    return f"sqlite:///{folder}/run-{seed}.db"


def _forget(store: str, server: Postgres | None, folder: Path, seed: int, url: str) -> None:
    if store == "postgres":
        assert server is not None
        server.drop(url)
    for file in folder.glob(f"run-{seed}.db*"):
        file.unlink()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
