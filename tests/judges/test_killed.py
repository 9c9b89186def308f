"""A run that is killed goes on where it stopped: real processes, a real server, SIGKILL."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from tests.judges import misbehaving as wire
from tests.judges.misbehaving import MisbehavingServer

ITEMS, AT_ONCE = 60, 4

PROGRAM = """
import asyncio, sys
from driftjudge.judges import Item, JudgeRunner, Limits, ScoreCache, make_judge

async def main():
    judge = make_judge({"model": "m", "base_url": sys.argv[1]}, ["tone"])
    items = [Item(str(n), {"prompt": f"prompt {n}", "response": "r"}) for n in range(int(sys.argv[3]))]
    with ScoreCache(sys.argv[2]) as cache:
        async with JudgeRunner(judge, role="strong", cache=cache, limits=Limits(int(sys.argv[4]))) as runner:
            answers = {item.id: judgement.scores async for item, judgement in runner.score_many(items)}
    assert len(answers) == len(items) and set(answers.values()) == {(0.75,)}

asyncio.run(main())
"""


def _start(server: MisbehavingServer, cache: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-W", "error", "-c", PROGRAM, server.url, str(cache), str(ITEMS), str(AT_ONCE)]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})


def test_a_killed_run_loses_no_more_than_the_calls_under_way(server: MisbehavingServer, tmp_path: Path) -> None:
    server.default = wire.answer({"tone": 3}, delay=0.005)
    with _start(server, tmp_path / "scores.db") as process:
        while len(server.seen) < 20 and process.poll() is None:
            time.sleep(0.001)
        assert process.poll() is None, "the process ended before it could be killed"
        process.send_signal(signal.SIGKILL)
    with _start(server, tmp_path / "scores.db") as process:
        assert process.wait(60) == 0
    asked = Counter(seen.user for seen in server.seen)
    assert len(asked) == ITEMS
    assert sum(asked.values()) - ITEMS <= AT_ONCE
