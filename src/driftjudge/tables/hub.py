"""The paper's two datasets, from the Hugging Face hub or from files in the same schema, as items with human labels.

Both are read through `datasets`. Of each, a fixed number of items is taken in the order of a hash of their ids, so
that the choice depends neither on the order of the rows nor on a generator. The paper says how many it took (1,498),
not which.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from driftjudge.tables.errors import TableError
from driftjudge.tables.topics import topic_of

PAPER_ITEMS = 1498
HELPSTEER2 = "nvidia/HelpSteer2"
TLDR = "hf://datasets/openai/summarize_from_feedback@~parquet/axis"
"""The hub's Parquet copy: the dataset itself is a loading script, which `datasets` no longer runs."""

HELPSTEER2_RUBRICS = ("helpfulness", "correctness", "coherence", "complexity", "verbosity")
TLDR_RUBRICS = ("overall", "accuracy", "coverage", "coherence")
OTHER = "other"

_FORMATS = {".json": "json", ".jsonl": "json", ".parquet": "parquet"}


@dataclass(frozen=True)
class LabelledItem:
    """Texts to judge, with what humans said about them."""

    id: str
    texts: Mapping[str, str]
    stratum: str
    human: tuple[float, ...]
    """One rating of [0, 1] per rubric."""


@dataclass(frozen=True)
class LabelledItems:
    """Items of one dataset."""

    name: str
    rubrics: tuple[str, ...]
    items: tuple[LabelledItem, ...]


def load_helpsteer2(
    source: str | Path = HELPSTEER2,
    *,
    split: str = "train",
    limit: int = PAPER_ITEMS,
    topic: Callable[[str], str] = topic_of,
    cache: str | Path | None = None,
) -> LabelledItems:
    """HelpSteer2 (CC-BY-4.0, NVIDIA): prompts and responses, five attributes of 0 to 4, topics as strata.

    `source` is the hub's name or a file (JSON lines, gzipped or not, or Parquet) in the hub's schema.
    """
    items: dict[str, LabelledItem] = {}
    for number, row in enumerate(_rows(source, split, cache), start=1):
        where = f"HelpSteer2, row {number}"
        prompt, response = (_text(row, name, where) for name in ("prompt", "response"))
        human = tuple(_rating(row, name, 0, 4, where) for name in HELPSTEER2_RUBRICS)
        name = _id(prompt, response)
        # The same pair occurs more than once; the first labels stand.
        items.setdefault(name, LabelledItem(name, {"prompt": prompt, "response": response}, topic(prompt), human))
    return LabelledItems("helpsteer2", HELPSTEER2_RUBRICS, _chosen(items.values(), limit, source))


def load_tldr(
    source: str | Path = TLDR,
    *,
    split: str = "test",
    limit: int = PAPER_ITEMS,
    strata: int = 5,
    cache: str | Path | None = None,
) -> LabelledItems:
    """OpenAI's summarize-from-feedback axis evaluations: posts, summaries, four axes of 1 to 7, subreddits as strata.

    News articles, which have no subreddit, and rows without all four axes are left out. A summary that several workers
    rated is one item with their mean. The most frequent subreddits are strata of their own, the rest is `other`.
    """
    found: dict[str, tuple[dict[str, str], str, list[tuple[float, ...]]]] = {}
    for number, row in enumerate(_rows(source, split, cache), start=1):
        where = f"TL;DR, row {number}"
        info, summary = _table(row, "info", where), _table(row, "summary", where)
        axes = _table(summary, "axes", where)
        if not info.get("subreddit") or any(axes.get(name) is None for name in TLDR_RUBRICS):
            continue
        post, text = _text(info, "post", where), _text(summary, "text", where)
        ratings = tuple(_rating(axes, name, 1, 7, where) for name in TLDR_RUBRICS)
        texts = {"post": post, "summary": text}
        found.setdefault(_id(post, text), (texts, str(info["subreddit"]), []))[2].append(ratings)
    counts = Counter(subreddit for _, subreddit, _ in found.values())
    # By frequency, then by name: `most_common` alone would break ties by the order of the rows.
    own = set(sorted(counts, key=lambda name: (-counts[name], name))[: max(0, strata - 1)])
    items = [
        LabelledItem(name, texts, subreddit if subreddit in own else OTHER, _mean(ratings))
        for name, (texts, subreddit, ratings) in found.items()
    ]
    return LabelledItems("tldr", TLDR_RUBRICS, _chosen(items, limit, source))


def _rows(source: str | Path, split: str, cache: str | Path | None) -> Iterator[Mapping[str, Any]]:
    try:
        datasets = import_module("datasets")
    except ImportError:
        raise TableError(
            'Datasets of the hub need the package datasets, which is not installed; run: pip install "driftjudge[hub]".'
        ) from None
    where = None if cache is None else str(cache)
    try:
        if str(source).startswith("hf://"):
            files = f"{source}/{split}/*.parquet"
            return iter(datasets.load_dataset("parquet", data_files=files, split="train", cache_dir=where))
        if Path(source).exists():
            kind = _format(Path(source))
            return iter(datasets.load_dataset(kind, data_files=str(source), split="train", cache_dir=where))
        return iter(datasets.load_dataset(str(source), split=split, cache_dir=where))
    except TableError:
        raise
    except Exception as error:
        # What can go wrong between here and the hub is more than anybody could list.
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise TableError(
            f"'{source}' could not be loaded ({reason}); check the name and the connection, or give a file in its "
            "schema."
        ) from None


def _format(path: Path) -> str:
    suffixes = [suffix for suffix in path.suffixes if suffix != ".gz"]
    kind = _FORMATS.get(suffixes[-1].lower()) if suffixes else None
    if kind is None:
        raise TableError(f"'{path}' is no file of a dataset; use one of: {', '.join(_FORMATS)} (or .jsonl.gz).")
    return kind


def _chosen(items: Iterable[LabelledItem], limit: int, source: object) -> tuple[LabelledItem, ...]:
    if limit < 1:
        raise TableError(f"A table has at least one item, so the limit cannot be {limit}.")
    chosen = sorted(items, key=lambda one: one.id)[:limit]
    if not chosen:
        raise TableError(f"'{source}' holds no rated items; check the split.")
    return tuple(chosen)


def _id(*texts: str) -> str:
    return hashlib.sha256("\x00".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _table(row: Mapping[str, Any], name: str, where: str) -> Mapping[str, Any]:
    value = row.get(name)
    if not isinstance(value, Mapping):
        raise TableError(f"{where} has no table '{name}'; is it a file in the dataset's schema?")
    return value


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    value = row.get(name)
    if not isinstance(value, str):
        raise TableError(f"{where} has no text '{name}'; is it a file in the dataset's schema?")
    return value


def _rating(row: Mapping[str, Any], name: str, low: int, high: int, where: str) -> float:
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise TableError(f"{where} rates '{name}' {value!r}; human ratings lie between {low} and {high}.")
    return (value - low) / (high - low)


def _mean(ratings: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(sum(column) / len(ratings) for column in zip(*ratings, strict=True))
