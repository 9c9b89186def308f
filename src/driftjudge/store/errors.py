"""What can go wrong between us and a database. Every message says what to do."""

from __future__ import annotations


class StoreError(Exception):
    """Root of the family; the transaction did not happen."""


class UnavailableError(StoreError):
    """The database cannot be reached, is busy, or broke off; the same again may work in a moment."""


class FullError(UnavailableError):
    """The disk, or the room the database may take, is full."""


class SchemaError(StoreError):
    """A database of a newer version of driftjudge, or of something else."""


class OutOfOrderError(StoreError):
    """Somebody else appended to the log meanwhile: read it again first."""


class LeaseLostError(StoreError):
    """Another process has taken over the monitor; what this one holds of it is out of date."""


class DamagedError(StoreError):
    """A row that cannot be what was written."""


class KeyReusedError(StoreError):
    """An idempotency key that was used for another body."""
