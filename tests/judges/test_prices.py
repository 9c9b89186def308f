"""Prices: one's own, the public list's, or none."""

from __future__ import annotations

import pytest

from driftjudge.judges import JudgeSettings
from driftjudge.judges.prices import FlatPrice, ListedPrice, find_price


def test_ones_own_price_comes_first() -> None:
    assert find_price(JudgeSettings("gpt-4o-mini", price_input=1.0, price_output=2.0)) == FlatPrice(1.0, 2.0)


def test_the_public_list_knows_the_big_providers() -> None:
    price = find_price(JudgeSettings("gpt-4o-mini"))
    assert isinstance(price, FlatPrice)
    assert price.of(1_000_000, 1_000_000) == pytest.approx(price.input + price.output)
    assert 0 < price.input < price.output


def test_a_price_that_rises_with_the_prompt_is_looked_up_at_its_length() -> None:
    price = find_price(JudgeSettings("gemini-3.1-pro-preview", provider="google"))
    assert isinstance(price, ListedPrice)
    assert price.of(1_000_000, 0) > 1000 * price.of(1000, 0)


def test_nobody_knows_the_price_of_a_server_of_ones_own() -> None:
    assert find_price(JudgeSettings("gpt-4o-mini", base_url="http://127.0.0.1:1/v1")) is None
