"""What the defaults of `robust` were chosen on, and what was kept back to confirm them.

Written down before any result on the tables of the second kind was looked at:

* chosen on: both replicas with seeds from 1,000 on, and the tables khan_saq, hanna and summeval;
* kept back: the tables llmbar and topical_chat, and the seeds 0, 1, ... of both replicas, which every figure uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from driftjudge.lab.beyond.judges import Calls, Judge, Noisy
from driftjudge.lab.setting import Setting, Source, open_setting
from driftjudge.tables import Columns, ScoreTable, TableError, read_table
from driftjudge.tables.files import load_sheet
from driftjudge.tables.replicas import REPLICAS

REPEAT_NOISE = 0.03
"""Where a table holds one answer per item, how often a score moves one grid step when the judge is asked again."""


@dataclass(frozen=True)
class RealTable:
    """A public table with human labels and several real judges, and the changes of judge that are watched on it."""

    folder: str
    kept_back: bool
    """True when it was not used to choose anything."""
    step: float
    """The judge's grid, by which a repeated score may move."""
    changes: tuple[tuple[str, str, str], ...]
    """(what happened, judge before, judge after)."""
    cheap: str = ""
    """The cheap judge of its streams; none where the table is too small for streams."""
    noise: float = REPEAT_NOISE
    """0 where real repeats are at hand."""

    @property
    def standing(self) -> str:
        """For the reader."""
        return "kept back" if self.kept_back else "chosen on"


REAL_TABLES: tuple[RealTable, ...] = (
    RealTable(
        "khan_saq",
        kept_back=False,
        step=1.0,
        noise=0.0,
        changes=(
            ("claude 3.5 to 4.0", "j_claude_35_sonnet_full", "j_claude_40_sonnet_full"),
            ("gemini 1.5 to 2.5", "j_gemini_15_pro_full", "j_gemini_25_pro_full"),
            ("gpt-4o to o4-mini", "j_gpt_4o_none", "j_o4_mini_none"),
            ("gpt-4o to o3, mean-neutral", "j_gpt_4o_full", "j_o3_full"),
        ),
    ),
    RealTable(
        "hanna",
        kept_back=False,
        step=1.0 / 12.0,
        cheap="j_mistral_7b_p2",
        changes=(
            ("another prompt, harsher", "j_orcaplatypus_13b_p1", "j_orcaplatypus_13b_p4"),
            ("guidelines added, mean-neutral", "j_chatgpt_p1", "j_chatgpt_p3"),
        ),
    ),
    RealTable(
        "summeval",
        kept_back=False,
        step=0.25,
        cheap="j_gpt35_star",
        changes=(
            ("one criterion reworded", "j_gpt35_rts", "j_gpt35_altrts"),
            ("options reworded, near-null", "j_gpt35_mcq", "j_gpt35_altmcq"),
        ),
    ),
    RealTable(
        "llmbar",
        kept_back=True,
        step=0.5,
        cheap="j_llama2_vanilla",
        changes=(
            ("version bump, mean-neutral", "j_gpt35_0301_vanilla", "j_gpt35_0613_vanilla"),
            ("version bump, chain of thought", "j_gpt35_0301_cot", "j_gpt35_0613_cot"),
        ),
    ),
    RealTable(
        "topical_chat",
        kept_back=True,
        step=0.05,
        cheap="j_gpt35_freetext",
        changes=(
            ("analysis before the rating", "j_gpt35_score", "j_gpt35_analyze_rate"),
            ("evaluation steps added", "j_gpt35_score", "j_gpt35_score_cot"),
        ),
    ),
)

KEPT_BACK = tuple(real.folder for real in REAL_TABLES if real.kept_back)


def real_table(folder: str) -> RealTable:
    """The table of that name."""
    return next(real for real in REAL_TABLES if real.folder == folder)


def scores_file(data: str, folder: str) -> Path:
    """Where its scores lie below the folder of real tables."""
    return Path(data) / folder / "scores.parquet"


@lru_cache(maxsize=8)
def replica(dataset: str) -> Setting:
    """A shipped replica with its scenario."""
    if dataset not in REPLICAS:
        raise TableError(f"unknown replica {dataset!r}; use {', '.join(REPLICAS)}")
    return open_setting(Source(dataset))


@dataclass(frozen=True)
class Upgrade:
    """One change of judge on one table: who judges before and after, on items that both scored."""

    name: str
    table: ScoreTable
    before: Judge
    after: Judge
    shift: float
    """Mean of after minus before."""


@lru_cache(maxsize=8)
def upgrades(data: str, folder: str) -> tuple[Upgrade, ...]:
    """The changes of judge of a real table."""
    real = real_table(folder)
    path = scores_file(data, folder)
    wanted = {judge: judge for _, *pair in real.changes for judge in pair} | {"human": "human"}
    table = read_table(path, Columns(judges=wanted), name=folder)
    found = []
    for name, before, after in real.changes:
        complete = np.all([~np.isnan(table.judge(judge)).any(axis=1) for judge in (before, after, "human")], axis=0)
        kept = table.take(np.flatnonzero(complete))
        shift = float(np.mean(kept.judge(after) - kept.judge(before)))
        judges = (_judge(data, real, kept, before), _judge(data, real, kept, after))
        found.append(Upgrade(name, kept, judges[0], judges[1], shift))
    return tuple(found)


def _judge(data: str, real: RealTable, table: ScoreTable, judge: str) -> Judge:
    if real.noise > 0.0:
        return Noisy(table.judge(judge), real.noise, real.step)
    return Calls(_repeats(data, real.folder, judge, table.ids))


@lru_cache(maxsize=32)
def _repeats(
    data: str, folder: str, judge: str, ids: tuple[str, ...]
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Real repeated calls, items x calls x 1 rubric; NaN where a call failed."""
    sheet = load_sheet(Path(data) / folder / "repeats.parquet")
    place = {item: i for i, item in enumerate(ids)}
    calls = np.full((len(ids), 3, 1), np.nan)
    columns = [sheet.numbers(f"call{n}") for n in (1, 2, 3)]
    for row, (item, who) in enumerate(zip(sheet.texts("item_id"), sheet.texts("judge"), strict=True)):
        if who == judge and item in place:
            calls[place[item], :, 0] = [column[row] for column in columns]
    return calls


@lru_cache(maxsize=8)
def real_setting(data: str, folder: str) -> Setting:
    """The streams of a real table, with its first change of judge."""
    real = real_table(folder)
    _, before, after = real.changes[0]
    source = Source(str(scores_file(data, folder)), cheap=real.cheap, strong=before, after=(after,))
    return open_setting(source)
