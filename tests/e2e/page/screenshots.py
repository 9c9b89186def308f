"""The pictures of the page in docs/: `python -m tests.e2e.page.screenshots docs/page`, on a real service."""

from __future__ import annotations

import sys
from pathlib import Path

from driftjudge.service.client import Client
from driftjudge.service.showcase import play, running_service
from tests.e2e.page.browser import chromium
from tests.e2e.page.test_page import show_of

SHOTS = (
    ("overview", "/", 1000, 560, "light"),
    ("judge", "/monitors/judge", 1000, 1500, "light"),
    ("system-dark", "/monitors/system", 1000, 1500, "dark"),
    ("phone", "/monitors/judge", 360, 740, "light"),
    ("reanchor", "/monitors/judge/reanchor", 1000, 700, "light"),
)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with running_service() as url, chromium() as browser:
        with Client(url) as client:
            for condition in ("judge", "system", "none"):
                show = show_of(client, condition, condition)
                play(show, rate=1e6, on_progress=lambda _: None, until_final=False)
        for name, path, width, height, scheme in SHOTS:
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme=scheme,  # type: ignore[arg-type]  # light or dark
                device_scale_factor=1.5,
            )
            page = context.new_page()
            page.goto(url + path)
            page.wait_for_function("[...document.images].every(image => image.complete)")
            page.screenshot(path=folder / f"{name}.png")
            print(folder / f"{name}.png")
            context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
