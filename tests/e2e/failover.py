"""`python -m tests.e2e.failover`: two services on one Postgres; one is killed, the other takes over its monitors.

The first holds the monitor and its judges are at work when it dies. The second is not asked for anything: it has to
notice by itself, within the lease, and bring the work to the end. Then the client, which had sent part of its items
to the first, sends everything to the second.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from tests.e2e.crash import undisturbed
from tests.e2e.postgres import running_postgres
from tests.e2e.process import Process, RefusedError, Retrying
from tests.e2e.streams import NAME, Drive, state_of

LEASE = 1.0
OPTIONS: dict[str, Any] = {"lease_seconds": LEASE, "tick_seconds": 0.05, "retry_seconds": 0.01, "retry_cap": 0.05}


def main() -> int:
    with running_postgres() as server:
        drive = Drive("strong", 1)
        expected = undisturbed(server.database(), Drive("strong", 1))
        url = server.database()
        first, second = (Process(url, {**OPTIONS, "owner": name}) for name in ("first", "second"))
        drive.set_up(Retrying(lambda: first))
        part = list(drive.stream())[: drive.request]
        first.call("ingest", NAME, part, idempotency=drive._key("request 0"))
        try:
            second.call("ingest", NAME, part)
            refused = ""
        except RefusedError as error:
            refused = str(error.args[0])
        seen_from_second = second.call("verdict", NAME).kind  # reads work everywhere
        first.kill()
        killed = time.monotonic()
        while second.call("health").leased == 0:
            time.sleep(0.01)
        took = time.monotonic() - killed
        client = Retrying(lambda: second)
        drive.run(client)
        state = state_of(client, drive.mode)
        second.kill()
    found = {
        "same": state == expected,
        "differs": [name for name in expected if expected[name] != state[name]],
        "lost": drive.items - len(state["observed"]),
        "took_over": refused == "ElsewhereError" and seen_from_second == "none",
        "took_over_after_seconds": round(took, 2),
        "lease_seconds": LEASE,
    }
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
