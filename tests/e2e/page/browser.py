"""A Chromium for the tests: the one that is there, or one that can be installed.

`python -m tests.e2e.page.browser` finds or installs one and says what it did.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find() -> str | None:
    """Where a Chromium is: named by DRIFTJUDGE_CHROMIUM, on the path, or Playwright's own."""
    named = os.environ.get("DRIFTJUDGE_CHROMIUM")
    if named:
        return named
    for name in NAMES:
        if found := shutil.which(name):
            return found
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


def install() -> str | None:
    """Try the system's packages (as root), then Playwright's download; where it is afterwards."""
    for command in _ways():
        print(f"browser: {' '.join(command)}", flush=True)
        try:
            done = subprocess.run(command, capture_output=True, timeout=300, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0 and (found := find()):
            return found
    return None


def _ways() -> Iterator[list[str]]:
    if shutil.which("apt-get") and os.geteuid() == 0:
        yield ["apt-get", "-qq", "update"]
        yield ["apt-get", "-qq", "-y", "--no-install-recommends", "install", "chromium"]
    yield [sys.executable, "-m", "playwright", "install", "chromium"]


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser; without one the tests are skipped with a sentence, or fail where CI is set."""
    path = find()
    if path is None:
        sentence = "no Chromium was found: install one, or name it with DRIFTJUDGE_CHROMIUM"
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(sentence)
        pytest.skip(sentence)
    sandbox = [] if os.geteuid() else ["--no-sandbox"]  # Chromium refuses to run as root with it
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS, *sandbox])
        try:
            yield browser
        finally:
            browser.close()


if __name__ == "__main__":
    found = find() or install()
    print(f"browser: {found}" if found else "browser: none could be installed; the page's tests will be skipped")
