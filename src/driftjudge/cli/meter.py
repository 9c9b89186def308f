"""Progress bars of work that costs money: how far, what it cost so far, how long it still takes."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from driftjudge.judges.protocol import Judgement


class BarMeter:
    """A bar on standard error; silent where nobody looks or somebody wants JSON."""

    def __init__(self, *, quiet: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.progress import TimeRemainingColumn as TimeLeft

        console = Console(stderr=True)
        self._progress: Progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[cost]}"),
            TimeElapsedColumn(),
            TimeLeft(),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self._task: TaskID | None = None
        self._dollars = 0.0
        self._calls = self._unpriced = 0

    def __enter__(self) -> BarMeter:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def begin(self, what: str, total: int | None) -> None:
        """Show a bar."""
        self._task = self._progress.add_task(what, total=total, cost=self.cost)

    def step(self, judgement: Judgement | None = None, count: int = 1) -> None:
        """Move it, and add what the answer cost."""
        if judgement is not None:
            self._calls += judgement.usage.calls
            self._dollars += judgement.usage.dollars or 0.0
            self._unpriced += judgement.usage.calls if judgement.usage.dollars is None else 0
        if self._task is not None:
            self._progress.update(self._task, advance=count, cost=self.cost)

    def end(self) -> None:
        """Take it away."""
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task = None

    @property
    def cost(self) -> str:
        """What this work cost so far."""
        if self._calls and self._unpriced == self._calls:
            return f"{self._calls:,} calls"
        return f"${self._dollars:.4f}, {self._calls:,} calls"

    def say(self, sentence: str) -> None:
        """A line on standard error, above the bar."""
        self._progress.console.print(sentence, highlight=False, soft_wrap=True, markup=False)
