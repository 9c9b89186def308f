from __future__ import annotations

import threading
from pathlib import Path

import pytest
from sqlalchemy import event, insert, select, text
from sqlalchemy.exc import IntegrityError

from driftjudge.store import Store, open_store
from driftjudge.store.errors import FullError, SchemaError, UnavailableError
from driftjudge.store.filelock import lock_of
from driftjudge.store.tables import audit


def _note(store: Store, actor: str) -> None:
    with store.begin() as tx:
        tx.execute(insert(audit).values(at=1.0, actor=actor, action="x", monitor="", detail="{}"))


def _actors(store: Store) -> list[str]:
    with store.read() as tx:
        return list(tx.execute(select(audit.c.actor).order_by(audit.c.id)).scalars())


def test_sqlite_is_set_up_so_that_a_commit_is_on_disk(store: Store) -> None:
    with store.read() as tx:
        settings = [tx.execute(text(f"PRAGMA {name}")).scalar() for name in ("journal_mode", "synchronous")]
    assert settings == ["wal", 2]


def test_a_reader_does_not_wait_for_a_writer(store: Store) -> None:
    _note(store, "before")
    with store.begin() as tx:
        tx.execute(insert(audit).values(at=1.0, actor="meanwhile", action="x", monitor="", detail="{}"))
        assert _actors(store) == ["before"]
    assert _actors(store) == ["before", "meanwhile"]


def test_writers_wait_for_each_other(either: Store) -> None:
    def write(actor: str) -> None:
        for _ in range(10):
            _note(either, actor)

    threads = [threading.Thread(target=write, args=(f"{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(_actors(either)) == sorted(f"{i}" for i in range(4) for _ in range(10))


def test_a_full_disk_is_named_and_over_when_there_is_room_again(tmp_path: Path) -> None:
    store = open_store(tmp_path / "small.db")
    limit = 60

    def limited(connection: object, _record: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {limit}")  # type: ignore[attr-defined]

    event.listen(store.engine, "connect", limited)
    store.engine.dispose()
    written = 0

    def fill() -> None:
        nonlocal written
        while written < 1_000:
            _note(store, "x" * 1_000)
            written += 1

    with pytest.raises(FullError, match=r"no room left .* free space"):
        fill()
    assert len(_actors(store)) == written
    limit = 10_000
    store.engine.dispose()
    _note(store, "after")
    assert len(_actors(store)) == written + 1
    store.close()


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "mysql://x/y"])
def test_a_database_that_cannot_keep_its_promise_is_refused(url: str) -> None:
    with pytest.raises(SchemaError):
        open_store(url)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database, and long enough to be looked at " * 100)
    with pytest.raises(SchemaError, match="not a database"):
        open_store(file)


def test_a_server_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(UnavailableError, match="does not answer"):
        open_store("postgresql://nobody@127.0.0.1:1/none")


def test_an_error_never_shows_the_values_of_a_statement(store: Store) -> None:
    with pytest.raises(UnavailableError) as caught, store.begin() as tx:
        tx.execute(text("SELECT :word FROM nowhere"), {"word": "sesame"})
    assert "sesame" not in str(caught.value)


def test_a_broken_promise_of_ours_is_not_called_the_databases_fault(store: Store) -> None:
    with pytest.raises(IntegrityError), store.begin() as tx:
        tx.execute(text("INSERT INTO audit (id) VALUES (1)"))


def test_one_process_serves_a_file_and_its_death_frees_it(store: Store) -> None:
    lock = lock_of(store)
    assert lock is not None
    with pytest.raises(UnavailableError, match="another process serves"):
        lock_of(store)
    lock.release()
    again = lock_of(store)
    assert again is not None
    again.release()
