"""Each thing that can be wrong with a file is answered with one sentence that says what, where and what to do."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from driftjudge.tables import Columns, TableError, read_table


def _refused(path: Path, columns: Columns | None = None) -> str:
    with pytest.raises(TableError) as caught:
        read_table(path, columns)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    return message


def _refused_text(folder: Path, text: str, columns: Columns | None = None, suffix: str = ".csv") -> str:
    path = folder / f"scores{suffix}"
    path.write_text(text, encoding="utf-8")
    return _refused(path, columns)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "no file '" in _refused(tmp_path / "none.csv")


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()

    assert "no file '" in _refused(tmp_path / "folder.csv")


def test_an_unsupported_file_type_is_answered_with_the_supported_ones(tmp_path: Path) -> None:
    message = _refused_text(tmp_path, "id", suffix=".xlsx")

    assert "scores.xlsx" in message
    assert ".csv, .jsonl, .ndjson, .parquet" in message


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".ndjson", ".parquet"])
def test_an_empty_file_is_refused(tmp_path: Path, suffix: str) -> None:
    assert "is empty" in _refused_text(tmp_path, "", suffix=suffix)


@pytest.mark.parametrize(("suffix", "text"), [(".csv", "id,cheap_tone\n"), (".csv", "\n"), (".jsonl", "\n\n")])
def test_a_file_without_rows_is_refused(tmp_path: Path, suffix: str, text: str) -> None:
    assert "has no rows" in _refused_text(tmp_path, text, suffix=suffix)


def test_a_truncated_parquet_file_is_refused(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    path = tmp_path / "scores.parquet"
    polars.DataFrame({"id": [str(i) for i in range(1000)], "cheap_tone": [0.5] * 1000}).write_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])

    message = _refused(path)

    assert "scores.parquet" in message
    assert "may be truncated" in message


def test_a_parquet_file_without_rows_is_refused(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    path = tmp_path / "scores.parquet"
    polars.DataFrame({"id": [], "cheap_tone": []}).write_parquet(path)

    assert "has no rows" in _refused(path)


def test_parquet_without_polars_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)  # makes the import fail

    message = _refused_text(tmp_path, "PAR1", suffix=".parquet")

    assert 'pip install "driftjudge[tables]"' in message


def test_a_truncated_json_line_is_counted(tmp_path: Path) -> None:
    text = '{"id": "a", "cheap_tone": 0.5}\n\n{"id": "b", "chea'

    assert "not valid JSON at line 3" in _refused_text(tmp_path, text, suffix=".jsonl")


def test_a_json_line_that_is_no_object_is_counted(tmp_path: Path) -> None:
    assert "no JSON object at line 2" in _refused_text(tmp_path, '{"id": "a"}\n[1]\n', suffix=".jsonl")


@pytest.mark.parametrize("row", ["b", "b,x,0.5,0.5"])
def test_a_csv_row_of_another_length_is_counted(tmp_path: Path, row: str) -> None:
    message = _refused_text(tmp_path, f"id,stratum,cheap_tone\na,x,0.5\n{row}\n")

    assert re.search(r"\d fields at row 3 but 3 in its header", message)


def test_a_csv_file_that_ends_inside_quotes_is_refused(tmp_path: Path) -> None:
    assert "not valid CSV at row 2" in _refused_text(tmp_path, 'id,cheap_tone\n"a,0.5')


def test_a_doubled_csv_column_is_named(tmp_path: Path) -> None:
    assert "column 'cheap_tone' more than once" in _refused_text(tmp_path, "id,cheap_tone,cheap_tone\na,0.5,0.6\n")


def test_text_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_bytes("id,cheap_tone\nä,0.5\n".encode("latin-1"))

    assert "not UTF-8" in _refused(path)


def test_a_table_without_ids_is_answered_with_its_columns_and_the_setting(tmp_path: Path) -> None:
    message = _refused_text(tmp_path, "name,cheap_tone\na,0.5\n")

    assert "no column for the id (looked for item_id and id)" in message
    assert "set 'id' to one of: name, cheap_tone" in message


@pytest.mark.parametrize(
    ("columns", "setting"),
    [
        (Columns(id="uuid"), "id"),
        (Columns(stratum="uuid"), "stratum"),
        (Columns(rubric="uuid"), "rubric"),
        (Columns(judge="uuid"), "judge"),
        (Columns(judge="id", score="uuid"), "score"),
    ],
    ids=["id", "stratum", "rubric", "judge", "score"],
)
def test_a_named_column_that_is_not_there_is_answered_with_those_that_are(
    tmp_path: Path, columns: Columns, setting: str
) -> None:
    message = _refused_text(tmp_path, "id,cheap_tone\na,0.5\n", columns)

    assert f"no column 'uuid' for the {setting}; set '{setting}' to one of: id, cheap_tone" in message


def test_a_wide_table_without_judges_is_answered_with_its_columns_and_the_setting(tmp_path: Path) -> None:
    message = _refused_text(tmp_path, "id,tone,facts\na,0.5,0.5\n")

    assert "set 'judges'" in message
    assert "tone, facts" in message


def test_a_long_table_without_judges_is_answered_with_its_columns_and_the_setting(tmp_path: Path) -> None:
    message = _refused_text(tmp_path, "id,rubric,mini\na,tone,0.5\n")

    assert "looked for cheap, strong, human and j_*" in message
    assert "set 'judges' to name them among: id, rubric, mini" in message


@pytest.mark.parametrize(
    "text",
    ["id,cheap_tone\na,0.5\n", "id,rubric,cheap\na,tone,0.5\n", "id,judge,score\na,cheap,0.5\n"],
    ids=["wide", "long", "tidy"],
)
def test_judges_that_are_not_in_the_file_are_answered_with_what_is(tmp_path: Path, text: str) -> None:
    message = _refused_text(tmp_path, text, Columns(judges={"cheap": "cheap", "strong": "gpt"}))

    assert "'strong'" in message
    assert "'gpt'" in message
    assert "cheap" in message.split("set 'judges'")[1]


def test_a_very_wide_file_is_not_listed_in_full(tmp_path: Path) -> None:
    names = ",".join(f"column{i}" for i in range(500))

    message = _refused_text(tmp_path, f"{names}\n{',' * 499}\n")

    assert "column29 and 470 more" in message


@pytest.mark.parametrize("columns", [Columns(rubrics=("style",)), Columns(scale={"style": (0, 4)})])
def test_a_rubric_that_is_not_in_the_file_is_answered_with_those_that_are(tmp_path: Path, columns: Columns) -> None:
    message = _refused_text(tmp_path, "id,cheap_tone,cheap_facts\na,0.5,0.5\n", columns)

    assert "no rubric 'style'" in message
    assert "tone, facts" in message


def test_a_judge_scale_for_nobody_is_refused(tmp_path: Path) -> None:
    message = _refused_text(tmp_path, "id,cheap_tone\na,0.5\n", Columns(judge_scale={"human": (1, 7)}))

    assert "no judge 'human'; set 'judge_scale' to judges among: cheap" in message


@pytest.mark.parametrize("scale", [(4, 0), (1, 1), (0, float("inf")), (float("nan"), 1)])
def test_a_scale_that_is_no_range_is_refused(scale: tuple[float, float]) -> None:
    settings: list[dict[str, Any]] = [{"scale": scale}, {"scale": {"tone": scale}}, {"judge_scale": {"human": scale}}]
    for setting in settings:
        with pytest.raises(TableError, match="is not a range"):
            Columns(**setting)


def test_a_form_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TableError, match="no table form 'deep'; choose one of: auto, wide, long, tidy"):
        Columns(form="deep")  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["-0.5", "4.5", "inf"])
def test_a_score_outside_the_declared_range_is_named_with_its_place_and_the_range(tmp_path: Path, value: str) -> None:
    message = _refused_text(tmp_path, f"id,cheap_tone\na,1\nb,{value}\n", Columns(scale=(0, 4)))

    for part in (f"score {value}", "item 'b'", "rubric 'tone'", "judge 'cheap'", "range 0 to 4", "--scale"):
        assert part in message


def test_text_where_a_score_should_be_is_named_with_its_row(tmp_path: Path) -> None:
    message = _refused_text(tmp_path, "id,cheap_tone\na,0.5\nb,good\n")

    assert "'good' in column 'cheap_tone' at row 3" in message


def test_a_list_where_a_score_should_be_is_named_with_its_line(tmp_path: Path) -> None:
    message = _refused_text(tmp_path, '{"id": "a", "cheap_tone": [1]}\n', suffix=".jsonl")

    assert "[1] in column 'cheap_tone' at row 1" in message


@pytest.mark.parametrize(
    "text",
    [
        "id,cheap_tone\na,0.5\nb,0.5\na,0.5\n",
        "id,rubric,cheap\na,tone,0.5\nb,tone,0.5\na,tone,\n",
        "id,rubric,judge,score\na,tone,cheap,0.5\nb,tone,cheap,0.5\na,tone,cheap,0.6\n",
    ],
    ids=["wide", "long", "tidy"],
)
def test_a_score_given_twice_is_named(tmp_path: Path, text: str) -> None:
    assert "item 'a' on rubric 'tone' by judge 'cheap' more than once" in _refused_text(tmp_path, text)


def test_an_item_in_two_strata_is_named_with_both(tmp_path: Path) -> None:
    message = _refused_text(tmp_path, "id,stratum,rubric,cheap\na,x,tone,0.5\na,y,facts,0.5\n")

    assert "item 'a' in stratum 'x' and in stratum 'y'" in message


@pytest.mark.parametrize("column", ["id", "stratum", "rubric"])
def test_a_row_without_a_label_is_counted(tmp_path: Path, column: str) -> None:
    row = {"id": "b", "stratum": "x", "rubric": "tone"} | {column: ""}

    message = _refused_text(tmp_path, f"id,stratum,rubric,cheap\na,x,tone,0.5\n{','.join(row.values())},0.5\n")

    assert f"nothing in column '{column}' at row 3" in message
