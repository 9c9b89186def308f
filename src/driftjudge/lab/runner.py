"""Running experiments on all cores, resumably: a finished one is kept under a key of everything it depends on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

from driftjudge.lab.exhibits import Exhibit, markdown
from driftjudge.lab.experiments import Options, experiment
from driftjudge.lab.river_rivals import river_installed
from driftjudge.lab.setting import Source, open_setting, table_name
from driftjudge.tables import REPLICAS


class Work(Protocol):
    """What the runner can run: anything that knows its figures, its key and its place."""

    @property
    def name(self) -> str:
        """What progress shows."""

    @property
    def file_stem(self) -> str:
        """Where its outputs go, below the output folder."""

    @property
    def command(self) -> str:
        """The command that makes it again."""

    def key(self) -> str:
        """Changes with everything the figures depend on."""

    def check(self) -> None:
        """Refuse in one sentence what cannot be run."""

    def run(self) -> Exhibit:
        """Make the figures."""


W = TypeVar("W", bound=Work)


@dataclass(frozen=True)
class Task:
    """One experiment on one table."""

    name: str
    source: Source
    options: Options

    @property
    def file_stem(self) -> str:
        """Where its outputs go, below the output folder."""
        preset = "" if self.options.preset == "paper" else f"-{self.options.preset}"
        return f"{table_name(self.source.dataset)}-{self.name}{preset}"

    def key(self) -> str:
        """Changes when the settings, the table or the code behind the figures do."""
        digest = hashlib.sha256(json.dumps([self.name, asdict(self.source), asdict(self.options)]).encode())
        path = Path(self.source.dataset)
        if path.is_file():
            digest.update(path.read_bytes())
        digest.update(code_digest())
        digest.update(b"river" if river_installed() else b"")  # an experiment shows it where it is
        return digest.hexdigest()[:16]

    def check(self) -> None:
        """A bad name or table fails here, in one sentence."""
        experiment(self.name)
        open_setting(self.source)

    def run(self) -> Exhibit:
        """Run the experiment."""
        run, _ = experiment(self.name)
        return run(open_setting(self.source), self.options)

    @property
    def command(self) -> str:
        """The command that makes this exhibit again."""
        return command_of(self)


@lru_cache(maxsize=1)
def code_digest() -> bytes:
    """Of every source that figures depend on."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for part in ("stats", "monitor", "tables", "lab"):
        for source in sorted((package / part).rglob("*")):
            if source.suffix in (".py", ".toml"):
                digest.update(source.read_bytes())
    return digest.digest()


def run_tasks(
    tasks: Sequence[W], out: Path | None, *, on_done: Callable[[W, Exhibit], None], workers: int | None = None
) -> list[Exhibit]:
    """Run what is not there yet, in processes; report each as it comes; return all in the order given."""
    found: dict[W, Exhibit] = {}
    for task in tasks:
        kept = _kept(task, out)
        if kept is not None:
            found[task] = kept
            on_done(task, kept)
    missing = [task for task in tasks if task not in found]
    for task in missing:  # what cannot be run fails here, before any process is started
        task.check()
    count = min(workers or os.cpu_count() or 1, len(missing))
    if count <= 1:
        for task in missing:
            found[task] = _keep(task, _run(task), out)
            on_done(task, found[task])
    else:
        with ProcessPoolExecutor(count) as pool:
            futures = {pool.submit(_run, task): task for task in missing}
            for future in as_completed(futures):
                task = futures[future]
                found[task] = _keep(task, future.result(), out)
                on_done(task, found[task])
    return [found[task] for task in tasks]


def _run(task: Work) -> Exhibit:
    return task.run()


def _kept(task: Work, out: Path | None) -> Exhibit | None:
    path = None if out is None else out / f"{task.file_stem}.json"
    if path is None or not path.is_file():
        return None
    try:
        body: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Exhibit.from_json(body) if body.get("key") == task.key() else None
    except (json.JSONDecodeError, KeyError, TypeError):  # cut short by a crash: run it again
        return None


def _keep(task: Work, exhibit: Exhibit, out: Path | None) -> Exhibit:
    """Write the figures first to a neighbouring file, so that a crash never leaves half of them."""
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        body = {"key": task.key(), "command": task.command, **exhibit.to_json()}
        path = out / f"{task.file_stem}.json"
        scratch = path.with_suffix(".part")
        scratch.write_text(json.dumps(body, indent=1), encoding="utf-8")
        scratch.replace(path)
        path.with_suffix(".md").write_text(markdown(exhibit), encoding="utf-8")
    return exhibit


def command_of(task: Task) -> str:
    """The command that makes this exhibit again; of a table's path, only the end that names it."""
    source, options = task.source, task.options
    own = source.dataset not in REPLICAS
    dataset = "/".join(Path(source.dataset).parts[-2:]) if own else source.dataset
    words = ["driftjudge reproduce", task.name, "--dataset", dataset]
    if own:
        words += ["--cheap", source.cheap, "--strong", source.strong, "--human", source.human]
        words += ["--after", ",".join(source.after)]
    if source.target is not None:
        words += ["--target", ":".join(source.target)]
    return " ".join([*words, "--seeds", str(options.seeds), "--preset", options.preset])
