"""The one exception family of this layer."""

from __future__ import annotations


class TableError(ValueError):
    """A score table, or the file it should come from, cannot be used; the message says why and what to do."""
