from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from driftjudge.tables import Columns, ScoreTable, read_table

WIDE = """item_id,stratum,cheap_tone,cheap_facts,strong_tone,strong_facts
a,x,0.1,0.2,0.3,0.4
b,y,0.5,0.6,0.7,0.8
"""
LONG = """item_id,stratum,rubric,cheap,strong
a,x,tone,0.1,0.3
b,y,tone,0.5,0.7
a,x,facts,0.2,0.4
b,y,facts,0.6,0.8
"""
TIDY = """item_id,stratum,rubric,judge,score
a,x,tone,cheap,0.1
a,x,facts,cheap,0.2
a,x,tone,strong,0.3
a,x,facts,strong,0.4
b,y,tone,cheap,0.5
b,y,facts,cheap,0.6
b,y,tone,strong,0.7
b,y,facts,strong,0.8
"""


def _csv(folder: Path, text: str) -> Path:
    path = folder / "scores.csv"
    path.write_text(text, encoding="utf-8")
    return path


def _read(folder: Path, text: str, columns: Columns | None = None) -> ScoreTable:
    return read_table(_csv(folder, text), columns)


def _assert_the_two_items(table: ScoreTable) -> None:
    assert table.ids == ("a", "b")
    assert table.strata == ("x", "y")
    assert table.rubrics == ("tone", "facts")
    assert table.judge_names == ("cheap", "strong")
    assert table.judge("cheap").tolist() == [[0.1, 0.2], [0.5, 0.6]]
    assert table.judge("strong").tolist() == [[0.3, 0.4], [0.7, 0.8]]


@pytest.mark.parametrize("text", [WIDE, LONG, TIDY], ids=["wide", "long", "tidy"])
def test_the_three_forms_give_the_same_table(tmp_path: Path, text: str) -> None:
    _assert_the_two_items(_read(tmp_path, text))


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson"])
def test_json_lines_give_the_same_table(tmp_path: Path, suffix: str) -> None:
    header, *rows = [line.split(",") for line in LONG.splitlines()]
    objects = [dict(zip(header, [*row[:3], *map(float, row[3:])], strict=True)) for row in rows]
    path = tmp_path / f"scores{suffix}"
    path.write_text("\n".join(map(json.dumps, objects)) + "\n\n", encoding="utf-8")

    _assert_the_two_items(read_table(path))


@pytest.mark.parametrize("text", [WIDE, LONG, TIDY], ids=["wide", "long", "tidy"])
def test_parquet_gives_the_same_table(tmp_path: Path, text: str) -> None:
    polars = pytest.importorskip("polars")
    path = tmp_path / "scores.parquet"
    polars.read_csv(_csv(tmp_path, text)).write_parquet(path)

    _assert_the_two_items(read_table(path))


def test_a_table_is_named_after_its_file_unless_it_is_given_a_name(tmp_path: Path) -> None:
    path = _csv(tmp_path, WIDE)

    assert read_table(path).name == "scores"
    assert read_table(str(path), name="ours").name == "ours"


@pytest.mark.parametrize("separator", "_.:")
def test_wide_columns_may_be_joined_by_any_of_three_separators(tmp_path: Path, separator: str) -> None:
    text = WIDE.replace("cheap_", f"cheap{separator}").replace("strong_", f"strong{separator}")

    _assert_the_two_items(_read(tmp_path, text))


def test_wide_judges_of_any_name_are_read_by_prefix(tmp_path: Path) -> None:
    text = WIDE.replace("cheap_", "mini_").replace("strong_", "big_")

    _assert_the_two_items(_read(tmp_path, text, Columns(judges={"cheap": "mini", "strong": "big"})))


def test_wide_judges_of_any_name_are_read_by_template(tmp_path: Path) -> None:
    text = "id,stratum,tone (mini),facts (mini),tone (big),facts (big)\na,x,.1,.2,.3,.4\nb,y,.5,.6,.7,.8\n"

    _assert_the_two_items(
        _read(tmp_path, text, Columns(judges={"cheap": "{rubric} (mini)", "strong": "{rubric} (big)"}))
    )


def test_a_longer_judge_name_is_not_taken_for_a_rubric_of_a_shorter_one(tmp_path: Path) -> None:
    text = "id,strong_tone,strong_v2_tone\na,0.1,0.9\n"

    table = _read(tmp_path, text, Columns(judges={"strong": "strong", "changed": "strong_v2"}))

    assert table.rubrics == ("tone",)
    assert table.judge("strong").item() == 0.1
    assert table.judge("changed").item() == 0.9


def test_bare_judge_columns_are_a_single_rubric(tmp_path: Path) -> None:
    table = _read(tmp_path, "id,cheap,strong\na,0.1,0.2\n")

    assert table.rubrics == ("score",)
    assert table.judge("strong").tolist() == [[0.2]]


def test_a_tidy_table_without_rubrics_is_a_single_rubric(tmp_path: Path) -> None:
    table = _read(tmp_path, "id,role,value\na,cheap,0.1\na,strong,0.2\n")

    assert table.rubrics == ("score",)
    assert table.judge("strong").tolist() == [[0.2]]


def test_long_judges_are_renamed_and_the_others_left_out(tmp_path: Path) -> None:
    text = LONG.replace("cheap,strong", "j_small,j_large")

    assert _read(tmp_path, text).judge_names == ("j_small", "j_large")
    table = _read(tmp_path, text, Columns(judges={"strong": "j_large"}))
    assert table.judge_names == ("strong",)
    assert table.judge("strong").tolist() == [[0.3, 0.4], [0.7, 0.8]]


def test_a_judge_column_may_be_named_without_its_customary_prefix(tmp_path: Path) -> None:
    text = LONG.replace("cheap,strong", "j_small,j_large")

    table = _read(tmp_path, text, Columns(judges={"cheap": "small", "strong": "large"}))

    _assert_the_two_items(table)


def test_the_same_column_may_serve_as_two_judges(tmp_path: Path) -> None:
    table = _read(tmp_path, LONG, Columns(judges={"strong": "strong", "changed": "strong"}))

    np.testing.assert_array_equal(table.judge("strong"), table.judge("changed"))


def test_tidy_judges_are_renamed(tmp_path: Path) -> None:
    text = TIDY.replace("cheap", "small").replace("strong", "large")

    _assert_the_two_items(_read(tmp_path, text, Columns(judges={"cheap": "small", "strong": "large"})))


def test_every_column_can_be_named(tmp_path: Path) -> None:
    text = TIDY.replace("item_id,stratum,rubric,judge,score", "key,kind,axis,by,points")
    columns = Columns(id="key", stratum="kind", rubric="axis", judge="by", score="points")

    _assert_the_two_items(_read(tmp_path, text, columns))


@pytest.mark.parametrize(
    "header",
    ["ID,Topic,criterion,role,value", "id,segment,metric,evaluator,score"],
)
def test_usual_column_names_are_recognised(tmp_path: Path, header: str) -> None:
    _assert_the_two_items(_read(tmp_path, TIDY.replace("item_id,stratum,rubric,judge,score", header)))


def test_the_form_can_be_forced(tmp_path: Path) -> None:
    text = "id,rubric,cheap_tone\na,ignored,0.5\n"

    assert _read(tmp_path, text, Columns(form="wide")).judge("cheap").tolist() == [[0.5]]


def test_a_table_without_strata_has_one(tmp_path: Path) -> None:
    assert _read(tmp_path, "id,cheap_tone\na,0.5\nb,0.5\n").strata == ("all", "all")


@pytest.mark.parametrize("text", [WIDE, LONG, TIDY], ids=["wide", "long", "tidy"])
def test_rubrics_are_chosen_and_ordered(tmp_path: Path, text: str) -> None:
    swapped = _read(tmp_path, text, Columns(rubrics=("facts", "tone")))
    assert swapped.rubrics == ("facts", "tone")
    assert swapped.judge("cheap").tolist() == [[0.2, 0.1], [0.6, 0.5]]

    one = _read(tmp_path, text, Columns(rubrics=("facts",)))
    assert one.rubrics == ("facts",)
    assert one.judge("strong").tolist() == [[0.4], [0.8]]


def test_scores_of_rubrics_left_out_are_not_looked_at(tmp_path: Path) -> None:
    text = "id,human_tone,human_sd\na,0.5,77\n"

    assert _read(tmp_path, text, Columns(rubrics=("tone",))).judge("human").tolist() == [[0.5]]


def test_items_keep_the_order_of_their_first_row(tmp_path: Path) -> None:
    text = "id,rubric,cheap\nz,tone,0.1\nb,tone,0.2\nz,facts,0.3\na,tone,0.4\n"

    table = _read(tmp_path, text)

    assert table.ids == ("z", "b", "a")
    np.testing.assert_array_equal(table.judge("cheap"), [[0.1, 0.3], [0.2, math.nan], [0.4, math.nan]])


def test_item_ids_stay_as_written(tmp_path: Path) -> None:
    assert _read(tmp_path, "id,cheap_tone\n007,0.5\n7,0.5\n").ids == ("007", "7")


def test_item_ids_that_are_numbers_become_text(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text('{"id": 7, "cheap_tone": 0.5}\n', encoding="utf-8")

    assert read_table(path).ids == ("7",)


@pytest.mark.parametrize("cell", ["", "nan", "NaN", "null", "  "])
def test_a_csv_cell_without_a_score_is_unscored(tmp_path: Path, cell: str) -> None:
    scores = _read(tmp_path, f"id,cheap_tone\na,{cell}\nb,0\n").judge("cheap")

    assert math.isnan(scores[0, 0])
    assert scores[1, 0] == 0.0


@pytest.mark.parametrize("cell", ["null", "NaN", '""', '"nan"'])
def test_a_json_value_without_a_score_is_unscored(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text(f'{{"id": "a", "cheap_tone": {cell}}}\n{{"id": "b", "cheap_tone": 1}}\n', encoding="utf-8")

    scores = read_table(path).judge("cheap")

    assert math.isnan(scores[0, 0])
    assert scores[1, 0] == 1.0


def test_a_json_object_without_the_key_is_unscored(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text('{"id": "a"}\n{"id": "b", "cheap_tone": 1}\n', encoding="utf-8")

    assert np.isnan(read_table(path).judge("cheap")).tolist() == [[True], [False]]


def test_a_json_verdict_of_true_or_false_is_a_score(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text('{"id": "a", "cheap_tone": true}\n{"id": "b", "cheap_tone": false}\n', encoding="utf-8")

    assert read_table(path).judge("cheap").tolist() == [[1.0], [0.0]]


def test_a_declared_scale_is_mapped_to_the_unit_interval(tmp_path: Path) -> None:
    scores = _read(tmp_path, "id,cheap_tone\na,1\nb,2\nc,5\nd,\n", Columns(scale=(1, 5))).judge("cheap")

    np.testing.assert_array_equal(scores[:, 0], [0.0, 0.25, 1.0, math.nan])


def test_a_scale_can_be_declared_per_rubric(tmp_path: Path) -> None:
    columns = Columns(scale={"tone": (-1, 1)})

    scores = _read(tmp_path, "id,cheap_tone,cheap_facts\na,-1,0.3\nb,0,0.4\n", columns).judge("cheap")

    assert scores.tolist() == [[0.0, 0.3], [0.5, 0.4]]


def test_a_judge_can_have_its_own_scale(tmp_path: Path) -> None:
    columns = Columns(scale=(0, 4), judge_scale={"human": (1, 7)})

    table = _read(tmp_path, "id,strong_tone,human_tone\na,2,7\nb,4,4\n", columns)

    assert table.judge("strong").tolist() == [[0.5], [1.0]]
    assert table.judge("human").tolist() == [[1.0], [0.5]]


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    assert _read(tmp_path, "\ufeffid,cheap_tone\na,0.5\n").ids == ("a",)


def test_quoted_cells_may_hold_commas_and_line_breaks(tmp_path: Path) -> None:
    assert _read(tmp_path, 'id,cheap_tone\n"a,\nb",0.5\n').ids == ("a,\nb",)
