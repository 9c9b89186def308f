"""The page "Why not just the paper": written by the command, never by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from driftjudge.lab.beyond.options import AIM
from driftjudge.lab.beyond.split import KEPT_BACK, REAL_TABLES
from driftjudge.lab.beyond.tasks import BeyondTask, part_module
from driftjudge.lab.exhibits import Exhibit

LEAD = """\
The preset `paper` is the published procedure. It is there to reproduce the paper; `robust` is there to be used. Both
ran on the same streams here. A *replica* is a table drawn to match published summary figures; real tables hold human
labels and the scores of real LLM judges. Aims were set before the defaults were tuned."""


def beyond_page(
    tasks: Sequence[BeyondTask], exhibits: Sequence[Exhibit], missing: Sequence[str], figures: str | None = ""
) -> str:
    """One Markdown page; `figures` is where pictures lie, relative to it, or None where there are none."""
    seeds = max(task.options.seeds for task in tasks)
    lines = [
        "# Why not just the paper",
        "",
        f"Written by `driftjudge reproduce beyond --seeds {seeds} --data DIR`.",
        "",
        LEAD,
        "",
    ]
    lines += _aims(exhibits)
    lines += _split(missing)
    title = ""
    for task, exhibit in zip(tasks, exhibits, strict=True):
        if exhibit.title != title:
            title = exhibit.title
            lines += [f"## {title}", ""]
        lines += [*_section(exhibit), ""]
        if exhibit.data and figures is not None:
            lines += [f"![{exhibit.title}, {exhibit.dataset}]({figures}{task.file_stem}.svg)", ""]
    return "\n".join(lines).rstrip() + "\n"


def draw_parts(tasks: Sequence[BeyondTask], exhibits: Sequence[Exhibit], out: Path) -> None:
    """The pictures of the parts that have one."""
    from driftjudge.report import save_picture

    for task, exhibit in zip(tasks, exhibits, strict=True):
        chart = part_module(task.part).draw(exhibit) if exhibit.data else None
        if chart is not None:
            save_picture(chart, out / f"{task.file_stem}.svg")


def _aims(exhibits: Sequence[Exhibit]) -> list[str]:
    aims = [claim for exhibit in exhibits for claim in exhibit.claims if claim.name.startswith(AIM)]
    met = sum(claim.holds for claim in aims)
    lines = [f"## The aims: {met} of {len(aims)} met", "", "| aim | | figure |", "|---|---|---|"]
    lines += [
        f"| {claim.name.removeprefix(AIM)} | {'met' if claim.holds else '**missed**'} | {claim.figure} |"
        for claim in aims
    ]
    return [*lines, ""]


def _split(missing: Sequence[str]) -> list[str]:
    used = [real.folder for real in REAL_TABLES if not real.kept_back]
    lines = [
        f"The defaults were chosen on {', '.join(used)} and on both replicas with other seeds than the ones shown. "
        f"Kept back until they were fixed: {', '.join(KEPT_BACK)}.",
        "",
    ]
    if missing:
        lines += [f"Skipped because their folder was not given: {', '.join(missing)}.", ""]
    return lines


def _section(exhibit: Exhibit) -> list[str]:
    kind = "replica" if exhibit.replica else "real table"
    columns = exhibit.columns
    lines = [
        f"**{exhibit.dataset}** ({kind}, {exhibit.seeds} seeds): {exhibit.source}.",
        "",
        "| " + " | ".join(["", *columns]) + " |",
        "|" + "---|" * (len(columns) + 1),
    ]
    for row in exhibit.rows:
        cells = [row.entries[name].text() if name in row.entries else "" for name in columns]
        lines.append("| " + " | ".join([row.label, *cells]) + " |")
    lines.append("")
    for claim in exhibit.claims:
        held = (
            ("met" if claim.holds else "**missed**")
            if claim.name.startswith(AIM)
            else ("holds" if claim.holds else "**does not hold**")
        )
        lines.append(f"- {held}: {claim.name.removeprefix(AIM)} ({claim.figure})")
    return [*lines, *(f"- note: {note}" for note in exhibit.notes)]
