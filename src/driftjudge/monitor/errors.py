"""The errors of the monitor. Every message says what was wrong, with the value, and what to do; state is unchanged."""

from __future__ import annotations


class MonitorError(ValueError):
    """Root of the family: the call was refused and nothing changed."""


class ConfigError(MonitorError):
    """A setting that cannot work."""


class AnchorError(MonitorError):
    """An anchor set or its baseline passes cannot carry the promised error rate."""


class CalibrationError(MonitorError):
    """Calibration scores cannot give every cell a bar."""


class ScoreError(MonitorError):
    """Scores that are not one number of [0, 1] per rubric."""


class UnknownStratumError(MonitorError):
    """An item of a stratum the monitor was not set up for."""


class DuplicateError(MonitorError):
    """An id that was already used."""


class UnaskedError(MonitorError):
    """A score nobody asked for, or for a position that is already closed."""


class BufferFullError(MonitorError):
    """Too many strong scores are outstanding; record some first."""


class SnapshotError(MonitorError):
    """A snapshot that is damaged, of another version, or of another configuration."""


class EpochError(MonitorError):
    """An acknowledgement or re-anchoring that does not fit the current verdict."""


class StoppedError(MonitorError):
    """The monitor stopped itself because its evidence would no longer have been valid."""
