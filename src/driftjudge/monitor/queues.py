"""Bounded waiting lines: results may come late and out of order, evidence is taken in by position."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray


@dataclass(slots=True)
class WaitingItem:
    """An observed item whose evidence is not in yet: its own label, or an older item's, is outstanding."""

    id: str
    position: int
    stratum: int
    cheap: NDArray[np.float64]
    asked: bool
    pi: float
    label: NDArray[np.float64] | None = None
    """Strong scores once recorded; NaN where the call failed for good."""

    @property
    def ready(self) -> bool:
        """Nothing more is needed for this item."""
        return not self.asked or self.label is not None


class ItemLine:
    """Items in order of position, the first one unready."""

    def __init__(self) -> None:
        self._line: deque[WaitingItem] = deque()
        self._asked: dict[str, WaitingItem] = {}
        self._ids: set[str] = set()

    def __len__(self) -> int:
        return len(self._line)

    def __iter__(self) -> Iterator[WaitingItem]:
        return iter(self._line)

    def __contains__(self, item_id: str) -> bool:
        return item_id in self._ids

    def add(self, item: WaitingItem) -> None:
        """Put an item at the end."""
        self._line.append(item)
        self._ids.add(item.id)
        if item.asked and item.label is None:
            self._asked[item.id] = item

    def wanted(self, item_id: str) -> WaitingItem | None:
        """The item of this id whose label is outstanding."""
        return self._asked.get(item_id)

    def wanted_ids(self) -> tuple[str, ...]:
        """Ids whose labels are outstanding, oldest first."""
        return tuple(self._asked)

    def fill(self, item: WaitingItem, label: NDArray[np.float64]) -> None:
        """Give an item its label."""
        item.label = label
        del self._asked[item.id]

    def pop_ready(self) -> WaitingItem | None:
        """The first item, if nothing is outstanding for it."""
        if self._line and self._line[0].ready:
            item = self._line.popleft()
            self._ids.discard(item.id)
            return item
        return None

    def clear(self) -> list[WaitingItem]:
        """Withdraw everything."""
        withdrawn = list(self._line)
        self._line.clear()
        self._asked.clear()
        self._ids.clear()
        return withdrawn

    @property
    def oldest_position(self) -> int | None:
        """Position of the first item in line."""
        return self._line[0].position if self._line else None


@dataclass(slots=True)
class Draw:
    """One anchor drawn for a re-score."""

    number: int
    position: int
    anchor: int
    scores: NDArray[np.float64] | None = None
    again: bool = False
    """The call failed on its way: it is asked for again with the next item."""
    told: bool = True
    """False for a draw of a burst that a late score set off: the next item's `Ask` still has to name it."""


MOST_NAMED = 100
"""Outstanding draws that one `Ask` repeats: a judge that is down is not asked for everything with every item."""


class DrawLine:
    """Draws in order; the first one is outstanding."""

    def __init__(self) -> None:
        self._line: deque[Draw] = deque()

    def __len__(self) -> int:
        return len(self._line)

    def __iter__(self) -> Iterator[Draw]:
        return iter(self._line)

    def add(self, draw: Draw) -> None:
        """Put a draw at the end."""
        self._line.append(draw)

    def wanted(self, anchor: int, number: int | None = None) -> Draw | None:
        """The outstanding draw of this anchor and number.

        Without a number, the oldest one; one that is to be asked for again comes last.
        """
        failed = None
        for draw in self._line:
            if draw.anchor == anchor and draw.scores is None and number in (None, draw.number):
                if not draw.again:
                    return draw
                failed = failed or draw
        return failed

    def outstanding(self) -> list[Draw]:
        """Draws that are being asked for now, oldest first."""
        return [draw for draw in self._line if draw.scores is None and not draw.again]

    def ask_again(self) -> list[Draw]:
        """The oldest draws an `Ask` has to name, for the first time or, when they failed, once more."""
        due = (draw for draw in self._line if draw.scores is None and (draw.again or not draw.told))
        named = list(islice(due, MOST_NAMED))
        for draw in named:
            draw.again, draw.told = False, True
        return named

    def pop_ready(self) -> Draw | None:
        """The first draw, if its scores are in."""
        if self._line and self._line[0].scores is not None:
            return self._line.popleft()
        return None

    def clear(self) -> list[Draw]:
        """Withdraw everything."""
        withdrawn = list(self._line)
        self._line.clear()
        return withdrawn


class Memory:
    """The last ids of something, bounded: beyond it a repeat is not recognised."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._order: deque[str] = deque()
        self._known: set[str] = set()

    def __contains__(self, item_id: str) -> bool:
        return item_id in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._order)

    def add(self, item_id: str) -> None:
        """Remember an id, forgetting the oldest beyond the bound."""
        if item_id in self._known:
            return
        self._known.add(item_id)
        self._order.append(item_id)
        if len(self._order) > self._size:
            self._known.discard(self._order.popleft())
