"""The public tables beside the repository, which are not ours to ship."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from driftjudge.tables import Columns, read_table

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def _scores(data_set: str) -> Path:
    pytest.importorskip("polars")
    path = DATA / data_set / "scores.parquet"
    if not path.is_file():
        pytest.skip(f"the table {data_set}/scores.parquet is missing from ../shared/data")
    return path


@pytest.mark.parametrize(
    ("data_set", "items", "strata", "rubrics", "judges"),
    [
        ("hanna", 1056, 11, 6, 21),
        ("khan_saq", 800, 2, 1, 46),
        ("llmbar", 885, 8, 1, 34),
        ("summeval", 1200, 12, 4, 10),
        ("topical_chat", 360, 6, 4, 8),
    ],
)
def test_a_public_table_reads_without_settings(
    data_set: str, items: int, strata: int, rubrics: int, judges: int
) -> None:
    table = read_table(_scores(data_set))

    assert len(table) == items
    assert len(table.stratum_names) == strata
    assert len(table.rubrics) == rubrics
    assert len(table.judge_names) == judges
    assert table.judge_names[0] == "human"


def test_the_judges_of_a_public_table_are_named_without_their_prefix() -> None:
    judges = {
        "human": "human",
        "cheap": "mistral_7b_p2",
        "strong": "orcaplatypus_13b_p1",
        "changed": "orcaplatypus_13b_p4",
    }

    table = read_table(_scores("hanna"), Columns(judges=judges))

    assert table.judge_names == ("human", "cheap", "strong", "changed")
    shift = np.nanmean(table.judge("changed") - table.judge("strong"))
    assert shift == pytest.approx(-0.13, abs=0.005)  # the broad harsh change its SOURCE.md reports


def test_failed_calls_in_a_public_table_stay_unscored() -> None:
    table = read_table(_scores("hanna"))

    assert np.isnan(table.judge("j_mistral_7b_p1")).sum() == 253
    assert np.isnan(table.judge("j_orcaplatypus_13b_p4")).sum() == 82
    assert not np.isnan(table.judge("human")).any()
