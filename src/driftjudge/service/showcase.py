"""A replica stream through a real service: what the demo shows, over HTTP, with nothing made up on the way."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from driftjudge.lab.scenarios import Staged, cast
from driftjudge.service.client import Client, new_item
from driftjudge.service.errors import ServiceError
from driftjudge.tables import ScoreTable


@contextmanager
def running_service(*options: str) -> Iterator[str]:
    """A service in a process of its own, on a free port of this machine and a store that is thrown away."""
    with tempfile.TemporaryDirectory(prefix="driftjudge-demo-") as folder:
        command = [sys.executable, "-m", "driftjudge", "serve", "--port", "0", "--log-level", "warning", *options]
        process = subprocess.Popen(
            [*command, "--store", str(Path(folder) / "demo.db")], stdout=subprocess.PIPE, text=True
        )
        try:
            yield _address(process)
        finally:
            process.terminate()
            process.wait(timeout=30.0)
            assert process.stdout is not None
            process.stdout.close()


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://\S+", line):
            return found[0]
    raise ServiceError(f"the service ended before it listened (exit code {process.wait()}); its last words are above")


class Show:
    """One monitored stream, step by step."""

    def __init__(self, client: Client, name: str, table: ScoreTable, staged: Staged, *, batch: int = 10) -> None:
        """`batch`: items sent at a time."""
        self.client, self.name, self.table, self.staged, self.batch = client, name, table, staged, batch
        self.sent = 0
        self._versions: dict[str, int] = {}

    def set_up(self) -> None:
        """Create the monitor, freeze its anchors and calibrate it, as anybody would over the API."""
        monitor, config = self.staged.monitor, self.staged.monitor.config
        assert monitor.anchors is not None
        settings = {"description": f"a stream of the {self.table.name}", "no_data_after": None}
        self.client.create_monitor(self.name, config, settings)
        anchors = [
            {
                "id": anchor,
                "human": monitor.anchors.human[row].tolist(),
                **({} if monitor.anchors.strata is None else {"stratum": monitor.anchors.strata[row]}),
                "passes": [one[row].tolist() for one in monitor.anchors.passes],
            }
            for row, anchor in enumerate(monitor.anchors.ids)
        ]
        self.client.upload_anchors(self.name, anchors)
        self.client.freeze_anchors(self.name)
        pool = cast(self.table, self.staged.scenario.anchors, config.seed).pool
        strong = self.table.judge("strong")
        items = [
            {"id": self.table.ids[row], "stratum": self.table.strata[row], "scores": strong[row].tolist()}
            for row in pool.tolist()
        ]
        self.client.calibrate(self.name, items, skip_low_bars=True)
        assert monitor.baseline is not None
        kept = monitor.baseline.kept.tolist()
        self._place = {monitor.anchors.ids[row]: place for place, row in enumerate(kept)}

    @property
    def length(self) -> int:
        """Items of the whole stream."""
        return len(self.staged.block)

    def step(self) -> None:
        """Send the next few items, and the re-scores the monitor asks for because of them."""
        block = self.staged.block
        rows = range(self.sent, min(self.sent + self.batch, self.length))
        strata = self.staged.monitor.config.strata
        items = [
            new_item(
                f"item-{row + 1}",
                strata[int(block.strata[row])],
                block.cheap[row].tolist(),
                strong=block.strong[row].tolist(),
            )
            for row in rows
        ]
        self.client.send_many(self.name, items)
        self.sent = rows.stop
        wanted = list(self.client.wanted(self.name).anchors)
        while wanted:
            wanted = list(self.client.record_anchors(self.name, [self._rescored(one) for one in wanted]).anchors)

    def _rescored(self, anchor: str) -> tuple[str, list[float]]:
        """What the judge in force says about an anchor, once more."""
        version = int(self.staged.block.versions[self.sent - 1])
        repeats = self.staged.block.rescored[version]
        number = self._versions[anchor] = self._versions.get(anchor, -1) + 1
        row: list[float] = repeats[number % len(repeats)][self._place[anchor]].tolist()
        return anchor, row


def play(show: Show, *, rate: float, on_progress: Callable[[int], None], until_final: bool) -> Any:
    """Send the whole stream at `rate` items a second; the last verdict. Ends early once it is final, if told to."""
    verdict = show.client.verdict(show.name)
    begun = time.monotonic()
    while show.sent < show.length:
        show.step()
        on_progress(show.sent)
        verdict = show.client.verdict(show.name)
        if until_final and verdict.status == "final":
            break
        time.sleep(max(0.0, begun + show.sent / rate - time.monotonic()))
    return verdict
