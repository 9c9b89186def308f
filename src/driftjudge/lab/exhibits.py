"""What an experiment yields: a table with the published figure beside ours, and claims that can fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scipy.stats import binomtest

Value = float | int | str | None


@dataclass(frozen=True)
class Entry:
    """One figure: ours, and the paper's where it gives one for this table."""

    measured: Value
    published: Value = None

    def text(self) -> str:
        """Ours, with the paper's in brackets.

        >>> Entry(0.0312, 0.03).text(), Entry("58/0/2").text(), Entry(None, 498).text()
        ('0.03 (0.03)', '58/0/2', '- (498)')
        """
        ours = shown(self.measured)
        return ours if self.published is None else f"{ours} ({shown(self.published)})"


def shown(value: Value) -> str:
    """A figure as a table shows it."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 10 else f"{value:.2f}"
    return str(value)


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    label: str
    entries: Mapping[str, Entry]


@dataclass(frozen=True)
class Claim:
    """A qualitative statement of the paper, evaluated on this run."""

    name: str
    holds: bool
    figure: str
    """The figures it was decided by."""


def rate_claim(name: str, count: int, total: int, alpha: float) -> Claim:
    """Holds unless an exact binomial test at level 0.01 says that the rate exceeds alpha.

    >>> rate_claim("held", 8, 60, 0.1).holds, rate_claim("held", 20, 60, 0.1).holds
    (True, False)
    """
    return Claim(name, bool(binomtest(count, total, alpha, alternative="greater").pvalue > 0.01), f"{count} of {total}")


@dataclass(frozen=True)
class Exhibit:
    """One table or figure of the paper, regenerated."""

    experiment: str
    title: str
    source: str
    """Where it stands in the paper."""
    dataset: str
    """The table's own name."""
    replica: bool
    seeds: int
    preset: str
    rows: tuple[Row, ...]
    claims: tuple[Claim, ...]
    notes: tuple[str, ...] = ()
    """What was skipped, and why."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """JSON-able numbers behind the figure."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the entries, in the order in which rows first use them."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.entries))

    def to_json(self) -> dict[str, Any]:
        """A JSON-able mapping that `from_json` turns back into an equal exhibit."""
        return {
            "experiment": self.experiment,
            "title": self.title,
            "source": self.source,
            "dataset": self.dataset,
            "replica": self.replica,
            "seeds": self.seeds,
            "preset": self.preset,
            "rows": [
                {
                    "label": row.label,
                    "entries": {
                        name: {"measured": entry.measured, "published": entry.published}
                        for name, entry in row.entries.items()
                    },
                }
                for row in self.rows
            ],
            "claims": [{"name": c.name, "holds": c.holds, "figure": c.figure} for c in self.claims],
            "notes": list(self.notes),
            "data": dict(self.data),
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Exhibit:
        """The exhibit of a mapping made by `to_json`."""
        rows = tuple(
            Row(row["label"], {name: Entry(**entry) for name, entry in row["entries"].items()}) for row in body["rows"]
        )
        claims = tuple(Claim(**claim) for claim in body["claims"])
        plain = {key: body[key] for key in ("experiment", "title", "source", "dataset", "replica", "seeds", "preset")}
        return cls(**plain, rows=rows, claims=claims, notes=tuple(body["notes"]), data=body["data"])


def markdown(exhibit: Exhibit) -> str:
    """The exhibit as a Markdown section."""
    kind = "replica" if exhibit.replica else "real table"
    columns = exhibit.columns
    lines = [
        f"### {exhibit.title} ({exhibit.source})",
        "",
        f"{exhibit.dataset} ({kind}), {exhibit.seeds} seeds, preset `{exhibit.preset}`. Ours, with the paper's in "
        "brackets.",
        "",
        "| " + " | ".join(["", *columns]) + " |",
        "|" + "---|" * (len(columns) + 1),
    ]
    for row in exhibit.rows:
        cells = [row.entries[name].text() if name in row.entries else "" for name in columns]
        lines.append("| " + " | ".join([row.label, *cells]) + " |")
    lines.append("")
    lines += [f"- {'holds' if c.holds else '**does not hold**'}: {c.name} ({c.figure})" for c in exhibit.claims]
    lines += [f"- note: {note}" for note in exhibit.notes]
    return "\n".join(lines) + "\n"
