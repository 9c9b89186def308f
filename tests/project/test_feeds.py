"""Files, folders that grow, and standard input."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from driftjudge.project.errors import ProjectError
from driftjudge.project.feeds import Feed, FileFeed, FolderFeed, LineFeed, open_feed


def ids(feed: Feed, most: int = 100) -> list[object] | None:
    rows = feed.take(most)
    return None if rows is None else [row.values["id"] for row in rows]


def test_a_file_is_handed_out_in_parts_and_ends(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text("id\n1\n2\n3\n", encoding="utf-8")
    feed = FileFeed(path)
    assert [ids(feed, 2), ids(feed, 2), ids(feed, 2)] == [["1", "2"], ["3"], None]


def test_a_folder_is_read_in_the_order_of_its_names_and_ends(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text('{"id": 3}', encoding="utf-8")
    (tmp_path / "a.jsonl").write_text('{"id": 1}\n\n{"id": 2}\n', encoding="utf-8")
    (tmp_path / "notes.txt").write_text("no", encoding="utf-8")
    feed = FolderFeed(tmp_path, follow=False)
    assert [ids(feed, 2), ids(feed, 2), ids(feed, 2)] == [[1, 2], [3], None]


def test_a_followed_folder_gives_complete_lines_and_what_is_appended_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driftjudge.project.feeds.POLL_SECONDS", 0.0)
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1}\n{"id": ', encoding="utf-8")
    feed = FolderFeed(tmp_path, follow=True)
    assert ids(feed) == [1]
    assert ids(feed) == []
    with path.open("a", encoding="utf-8") as file:
        file.write('2}\n{"id": 3}\n')
    (tmp_path / "b.jsonl").write_text('{"id": 4}\n', encoding="utf-8")
    assert ids(feed) == [2, 3, 4]
    assert ids(feed) == []


def test_standard_input_is_handed_out_as_it_comes() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, encoding="utf-8") as lines, os.fdopen(writing, "w", encoding="utf-8") as pipe:
        feed = LineFeed(lines)
        pipe.write('{"id": 1}\n{"id": 2}\n')
        pipe.flush()
        assert ids(feed) == [1, 2]  # without waiting for a full batch or for the end
        pipe.write('{"id": 3}\n')
        pipe.close()
        assert ids(feed) == [3]
        assert ids(feed) is None


@pytest.mark.parametrize("line", ["{", "[1]", "words"])
def test_a_line_that_is_no_object_is_one_sentence(line: str) -> None:
    with pytest.raises(ProjectError, match="line 2 of standard input is n"):
        LineFeed(io.StringIO('{"id": 1}\n' + line + "\n")).take(5)


def test_sources_that_cannot_be_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="there is no file or folder"):
        open_feed(str(tmp_path / "none"), io.StringIO(), follow=False)
    with pytest.raises(ProjectError, match=r"holds no .jsonl or .ndjson file"):
        open_feed(str(tmp_path), io.StringIO(), follow=False)
    (tmp_path / "a.csv").write_text("id\n1\n", encoding="utf-8")
    with pytest.raises(ProjectError, match="cannot be followed"):
        open_feed(str(tmp_path / "a.csv"), io.StringIO(), follow=True)
