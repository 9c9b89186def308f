"""The page of a reproduction: every table and figure with the command that made it."""

from __future__ import annotations

from collections.abc import Sequence

from driftjudge.lab.exhibits import Exhibit, markdown
from driftjudge.lab.runner import Task, command_of

UNDRAWN = ("propositions",)
"""Experiments whose claims are their figure."""


def page(tasks: Sequence[Task], exhibits: Sequence[Exhibit]) -> str:
    """One Markdown page, written by the command and never by hand."""
    held = [claim for exhibit in exhibits for claim in exhibit.claims if claim.holds]
    missed = [(exhibit, claim) for exhibit in exhibits for claim in exhibit.claims if not claim.holds]
    lines = [
        "# The paper, reproduced",
        "",
        "Written by `driftjudge reproduce`; each section names its command. A *replica* is a table drawn to match the "
        "published summary figures of a data set. Its free parameters were tuned and its seed was chosen "
        "(HelpSteer2: one "
        "of 4,758, TL;DR: one of 10) for stream results near the paper's, so agreement on a replica is a fit, not a "
        "prediction.",
        "",
        f"{len(held)} of {len(held) + len(missed)} claims hold.",
    ]
    if missed:
        lines += ["", "What does not reproduce:", ""]
        lines += [f"- {exhibit.dataset}, {exhibit.source}: {claim.name} ({claim.figure})" for exhibit, claim in missed]
    for dataset in dict.fromkeys(exhibit.dataset for exhibit in exhibits):
        lines += ["", f"## {dataset}", ""]
        for task, exhibit in zip(tasks, exhibits, strict=True):
            if exhibit.dataset == dataset:
                lines += [markdown(exhibit), f"`{command_of(task)}`", ""]
                if task.name not in UNDRAWN:
                    lines += [f"![{exhibit.title}, {dataset}]({task.file_stem}.svg)", ""]
    return "\n".join(lines).rstrip() + "\n"
