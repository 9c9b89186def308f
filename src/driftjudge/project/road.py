"""The commands of a project folder, each from settings to outcome; the command line adds words and bars."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from driftjudge.judges.ledger import Spending
from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.errors import EpochError
from driftjudge.monitor.events import Acknowledged
from driftjudge.monitor.evidence import Cost
from driftjudge.monitor.scores import Failure
from driftjudge.monitor.verdict import Verdict
from driftjudge.project.anchor_file import frozen_anchors
from driftjudge.project.bench import Bench, FolderLock
from driftjudge.project.calibrating import read_inputs, take_baseline
from driftjudge.project.config import ProjectConfig
from driftjudge.project.errors import ProjectError
from driftjudge.project.feeds import Feed, FileFeed
from driftjudge.project.items import read_items
from driftjudge.project.progress import Meter
from driftjudge.project.record import Record, load_record, require_record
from driftjudge.project.state import log_head, open_watch
from driftjudge.project.watching import Outcome, Watcher
from driftjudge.tables import ScoreTable, read_table, write_table

Note = Callable[[str], None]


@dataclass(frozen=True)
class Calibrated:
    """A baseline, and what all the project's work cost so far."""

    record: Record
    spent: Spending
    new: bool
    """False where nothing had changed since the baseline that was there already."""


def calibrate(config: ProjectConfig, meter: Meter, *, restart: bool = False) -> Calibrated:
    """Take the baseline of a project; what an interrupted calibrate had answered is not asked again."""
    with FolderLock(config.state_folder):
        inputs = read_inputs(config)
        bench = _bench(config)
        old = load_record(config.state_folder)
        seen = log_head(config.state_folder, old) if old is not None else 0
        if old is not None and not restart:
            if not _differences(old, inputs.hashes(config), bench):
                return Calibrated(old, bench.spending(), new=False)
            if seen:
                changed = ", ".join(_differences(old, inputs.hashes(config), bench))
                raise ProjectError(
                    f"a watch already stands on the baseline, and {changed} changed since; accept a changed judge "
                    "with: driftjudge reanchor, or begin a new watch with: driftjudge calibrate --restart"
                )
        number = 1 if old is None else old.round + (1 if restart or seen else 0)

        async def work() -> Record:
            async with bench:
                return await take_baseline(config, bench, inputs, meter, round_number=number, monitor=f"watch-{number}")

        record = asyncio.run(work())
        record.save(config.state_folder)
        return Calibrated(record, _spent(config), new=True)


def reanchor(config: ProjectConfig, meter: Meter) -> Calibrated:
    """Accept the judge as it is configured now: new passes, new bars, and a new epoch of the watch."""
    with FolderLock(config.state_folder):
        old = require_record(config.state_folder)
        _check_settings(config, old)
        with open_watch(config.state_folder, old) as watch:  # finishes a re-anchoring that was cut short
            head = watch.head
        if head == 0:
            raise ProjectError("nothing was watched since calibrate; calibrate anew instead: driftjudge calibrate")
        fixed = replace(config, monitor=old.config)
        inputs = read_inputs(fixed)
        bench = _bench(fixed)

        async def work() -> Record:
            async with bench:
                return await take_baseline(
                    fixed,
                    bench,
                    inputs,
                    meter,
                    round_number=old.round + 1,
                    monitor=old.monitor,
                    after=head,
                    founding=old.config,
                )

        record = asyncio.run(work())
        record.save(config.state_folder)
        with open_watch(config.state_folder, record):
            pass  # puts the new baseline into the log
        return Calibrated(record, _spent(config), new=True)


@dataclass(frozen=True)
class Watched:
    """Where a watch stands after a run."""

    verdict: Verdict
    cost: Cost
    outcome: Outcome
    spent: Spending
    pending: int
    """Answers the monitor still waits for."""
    changed: tuple[str, ...]
    """In what the strong judge differs from that of the baseline, as far as settings show."""


def run(
    config: ProjectConfig,
    feed: Feed,
    meter: Meter,
    *,
    on_change: Callable[[Verdict], None],
    on_note: Note,
    patient: bool = False,
    keep_going: bool = False,
) -> Watched:
    """Watch a feed."""
    with FolderLock(config.state_folder):
        record = require_record(config.state_folder)
        _check_settings(config, record)
        anchors = frozen_anchors(config.anchors_file, config.rubric_names, config.score_range)
        if anchors.ids != record.anchors.ids or not np.array_equal(anchors.human(), record.anchors.human):
            raise ProjectError(
                "the anchors are not those of the baseline; restore them, or take new ones: driftjudge reanchor"
            )
        bench = _bench(config)
        changed = _tell_changes(record, bench, on_note)
        texts = {anchor.item.id: anchor.item for anchor in anchors.anchors}
        with open_watch(config.state_folder, record) as watch:
            watcher = Watcher(watch, bench, texts, meter, on_change=on_change, on_note=on_note)
            if isinstance(feed, FileFeed):
                watcher.check(feed.rows)

            async def work() -> None:
                async with bench:
                    meter.begin("watching", len(feed.rows) if isinstance(feed, FileFeed) else None)
                    await watcher.run(feed, patient=patient, keep_going=keep_going)
                    meter.end()

            try:
                asyncio.run(work())
            except KeyboardInterrupt:
                meter.end()
                on_note("stopped; run the same command again to go on")
            monitor = watch.monitor
            return Watched(
                monitor.verdict,
                monitor.cost,
                watcher.outcome,
                _spent(config),
                len(monitor.pending_items) + len(monitor.pending_anchors),
                changed,
            )


def acknowledge(config: ProjectConfig) -> Verdict:
    """Take note of a system verdict: the main family starts anew, in a new epoch."""
    with FolderLock(config.state_folder):
        record = require_record(config.state_folder)
        with open_watch(config.state_folder, record) as watch:
            before = watch.monitor.verdict
            if before.kind == "judge":
                raise EpochError("the verdict is judge; accept the judge as it is now with: driftjudge reanchor")
            watch.append([Acknowledged()])
            return before


@dataclass(frozen=True)
class Judged:
    """A file of items, scored into a table."""

    table: ScoreTable
    scored: int
    unscored: dict[str, int]
    """Items without scores, by reason."""
    spent: Spending


def judge_file(config: ProjectConfig, source: Path, role: str, out: Path, meter: Meter) -> Judged:
    """Score every item of a file; a table that is there already gets another judge."""
    with FolderLock(config.state_folder):
        items = read_items(source, config.items)
        before = read_table(out) if out.exists() else None
        ids = tuple(item.id for item in items)
        if before is not None and (before.ids != ids or before.rubrics != config.rubric_names):
            raise ProjectError(f"'{out}' holds other items or rubrics than '{source}'; name another file with --out")
        bench = Bench(config, (role,))
        bench.require([bench.runners[role].forecast(items)], f"'{source}'", f"{len(items):,} items")
        rows = {item.id: number for number, item in enumerate(items)}
        scores = np.full((len(items), len(config.rubrics)), np.nan)
        unscored: Counter[str] = Counter()

        async def work() -> None:
            async with bench:
                meter.begin("judging", len(items))
                async for item, judgement in bench.score(role, items, meter):
                    if isinstance(judgement.scores, Failure):
                        unscored[judgement.scores.reason] += 1
                    else:
                        scores[rows[item.id]] = judgement.scores
                meter.end()

        asyncio.run(work())
        judges = {**({} if before is None else before.scores), role: scores}
        table = ScoreTable(
            name=out.stem,
            ids=ids,
            strata=tuple(item.stratum for item in items),
            rubrics=config.rubric_names,
            scores=judges,
        )
        write_table(table, out)
        return Judged(table, len(items) - unscored.total(), dict(unscored), _spent(config))


def _bench(config: ProjectConfig) -> Bench:
    return Bench(config, ("strong",) if config.cheap is None else ("strong", "cheap"))


def _spent(config: ProjectConfig) -> Spending:
    from driftjudge.judges.cache import ScoreCache
    from driftjudge.project.bench import SCORES

    cache = ScoreCache(config.state_folder / SCORES)
    try:
        return cache.ledger.total()
    finally:
        cache.close()


def _differences(record: Record, inputs: dict[str, str], bench: Bench) -> list[str]:
    """What is not as it was when the baseline was taken."""
    found = [name for name, value in inputs.items() if record.inputs.get(name) != value]
    for role, then in (("strong", record.strong), ("cheap", record.cheap)):
        now = bench.judges[role].fingerprint if role in bench.judges else None
        if now != (then.fingerprint if then is not None else None):
            found.append(f"the {role} judge")
    return found


def _tell_changes(record: Record, bench: Bench, on_note: Note) -> tuple[str, ...]:
    """Say plainly where a judge is not the one of the baseline, and watch it all the same: anchors are for that."""
    cheap = bench.judges.get("cheap")
    if cheap is not None and record.cheap is not None and cheap.fingerprint != record.cheap.fingerprint:
        what = ", ".join(cheap.identity.changes(record.cheap))
        on_note(f"the cheap judge changed since calibrate ({what}); error rates hold, but its correction is another's")
    now = bench.judges["strong"].identity
    changed = now.changes(record.strong)
    if changed:
        on_note(
            f"the strong judge changed since calibrate ({', '.join(changed)}); it is watched like any other change, "
            "and if it scores the anchors differently the verdict will be judge; to accept it: driftjudge reanchor"
        )
    return changed


_PRICES = ("cheap_price", "strong_price")


def _check_settings(config: ProjectConfig, record: Record) -> None:
    """Settings of the monitor are fixed for the life of a watch; the prices may have been filled in."""
    for field in fields(MonitorConfig):
        now, then = getattr(config.monitor, field.name), getattr(record.config, field.name)
        if now != then and field.name not in _PRICES:
            section = {"rubrics": "rubrics", "strata": "items"}.get(field.name, "monitor")
            raise ProjectError(
                f"{field.name} in [{section}] was {then!r} at calibrate and is {now!r} now; set it back, or begin a "
                "new watch with: driftjudge calibrate --restart"
            )
