"""Keyed coins: uniform numbers addressed by (seed, purpose, index), so that a replay draws the very same ones.

Philox is counter-based: any block can be produced without producing the ones before it, and numpy guarantees the
raw stream of a bit generator never changes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ACQUISITION = 1
"""Whether the strong judge is asked about item `index`."""
ANCHOR_DRAW = 2
"""Which anchor the `index`-th re-score takes."""
SIMULATION = 3
"""First purpose free for simulated judges and streams; never read by a monitor."""

BLOCK = 4096
_WORDS_PER_COUNTER = 4


def coin_block(seed: int, purpose: int, block: int) -> NDArray[np.float64]:
    """Uniform numbers on [0, 1) for the indices `block * BLOCK` up to the next block.

    >>> coin_block(7, ACQUISITION, 0)[:2].round(6).tolist() == coin_block(7, ACQUISITION, 0)[:2].round(6).tolist()
    True
    >>> bool((coin_block(7, ACQUISITION, 0) == coin_block(7, ANCHOR_DRAW, 0)).any())
    False
    """
    key = np.array([seed, purpose], dtype=np.uint64)
    counter = np.array([block * (BLOCK // _WORDS_PER_COUNTER), 0, 0, 0], dtype=np.uint64)
    raw = np.random.Philox(key=key, counter=counter).random_raw(BLOCK)
    return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53


def coins(seed: int, purpose: int, start: int, count: int) -> NDArray[np.float64]:
    """The coins `start` .. `start + count - 1`, whatever blocks they stand in.

    >>> whole = coins(7, ACQUISITION, 0, 10_000)
    >>> bool((coins(7, ACQUISITION, 4_000, 500) == whole[4_000:4_500]).all())
    True
    """
    if count == 0:
        return np.empty(0)
    first, last = start // BLOCK, (start + count - 1) // BLOCK
    blocks = [coin_block(seed, purpose, block) for block in range(first, last + 1)]
    offset = start - first * BLOCK
    return np.concatenate(blocks)[offset : offset + count]


class Coins:
    """Coins one at a time; a block per purpose is kept, so that most look-ups cost nothing.

    >>> reader = Coins(7)
    >>> bool(reader.coin(ACQUISITION, 5_000) == coins(7, ACQUISITION, 5_000, 1)[0])
    True
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._held: dict[int, tuple[int, list[float]]] = {}

    def coin(self, purpose: int, index: int) -> float:
        """The coin of this purpose and index."""
        block, offset = divmod(index, BLOCK)
        held = self._held.get(purpose)
        if held is None or held[0] != block:
            held = (block, coin_block(self._seed, purpose, block).tolist())
            self._held[purpose] = held
        return held[1][offset]
