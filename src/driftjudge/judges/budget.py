"""The hard ceiling: what a call may cost at most is reserved before it is made, so that the ceiling holds even then."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from driftjudge.judges.errors import BudgetError
from driftjudge.judges.protocol import Estimate


@dataclass(frozen=True)
class Reservation:
    """Room for one call."""

    dollars: float


class Budget:
    """A ceiling in dollars and in calls, shared by every runner that is given it; None is no ceiling.

    `spent` and `made` start with what earlier runs spent (see `Ledger.total`). Thread-safe.
    """

    def __init__(
        self, dollars: float | None = None, calls: int | None = None, *, spent: float = 0.0, made: int = 0
    ) -> None:
        for name, value in (("dollars", dollars), ("calls", calls)):
            if value is not None and not value >= 0:
                raise BudgetError(f"The ceiling in {name} is 0 or more, got {value}.")
        self.dollars = dollars
        self.calls = calls
        self._lock = threading.Lock()
        self._spent = spent
        self._made = made
        self._reserved = 0.0
        self._open = 0

    def __repr__(self) -> str:
        return f"Budget(dollars={self.dollars}, calls={self.calls}, spent={self._spent:.6f}, made={self._made})"

    @property
    def spent(self) -> float:
        """Dollars paid, or assumed to be paid, so far."""
        return self._spent

    @property
    def made(self) -> int:
        """Requests made so far."""
        return self._made

    @property
    def outstanding(self) -> int:
        """Requests under way."""
        return self._open

    def check_priced(self, estimate: Estimate | None, judge: str) -> None:
        """Refuse a ceiling in dollars for a judge whose price nobody knows."""
        if self.dollars is not None and (estimate is None or estimate.at_most is None):
            raise BudgetError(
                f"There is a ceiling in dollars but no price for {judge}; set its price_input and price_output, or "
                "give a "
                "ceiling in calls."
            )

    def require(self, calls: int, dollars: float | None, what: str) -> None:
        """Refuse work that is likely to need more than is left, before it is begun."""
        if self.calls is not None and self._made + calls > self.calls:
            raise BudgetError(
                f"{what} needs {calls} calls, but the ceiling of {self.calls} leaves "
                f"{max(0, self.calls - self._made)}; "
                "raise it or ask for less."
            )
        if self.dollars is not None and dollars is not None and self._spent + dollars > self.dollars:
            raise BudgetError(
                f"{what} needs about ${dollars:.4f}, but the ceiling of ${self.dollars:.4f} leaves "
                f"${max(0.0, self.dollars - self._spent):.4f}; raise it or ask for less."
            )

    def reserve(self, at_most: float | None) -> Reservation | None:
        """Room for a call that costs at most so much.

        None: not now, but calls under way may turn out cheaper; ask again when one has settled. Raises `BudgetError`
        when nothing that is under way could make room.
        """
        wanted = at_most or 0.0
        with self._lock:
            if self.calls is not None and self._made + self._open + 1 > self.calls:
                if self._open and self._made + 1 <= self.calls:
                    return None
                raise BudgetError(f"The ceiling of {self.calls} calls is reached; raise it to go on.")
            if self.dollars is not None and self._spent + self._reserved + wanted > self.dollars:
                if self._open and self._spent + wanted <= self.dollars:
                    return None
                raise BudgetError(
                    f"The ceiling of ${self.dollars:.4f} leaves ${max(0.0, self.dollars - self._spent):.4f}, and the "
                    "next "
                    f"call may cost ${wanted:.4f}; raise it to go on."
                )
            self._reserved += wanted
            self._open += 1
        return Reservation(wanted)

    def settle(self, reservation: Reservation, dollars: float | None, calls: int = 1) -> float:
        """Book what the call cost; unknown costs are booked at what was reserved. Returns what was booked."""
        booked = reservation.dollars if dollars is None else dollars
        with self._lock:
            self._reserved -= reservation.dollars
            self._open -= 1
            if self._open == 0:
                self._reserved = 0.0  # what rounding left
            self._spent += booked
            self._made += calls
        return booked
