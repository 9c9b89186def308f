"""Arrays as nested lists for JSON: numbers keep every bit, NaN becomes null because JSON has no NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def pack(array: NDArray[Any]) -> Any:
    """Nested lists.

    >>> pack(np.array([[0.1, np.nan]]))
    [[0.1, None]]
    """
    if array.dtype.kind == "f" and np.isnan(array).any():
        values = array.astype(object)
        values[np.isnan(array)] = None
        return values.tolist()
    return array.tolist()


def unpack(values: Any) -> NDArray[np.float64]:
    """The array of `pack`, as floats; integers up to 2^53 survive.

    >>> unpack([[0.1, None]]).tolist()
    [[0.1, nan]]
    """
    return np.array(values, dtype=np.float64)
