"""The runbooks that ship with the package, rendered for the page."""

from __future__ import annotations

from functools import cache
from importlib import resources

SUBJECTS = (
    "system",
    "judge",
    "unattributed",
    "judge_unavailable",
    "no_data",
    "budget_exhausted",
    "stale_anchors",
    "sink_failing",
)


@cache
def runbook(subject: str) -> str | None:
    """The Markdown of one runbook; None for a subject without one."""
    if subject not in SUBJECTS:
        return None
    return resources.files("driftjudge.service").joinpath("runbooks", f"{subject}.md").read_text(encoding="utf-8")


@cache
def heading(subject: str) -> str:
    """A runbook's first line."""
    text = runbook(subject)
    return "" if text is None else text.partition("\n")[0].removeprefix("# ")


@cache
def rendered(subject: str) -> str | None:
    """A runbook as HTML; the texts are ours, and raw HTML in them is shown, not run."""
    from markdown_it import MarkdownIt

    text = runbook(subject)
    return None if text is None else str(MarkdownIt("commonmark", {"html": False}).render(text))
