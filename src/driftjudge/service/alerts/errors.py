"""Errors of alert settings and deliveries."""

from __future__ import annotations


class AlertError(Exception):
    """Something about the alerts that the reader can mend."""


class AlertSettingsError(AlertError):
    """A sink or route that cannot work."""


class TargetError(AlertError):
    """An address that alerts must not be sent to."""
