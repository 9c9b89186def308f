from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from driftjudge.tables import ScoreTable, TableError, load_replica, read_table, write_table

TABLE = ScoreTable(
    name="ours",
    ids=("007", "b, c", "ü"),
    strata=("x", "y", "x"),
    rubrics=("tone", "facts"),
    scores={
        "strong": np.array([[0.1, 1 / 3], [0.0, math.nan], [1.0, 0.7]]),
        "lenient": np.array([[math.nan, math.nan], [0.2, 0.3], [0.30000000000000004, 0.7]]),
    },
)


def _there_and_back(table: ScoreTable, path: Path) -> ScoreTable:
    if path.suffix == ".parquet":
        pytest.importorskip("polars")
    write_table(table, path)
    return read_table(path, name=table.name)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".ndjson", ".parquet"])
def test_a_written_table_reads_back_bit_for_bit(tmp_path: Path, suffix: str) -> None:
    back = _there_and_back(TABLE, tmp_path / f"ours{suffix}")

    assert (back.name, back.ids, back.strata, back.rubrics) == (TABLE.name, TABLE.ids, TABLE.strata, TABLE.rubrics)
    assert back.judge_names == TABLE.judge_names
    for judge in TABLE.judge_names:
        np.testing.assert_array_equal(back.judge(judge), TABLE.judge(judge))
    assert back.replica is False


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_written_replica_is_still_called_one(tmp_path: Path, suffix: str) -> None:
    replica = load_replica("tldr").take(range(20))

    back = _there_and_back(replica, tmp_path / f"replica{suffix}")

    assert back.replica is True
    np.testing.assert_array_equal(back.judge("human"), replica.judge("human"))


def test_a_file_type_that_cannot_be_written_is_answered_with_those_that_can(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"use one of: \.csv, \.jsonl, \.ndjson, \.parquet"):
        write_table(TABLE, tmp_path / "ours.xlsx")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"nowhere.*could not be written"):
        write_table(TABLE, tmp_path / "nowhere" / "ours.csv")
