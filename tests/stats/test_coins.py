from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from driftjudge.stats.coins import ACQUISITION, ANCHOR_DRAW, BLOCK, SIMULATION, coin_block, coins
from tests.validity.exact import LEVEL

PURPOSES = (ACQUISITION, ANCHOR_DRAW, SIMULATION)


@given(st.integers(0, 2**63 - 1), st.sampled_from(PURPOSES), st.integers(0, 3 * BLOCK), st.integers(0, 2 * BLOCK))
def test_random_access_gives_what_drawing_in_sequence_gives(seed: int, purpose: int, start: int, count: int) -> None:
    generator = np.random.Generator(np.random.Philox(key=np.array([seed, purpose], dtype=np.uint64)))
    assert coins(seed, purpose, start, count).tolist() == generator.random(start + count)[start:].tolist()


def test_a_coin_far_down_the_stream_costs_no_more_than_the_first() -> None:
    far = 10**12
    assert (
        coins(7, ACQUISITION, far, 3).tolist() == coin_block(7, ACQUISITION, far // BLOCK)[far % BLOCK :][:3].tolist()
    )


@pytest.mark.parametrize(
    ("seed", "purpose", "start", "pinned"),
    [
        (7, ACQUISITION, 0, [0.8824668302545412, 0.3690383346754841, 0.5170696944527113]),
        (7, ANCHOR_DRAW, 5_000, [0.07029219715830581, 0.3667000085409209, 0.5514296092102443]),
        (2**63 - 1, SIMULATION, 1_000_000, [0.9709998642459923, 0.29712258170058536, 0.7290822921433514]),
    ],
)
def test_coins_never_change_so_that_old_logs_can_be_replayed(
    seed: int, purpose: int, start: int, pinned: list[float]
) -> None:
    assert coins(seed, purpose, start, 3).tolist() == pinned


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize("seed", [0, 1, 12_345])
def test_coins_are_uniform_on_zero_to_one(seed: int, purpose: int) -> None:
    drawn = coins(seed, purpose, 0, 100_000)
    assert drawn.min() >= 0.0
    assert drawn.max() < 1.0
    assert kstest(drawn, "uniform").pvalue > LEVEL
    serial = np.corrcoef(drawn[:-1], drawn[1:])[0, 1]
    assert abs(serial) < 6.0 / np.sqrt(len(drawn))


@pytest.mark.parametrize(
    ("one", "other"),
    [((3, ACQUISITION), (3, ANCHOR_DRAW)), ((3, ANCHOR_DRAW), (3, SIMULATION)), ((3, ACQUISITION), (4, ACQUISITION))],
)
def test_purposes_and_seeds_draw_independently(one: tuple[int, int], other: tuple[int, int]) -> None:
    left, right = coins(*one, 0, 50_000), coins(*other, 0, 50_000)
    assert not np.any(left == right)
    for lag in (0, 1, BLOCK):
        correlation = np.corrcoef(left[: len(left) - lag], right[lag:])[0, 1]
        assert abs(correlation) < 6.0 / np.sqrt(len(left))
