"""The very same kernels as plain Python: a process of its own in which numba compiles nothing.

It stays alive and answers one request per line, so that its repetitions can take turns with everybody else's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from types import TracebackType
from typing import IO

from benchmarks.contenders import MODES, Outcome, Timing
from benchmarks.world import PRESETS, Preset
from driftjudge.stats._jit import COMPILED


class PlainPython:
    """The parent's end of the process."""

    def __enter__(self) -> PlainPython:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.plain"],
            env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()  # closes its input, which ends it

    def run(self, mode: str, preset: Preset, items: int) -> Outcome:
        """One run of `MODES[mode]` over there."""
        ask, answer = self._process.stdin, self._process.stdout
        assert ask is not None
        assert answer is not None
        ask.write(json.dumps([mode, preset, items]) + "\n")
        ask.flush()
        line = answer.readline()
        if not line:
            raise RuntimeError(f"the plain-Python process ended in {mode}/{preset}; its own message stands above")
        processor, wall, system, judge = json.loads(line)
        return Outcome(Timing(processor, wall), (system, judge))


def serve(requests: IO[str], answers: IO[str]) -> None:
    """Answer until the input ends."""
    if COMPILED:
        raise RuntimeError("kernels are compiled here; start this with NUMBA_DISABLE_JIT=1")
    for preset in PRESETS:  # imports, caches and first-time look-ups are not the item's cost
        MODES["online"](preset, 100)
    for line in requests:
        mode, preset, items = json.loads(line)
        done = MODES[mode](preset, items)
        answers.write(json.dumps([done.timing.processor, done.timing.wall, *done.evidence]) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
