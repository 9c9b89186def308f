"""Running experiments: kept work, bad names, and figures that do not depend on how they were run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from driftjudge.lab.exhibits import Exhibit
from driftjudge.lab.experiments import NAMES, Options, experiment
from driftjudge.lab.page import page
from driftjudge.lab.runner import Task, command_of, run_tasks
from driftjudge.lab.setting import Source, open_setting, table_name
from driftjudge.report import save_picture
from driftjudge.tables import TableError

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def ignore(task: Task, exhibit: Exhibit) -> None:
    del task, exhibit


def task(name: str, dataset: str = "helpsteer2", seeds: int = 3) -> Task:
    return Task(name, Source(dataset), Options(seeds=seeds))


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_runs_draws_and_evaluates_its_claims(name: str, tmp_path: Path) -> None:
    found = run_tasks([task(name)], tmp_path, on_done=ignore, workers=1)[0]
    assert found.rows
    assert found.claims
    assert all(claim.figure for claim in found.claims)
    assert {type(claim.holds) for claim in found.claims} == {bool}
    chart = experiment(name)[1](found)
    if chart is not None:
        assert save_picture(chart, tmp_path / "figure.svg").stat().st_size > 1000
    body = json.loads((tmp_path / f"helpsteer2-{name}.json").read_text(encoding="utf-8"))
    assert body["command"].startswith(f"driftjudge reproduce {name} --dataset helpsteer2 --seeds 3")


def test_finished_work_is_kept_and_reread(tmp_path: Path) -> None:
    first = run_tasks([task("race")], tmp_path, on_done=ignore, workers=1)
    path = tmp_path / "helpsteer2-race.json"
    body = json.loads(path.read_text(encoding="utf-8"))
    body["title"] = "from the disk"
    path.write_text(json.dumps(body), encoding="utf-8")
    again = run_tasks([task("race")], tmp_path, on_done=ignore, workers=1)
    assert again[0].title == "from the disk"
    assert again[0].rows == first[0].rows


@pytest.mark.parametrize("damage", ["", "{", '{"key": "other"}'])
def test_cut_or_outdated_work_is_done_again(tmp_path: Path, damage: str) -> None:
    (tmp_path / "helpsteer2-race.json").write_text(damage, encoding="utf-8")
    assert run_tasks([task("race")], tmp_path, on_done=ignore, workers=1)[0].rows


def test_processes_and_no_processes_give_the_same_figures() -> None:
    tasks = [task("race"), task("guard")]
    alone = run_tasks(tasks, None, on_done=ignore, workers=1)
    spread = run_tasks(tasks, None, on_done=ignore, workers=2)
    assert [exhibit.to_json() for exhibit in alone] == [exhibit.to_json() for exhibit in spread]


def test_other_seeds_make_another_key() -> None:
    assert task("race", seeds=3).key() != task("race", seeds=4).key()


def test_an_unknown_experiment_lists_the_known_ones() -> None:
    with pytest.raises(TableError, match=r"unknown experiment 'tables'; known experiments: confusion, bump"):
        run_tasks([task("tables")], None, on_done=ignore)


def test_the_page_names_the_command_behind_each_figure(tmp_path: Path) -> None:
    tasks = [task("race"), task("propositions")]
    text = page(tasks, run_tasks(tasks, tmp_path, on_done=ignore, workers=1))
    assert all(f"`{command_of(one)}`" in text for one in tasks)
    assert "](helpsteer2-race.svg)" in text
    assert "propositions.svg" not in text


def test_a_table_called_scores_goes_by_its_folder() -> None:
    assert (table_name("a/hanna/scores.parquet"), table_name("mine.csv")) == ("hanna", "mine")


@pytest.mark.skipif(not SHARED.exists(), reason=f"the real tables in {SHARED.parent.name}/{SHARED.name} are not here")
@pytest.mark.parametrize(
    ("source", "change"),
    [
        (("hanna", "mistral_7b_p2", "orcaplatypus_13b_p1", "orcaplatypus_13b_p4"), "below"),
        (("summeval", "j_gpt35_star", "j_gpt35_mcq", "j_gpt35_rts"), "below"),
    ],
)
def test_a_real_table_has_its_own_changes_and_target(source: tuple[str, str, str, str], change: str) -> None:
    folder, cheap, strong, after = source
    path = SHARED / folder / "scores.parquet"
    setting = open_setting(Source(str(path), cheap=cheap, strong=strong, after=(after,)))
    assert setting.name == folder
    assert (setting.changes[after] < 0) == (change == "below")
    exhibit = run_tasks(
        [Task("confusion", Source(str(path), cheap=cheap, strong=strong, after=(after,)), Options(seeds=3))],
        None,
        on_done=ignore,
        workers=1,
    )[0]
    assert not exhibit.replica
    assert exhibit.rows[0].entries["judge"].measured == "0/0/3"


def test_a_table_that_lacks_a_role_says_which_and_how_to_name_it(tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("id,cheap,strong\na,0.5,0.5\n", encoding="utf-8")
    with pytest.raises(TableError, match=r"human.*--human"):
        open_setting(Source(str(table), after=("strong",)))
