"""`python -m tests.store.release`: keep a small database of the newest schema as text, once, when it is released."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from driftjudge.store import create_log, open_store
from driftjudge.store.migrations import steps
from tests.monitor.builders import make_anchors, make_calibration, make_config
from tests.store.test_log import story_of


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "release.db"
        store = open_store(file, now=0.0)
        config = make_config()
        log = create_log(store, "stream", config, calibration=make_calibration(config), anchors=make_anchors(), at=1.0)
        seq = log.append(story_of(log, 30), after=0, at=2.0, fingerprints=["judge-1"])
        log.save_snapshot(log.load()[0].snapshot(), seq, at=2.0)
        store.close()
        with closing(sqlite3.connect(file)) as written:
            lines = "\n".join(written.iterdump())
    target = Path(__file__).parent / "released" / f"schema_{max(steps())}.sql"
    target.parent.mkdir(exist_ok=True)
    target.write_text(lines + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
