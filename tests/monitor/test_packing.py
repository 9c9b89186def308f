from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray

from driftjudge.monitor.packing import pack, unpack
from tests.monitor.builders import through_json


@given(arrays(np.float64, array_shapes(max_dims=3), elements=st.floats(allow_infinity=False)))
def test_an_array_survives_json_bit_for_bit_and_nan_with_it(array: NDArray[np.float64]) -> None:
    back = unpack(through_json(pack(array)))
    assert back.shape == array.shape
    assert np.array_equal(back, array, equal_nan=True)
    assert (np.signbit(back) == np.signbit(array))[~np.isnan(array)].all()


def test_whole_numbers_stay_exact_up_to_2_to_the_53() -> None:
    counts = np.array([0, 2**53], dtype=np.int64)
    assert unpack(through_json(pack(counts))).astype(np.int64).tolist() == [0, 2**53]


def test_what_was_packed_no_longer_follows_the_array() -> None:
    array = np.zeros(2)
    packed = pack(array)
    array[:] = 1.0
    assert packed == [0.0, 0.0]
