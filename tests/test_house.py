"""Promises about the repository itself: its pins, its files, its wheel, its public names."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "driftjudge"
PINS = sorted((ROOT / "requirements").glob("*.txt"))

PIN = re.compile(r"[a-z0-9-]+==[0-9][0-9a-z.]*( ; [A-Za-z_0-9.'!=<> ()-]+)?( --hash=sha256:[0-9a-f]{64})+")
ELSEWHERE = re.compile(
    r"(?<![\w.])/(?:home|Users|root|opt|work)/\w|[A-Z]:\\Users\\|file:/{2}"
    r"|\b(?:pypi|pythonhosted|anaconda|npmjs)\.(?:org|com)\b|\.(?:jfrog\.io|pkg\.dev)\b"
)


def _project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def _pins(path: Path) -> list[str]:
    """The file's logical lines, each a requirement with its hashes."""
    return re.sub(r" \\\n\s+", " ", path.read_text(encoding="utf-8")).splitlines()


def _groups() -> dict[str, list[str]]:
    groups: dict[str, list[str]] = _project()["dependency-groups"]
    return groups


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    pytest.importorskip("hatchling", reason="the build backend is not installed: run `make setup`")
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return zipfile.ZipFile(next(out.glob("*.whl")))


def test_there_are_pins_for_development_and_for_the_benchmarks() -> None:
    assert [path.name for path in PINS] == ["bench.txt", "dev.txt", "model.txt"]


@pytest.mark.parametrize("path", PINS, ids=lambda path: path.name)
def test_a_pin_is_a_name_a_version_and_hashes_and_never_an_address(path: Path) -> None:
    assert [line for line in _pins(path) if not PIN.fullmatch(line)] == []


@pytest.mark.parametrize(("path", "group"), [("dev.txt", "dev"), ("bench.txt", "dev"), ("bench.txt", "bench")])
def test_the_pins_satisfy_everything_the_project_declares(path: str, group: str) -> None:
    pinned = dict(line.split()[0].split("==") for line in _pins(ROOT / "requirements" / path))
    project = _project()["project"]
    declared = [*project["dependencies"], *_groups()[group], *_project()["build-system"]["requires"]]
    declared += [entry for extra in project["optional-dependencies"].values() for entry in extra]
    wanted = [need for need in map(Requirement, declared) if need.name != project["name"]]
    unmet = [str(need) for need in wanted if pinned.get(canonicalize_name(need.name), "0") not in need.specifier]
    assert unmet == [], "run `make lock`"


def test_the_benchmarks_run_on_the_same_versions_as_the_tests() -> None:
    dev, bench = (set(_pins(ROOT / "requirements" / name)) for name in ("dev.txt", "bench.txt"))
    assert dev <= bench


def test_no_file_names_a_place_on_some_machine_or_a_registry() -> None:
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode != 0 or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout, so there is no list of the project's own files")
    found = []
    for name in filter(None, listing.stdout.split("\0")):
        path = ROOT / name
        content = path.read_bytes() if path.is_file() else b""
        if b"\0" not in content:
            text = content.decode("utf-8")
            found += [f"{name}: {match[0]}" for match in ELSEWHERE.finditer(text)]
    assert found == []


@pytest.mark.parametrize("directory", ["home", "Users", "root"])
def test_the_search_for_machine_places_finds_one(directory: str) -> None:
    assert ELSEWHERE.search(f"see /{directory}/someone/notes")
    assert not ELSEWHERE.search(f"see docs/{directory}/notes.md")


def test_the_wheel_holds_every_file_of_the_package(wheel: zipfile.ZipFile) -> None:
    files = {path.relative_to(PACKAGE.parent) for path in PACKAGE.rglob("*") if path.is_file()}
    caches = re.compile(r"(^|/)(__pycache__|\.\w+_cache)/")
    expected = {path.as_posix() for path in files if not caches.search(path.as_posix())}
    shipped = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert "driftjudge/py.typed" in shipped
    assert shipped == expected


def _metadata(wheel: zipfile.ZipFile) -> Message:
    name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return Parser().parsestr(wheel.read(name).decode("utf-8"))


def test_the_extra_all_brings_what_every_other_extra_brings(wheel: zipfile.ZipFile) -> None:
    metadata = _metadata(wheel)
    needs = [Requirement(entry) for entry in metadata.get_all("Requires-Dist", [])]

    def brought(extra: str) -> set[str]:
        direct = [need for need in needs if need.marker is not None and need.marker.evaluate({"extra": extra})]
        names = {need.name for need in direct if need.name != "driftjudge"}
        return names.union(*(brought(inner) for need in direct if need.name == "driftjudge" for inner in need.extras))

    extras = set(metadata.get_all("Provides-Extra", [])) - {"local"}  # a model to try things with: no command needs it
    everything = brought("all")
    assert {"fast", "tables", "report", "cli"} <= extras
    assert "polars" in everything
    assert {extra: brought(extra) - everything for extra in extras} == {extra: set() for extra in extras}


def test_the_core_installs_numpy_and_scipy_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    needs = [Requirement(entry) for entry in _metadata(wheel).get_all("Requires-Dist", [])]
    assert {need.name for need in needs if need.marker is None} == {"numpy", "scipy"}


@pytest.mark.parametrize("layer", ["stats", "monitor"])
def test_the_core_imports_only_numpy_scipy_numba_and_the_standard_library(layer: str) -> None:
    allowed = sys.stdlib_module_names | {"driftjudge", "numpy", "scipy", "numba"}
    modules = sorted((PACKAGE / layer).rglob("*.py"))
    strangers = []
    for path in modules:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [str(node.module)]
            strangers += [f"{path.name}: {name}" for name in names if name.split(".")[0] not in allowed]
    assert modules
    assert strangers == []


def _in_a_new_process(program: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_library_brings_in_none_of_the_extras() -> None:
    heavy = ("altair", "polars", "rich", "typer", "vl_convert")
    assert _in_a_new_process(f"import sys, driftjudge; print([m for m in {heavy} if m in sys.modules])") == "[]\n"


def test_every_public_name_can_be_imported() -> None:
    contract = {"AnchorSet", "Calibration", "Monitor", "MonitorConfig", "replay"}
    listed = _in_a_new_process(
        "import driftjudge; [getattr(driftjudge, n) for n in driftjudge.__all__]; print(*driftjudge.__all__)"
    )
    assert contract <= set(listed.split())
