"""What a call costs: the judge's own price, or the public list of `genai-prices`; None where neither knows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from driftjudge.judges.settings import JudgeSettings

MILLION = 1_000_000


class Price(Protocol):
    """What tokens cost."""

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """The price of so many tokens, in dollars."""


@dataclass(frozen=True)
class FlatPrice:
    """Dollars per million tokens, in and out.

    >>> FlatPrice(2.0, 12.0).of(500, 40)
    0.00148
    """

    input: float
    output: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """The price of so many tokens."""
        return (input_tokens * self.input + output_tokens * self.output) / MILLION


@dataclass(frozen=True)
class ListedPrice:
    """A public price that depends on the length of the prompt; input that the provider cached counts in full."""

    model: str
    provider: str | None
    base_url: str | None

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """The price of so many tokens."""
        from genai_prices import Usage, calc_price

        usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
        if self.provider is None:
            return float(calc_price(usage, self.model, provider_api_url=self.base_url).total_price)
        return float(calc_price(usage, self.model, provider_id=self.provider).total_price)


def find_price(settings: JudgeSettings) -> Price | None:
    """The judge's price: its override, else the public list's for its model at its endpoint."""
    if settings.price_input is not None and settings.price_output is not None:
        return FlatPrice(settings.price_input, settings.price_output)
    return _listed(settings.provider, settings.model, settings.base_url)


@cache
def _listed(provider: str, model: str, base_url: str | None) -> Price | None:
    listed = ListedPrice(model, provider if base_url is None else None, base_url)
    try:
        short = FlatPrice(listed.of(1000, 0) * 1000, (listed.of(1000, 1000) - listed.of(1000, 0)) * 1000)
        flat = math.isclose(listed.of(MILLION, MILLION), short.of(MILLION, MILLION))
    except (ImportError, LookupError):
        return None
    # Looking a price up costs as much time as a call; a flat one is looked up once.
    return short if flat else listed
