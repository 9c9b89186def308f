"""What an experiment yields: a table with the published figure beside ours, and claims that can fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scipy.stats import binomtest, fisher_exact

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
    """Holds unless an exact binomial test at level 0.01 says that the rate exceeds alpha; the figure has an interval.

    >>> rate_claim("held", 8, 60, 0.1).holds, rate_claim("held", 20, 60, 0.1).holds
    (True, False)
    """
    low, high = binomtest(count, total).proportion_ci(0.95)
    figure = f"{count} of {total}, exact 95 % interval {low:.2f} to {high:.2f}"
    return Claim(name, bool(binomtest(count, total, alpha, alternative="greater").pvalue > 0.01), figure)


PAPER_SEEDS = 60
DEPARTURE_LEVEL = 0.01


def noise_claim(rows: Sequence[Row], seeds: int, *, rates: Sequence[str] = (), paper_seeds: int = PAPER_SEEDS) -> Claim:
    """Holds when no count of ours differs from the paper's by more than chance allows.

    Counts are entries such as 58/0/2, and shares of streams in the columns named by `rates`; each is compared by
    Fisher's exact test at level 0.01.

    >>> noise_claim([Row("r", {"none": Entry("58/0/2", "57/0/3")})], 60).holds
    True
    >>> noise_claim([Row("r", {"judge": Entry("0/20/40", "0/48/12")})], 60).figure
    'r judge 0/20/40 (0/48/12)'
    """
    apart = []
    for row in rows:
        for name, entry in row.entries.items():
            pairs = _counts(entry, seeds, paper_seeds, is_rate=name in rates)
            tests = [[(a, seeds - a), (b, paper_seeds - b)] for a, b in pairs]
            if any(fisher_exact(test).pvalue < DEPARTURE_LEVEL for test in tests):
                apart.append(f"{row.label} {name} {entry.text()}")
    return Claim("counts are within binomial noise of the published ones", not apart, "; ".join(apart) or "all are")


def _counts(entry: Entry, seeds: int, paper_seeds: int, *, is_rate: bool) -> list[tuple[int, int]]:
    ours, paper = entry.measured, entry.published
    if isinstance(ours, str) and isinstance(paper, str) and ours.count("/") == paper.count("/") == 2:
        return [(int(a), int(b)) for a, b in zip(ours.split("/"), paper.split("/"), strict=True)]
    if is_rate and isinstance(ours, float | int) and isinstance(paper, float | int):
        return [(round(ours * seeds), round(paper * paper_seeds))]
    return []


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
    published = any(entry.published is not None for row in exhibit.rows for entry in row.entries.values())
    beside = " Ours, with the paper's in brackets." if published else ""
    lines = [
        f"### {exhibit.title} ({exhibit.source})",
        "",
        f"{exhibit.dataset} ({kind}), {exhibit.seeds} seeds, preset `{exhibit.preset}`.{beside}",
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
