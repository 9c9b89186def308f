"""What was spent, by role and by day."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from driftjudge.judges.database import Database

_SUMS = "SUM(calls), SUM(input_tokens), SUM(output_tokens), SUM(dollars), SUM(assumed), SUM(unpriced)"


@dataclass(frozen=True)
class Spending:
    """A sum over calls."""

    calls: int = 0
    """Requests, retries included."""
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float = 0.0
    """All that was booked, with what was assumed."""
    assumed: float = 0.0
    """The part of it that nobody confirmed: calls that broke off after they were sent, booked at their most."""
    unpriced: int = 0
    """Calls whose price nobody knows; they are not in `dollars`."""

    def __add__(self, other: Spending) -> Spending:
        return Spending(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.dollars + other.dollars,
            self.assumed + other.assumed,
            self.unpriced + other.unpriced,
        )


class Ledger:
    """Sums in the cache's file, one row per day, role, judge and the model that answered."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        connection: sqlite3.Connection,
        day: date,
        role: str,
        judge: str,
        model: str,
        spending: Spending,
    ) -> None:
        """Add to a row, inside a transaction of the caller's."""
        connection.execute(
            "INSERT INTO spending VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
            "calls = calls + excluded.calls, input_tokens = input_tokens + excluded.input_tokens, "
            "output_tokens = output_tokens + excluded.output_tokens, dollars = dollars + excluded.dollars, "
            "assumed = assumed + excluded.assumed, unpriced = unpriced + excluded.unpriced",
            (
                day.isoformat(),
                role,
                judge,
                model,
                spending.calls,
                spending.input_tokens,
                spending.output_tokens,
                spending.dollars,
                spending.assumed,
                spending.unpriced,
            ),
        )

    def record(self, day: date, role: str, judge: str, model: str, spending: Spending) -> None:
        """Add to a row."""
        with self._database.write() as connection:
            self.add(connection, day, role, judge, model, spending)

    def total(self) -> Spending:
        """Everything ever spent: what a ceiling starts from."""
        return self._one(f"SELECT {_SUMS} FROM spending")

    def by_role(self) -> Mapping[str, Spending]:
        """Sums per role."""
        return self._grouped("role")

    def by_day(self) -> Mapping[str, Spending]:
        """Sums per day (ISO), oldest first."""
        return self._grouped("day")

    def by_role_and_day(self) -> Mapping[tuple[str, str], Spending]:
        """Sums per (day, role)."""
        rows = self._database.read(f"SELECT day, role, {_SUMS} FROM spending GROUP BY day, role ORDER BY day, role")
        return {(str(row[0]), str(row[1])): _spending(row[2:]) for row in rows}

    def models(self, judge: str) -> tuple[str, ...]:
        """The models that answered for a judge: more than one name means that its provider moved it."""
        rows = self._database.read("SELECT DISTINCT model FROM spending WHERE judge = ? AND model <> ''", (judge,))
        return tuple(sorted(str(row[0]) for row in rows))

    def _one(self, query: str) -> Spending:
        return _spending(self._database.read(query)[0])

    def _grouped(self, column: str) -> Mapping[str, Spending]:
        rows = self._database.read(f"SELECT {column}, {_SUMS} FROM spending GROUP BY {column} ORDER BY {column}")
        return {str(row[0]): _spending(row[1:]) for row in rows}


def _spending(row: tuple[object, ...]) -> Spending:
    calls, tokens_in, tokens_out, dollars, assumed, unpriced = (value or 0 for value in row)
    return Spending(
        int(str(calls)),
        int(str(tokens_in)),
        int(str(tokens_out)),
        float(str(dollars)),
        float(str(assumed)),
        int(str(unpriced)),
    )
