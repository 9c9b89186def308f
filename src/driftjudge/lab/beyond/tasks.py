"""The parts as work for the runner: one task per question and table."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from driftjudge.lab.beyond.options import BeyondOptions
from driftjudge.lab.beyond.split import REAL_TABLES, scores_file
from driftjudge.lab.exhibits import Exhibit
from driftjudge.lab.runner import code_digest
from driftjudge.tables import TableError
from driftjudge.tables.replicas import REPLICAS

PARTS = (
    "false_judge_alarms",
    "false_system_alarms",
    "verdicts",
    "age",
    "judge_changes",
    "local_judge",
    "both",
    "oracle",
    "failing_judge",
    "tried",
)
"""In the order of the page."""


def part_module(part: str) -> ModuleType:
    """The module that answers the question."""
    return import_module(f"driftjudge.lab.beyond.parts.{part}")


@dataclass(frozen=True)
class BeyondTask:
    """One question on one table."""

    part: str
    dataset: str
    options: BeyondOptions

    @property
    def name(self) -> str:
        """What progress shows."""
        return f"{self.part}, {self.dataset}"

    @property
    def file_stem(self) -> str:
        """Where its outputs go, below the output folder."""
        return f"{self.part}-{self.dataset}"

    def key(self) -> str:
        """Changes when the seeds, the table or the code behind the figures do; not with where the tables lie."""
        digest = hashlib.sha256(json.dumps([self.part, self.dataset, asdict(self.options)["seeds"]]).encode())
        if self.dataset not in REPLICAS and self.options.data is not None:
            for path in sorted(scores_file(self.options.data, self.dataset).parent.glob("*.parquet")):
                digest.update(path.read_bytes())
        digest.update(code_digest())
        return digest.hexdigest()[:16]

    def check(self) -> None:
        """Refuse in one sentence what cannot be run."""
        if self.part not in PARTS:
            raise TableError(f"unknown part {self.part!r}; known parts: {', '.join(PARTS)}")
        if self.dataset not in REPLICAS:
            data = self.options.data
            if data is None or not scores_file(data, self.dataset).is_file():
                raise TableError(f"{self.dataset} is a real table; name the folder it lies in with --data")

    def run(self) -> Exhibit:
        """Answer the question."""
        exhibit: Exhibit = part_module(self.part).run(self.dataset, self.options)
        return exhibit

    @property
    def command(self) -> str:
        """The command that makes this exhibit again."""
        data = "" if self.dataset in REPLICAS else " --data DIR"
        return f"driftjudge reproduce beyond --seeds {self.options.seeds}{data}"


def beyond_tasks(options: BeyondOptions) -> tuple[list[BeyondTask], list[str]]:
    """Every question on every table that is at hand, and the real tables that are not."""
    here = [
        real.folder
        for real in REAL_TABLES
        if options.data is not None and scores_file(options.data, real.folder).is_file()
    ]
    missing = [real.folder for real in REAL_TABLES if real.folder not in here]
    if options.data is not None and not Path(options.data).is_dir():
        raise TableError(f"there is no folder {options.data!r}; --data names the folder of the real tables")
    tasks = [
        BeyondTask(part, dataset, options)
        for part in PARTS
        for dataset in part_module(part).DATASETS
        if dataset in REPLICAS or dataset in here
    ]
    return tasks, missing
