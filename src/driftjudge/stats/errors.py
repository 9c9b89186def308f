"""The errors of the statistics layer."""

from __future__ import annotations


class StatisticsError(ValueError):
    """An argument for which the mathematics does not hold; the message says which and what to do."""


class SupermartingaleError(ArithmeticError):
    """Evidence would stop being valid: a factor below 0, a bet above its cap, a probability outside (0, 1]."""
