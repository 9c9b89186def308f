"""The loaders, on small files in the very schemas of the hub: no hub is reached."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from driftjudge.tables import TableError
from driftjudge.tables.hub import HELPSTEER2_RUBRICS, TLDR_RUBRICS, LabelledItems, load_helpsteer2, load_tldr

datasets: Any = pytest.importorskip("datasets", reason="datasets is not installed: it comes with the extra hub")


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    datasets.disable_progress_bars()


def _steered(number: int, prompt: str = "Who wrote Hamlet?", **ratings: Any) -> dict[str, Any]:
    rated = dict(zip(HELPSTEER2_RUBRICS, (4, 3, 4, 1, 2), strict=True)) | ratings
    return {"prompt": f"{prompt} ({number})", "response": f"Shakespeare, {number}.", **rated}


def _jsonl(folder: Path, rows: Sequence[Mapping[str, Any]], name: str = "train.jsonl.gz") -> Path:
    """As the hub stores HelpSteer2."""
    path = folder / name
    text = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return path


def _helpsteer2(folder: Path, rows: Sequence[Mapping[str, Any]], **more: Any) -> LabelledItems:
    return load_helpsteer2(_jsonl(folder, rows), cache=folder / "cache", **more)


def _axis(number: int, subreddit: str | None = "relationships", worker: str = "w1", **axes: Any) -> dict[str, Any]:
    rated = dict.fromkeys(TLDR_RUBRICS, 4) | {"compatible": None} | axes
    post = {"id": f"t3_{number}", "post": f"My post, {number}.", "title": "A title", "subreddit": subreddit}
    info = post | {"site": None, "article": None if subreddit else "News."}
    summary = {"text": f"Post {number} in short.", "policy": "sup4", "note": "ok", "axes": rated}
    return {"info": info, "summary": summary, "worker": worker, "batch": "tldraxis1", "split": "test"}


def _tldr(folder: Path, rows: Sequence[Mapping[str, Any]], **more: Any) -> LabelledItems:
    """As the hub stores the axis evaluations: Parquet with nested tables."""
    text, number = datasets.Value("string"), datasets.Value("int32")
    features = datasets.Features(
        {
            "info": dict.fromkeys(("id", "post", "title", "subreddit", "site", "article"), text),
            "summary": {
                **dict.fromkeys(("text", "policy", "note"), text),
                "axes": {**dict.fromkeys(TLDR_RUBRICS, number), "compatible": datasets.Value("bool")},
            },
            **dict.fromkeys(("worker", "batch", "split"), text),
        }
    )
    path = folder / "0000.parquet"
    datasets.Dataset.from_list([dict(row) for row in rows], features=features).to_parquet(path)
    return load_tldr(path, cache=folder / "cache", **more)


def test_helpsteer2_gives_texts_topics_and_ratings_in_the_unit_interval(tmp_path: Path) -> None:
    found = _helpsteer2(tmp_path, [_steered(1), _steered(2, "Write a poem about rain")])
    assert found.rubrics == HELPSTEER2_RUBRICS
    by_prompt = {one.texts["prompt"]: one for one in found.items}
    one = by_prompt["Who wrote Hamlet? (1)"]
    assert one.texts["response"] == "Shakespeare, 1."
    assert one.human == (1.0, 0.75, 1.0, 0.25, 0.5)
    assert one.stratum == "factual_qa"
    assert by_prompt["Write a poem about rain (2)"].stratum == "creative"


def test_which_items_are_taken_does_not_depend_on_the_order_of_the_rows(tmp_path: Path) -> None:
    rows = [_steered(number) for number in range(20)]
    chosen = [
        [one.id for one in load_helpsteer2(_jsonl(tmp_path, given, name), limit=7, cache=tmp_path / "cache").items]
        for given, name in ((rows, "a.jsonl"), (rows[::-1], "b.jsonl.gz"))
    ]
    assert chosen[0] == chosen[1]
    assert len(set(chosen[0])) == 7


def test_a_pair_that_occurs_twice_is_one_item(tmp_path: Path) -> None:
    assert len(_helpsteer2(tmp_path, [_steered(1), _steered(1, helpfulness=0)]).items) == 1


def test_topics_of_ones_own_may_be_given(tmp_path: Path) -> None:
    assert _helpsteer2(tmp_path, [_steered(1)], topic=lambda _: "mine").items[0].stratum == "mine"


def test_tldr_gives_posts_summaries_and_ratings_in_the_unit_interval(tmp_path: Path) -> None:
    found = _tldr(tmp_path, [_axis(1, overall=7, accuracy=1, coverage=4, coherence=5)])
    (one,) = found.items
    assert one.texts == {"post": "My post, 1.", "summary": "Post 1 in short."}
    assert one.human == pytest.approx((1.0, 0.0, 0.5, 4 / 6))
    assert found.rubrics == TLDR_RUBRICS


def test_workers_who_rated_the_same_summary_are_averaged(tmp_path: Path) -> None:
    found = _tldr(tmp_path, [_axis(1, worker="w1", overall=7), _axis(1, worker="w2", overall=4)])
    (one,) = found.items
    assert one.human[0] == pytest.approx(0.75)


def test_news_and_half_rated_summaries_are_left_out(tmp_path: Path) -> None:
    found = _tldr(tmp_path, [_axis(1), _axis(2, subreddit=None), _axis(3, coherence=None)])
    assert [one.texts["post"] for one in found.items] == ["My post, 1."]


def test_the_most_frequent_subreddits_are_strata_and_the_rest_is_other(tmp_path: Path) -> None:
    names = ["relationships"] * 4 + ["AskReddit"] * 3 + ["tifu"] * 2 + ["dogs", "cats"]
    found = _tldr(tmp_path, [_axis(number, name) for number, name in enumerate(names)], strata=4)
    assert {one.stratum for one in found.items} == {"relationships", "AskReddit", "tifu", "other"}


@pytest.mark.parametrize("rating", [5, -1, 2.5e9, "4", None, True])
def test_a_rating_off_its_scale_is_refused_with_its_row(tmp_path: Path, rating: Any) -> None:
    with pytest.raises(TableError, match=r"HelpSteer2, row 1 rates 'coherence' .*between 0 and 4"):
        _helpsteer2(tmp_path, [_steered(1, coherence=rating)])


def test_a_file_in_another_schema_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="row 1 has no text 'prompt'"):
        _helpsteer2(tmp_path, [{"question": "why?"}])
    with pytest.raises(TableError, match="TL;DR, row 1 has no table 'info'"):
        load_tldr(_jsonl(tmp_path, [_steered(1)], "other.jsonl"), cache=tmp_path / "cache")


def test_a_file_of_another_kind_and_a_broken_one_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text("prompt,response\n", encoding="utf-8")
    with pytest.raises(TableError, match=r"use one of: \.json"):
        load_helpsteer2(path)
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1, or is it?")
    with pytest.raises(TableError, match="could not be loaded"):
        load_helpsteer2(broken, cache=tmp_path / "cache")


def test_a_limit_of_nothing_and_a_split_without_ratings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="the limit cannot be 0"):
        _helpsteer2(tmp_path, [_steered(1)], limit=0)
    with pytest.raises(TableError, match="holds no rated items"):
        _tldr(tmp_path, [_axis(1, subreddit=None)])
