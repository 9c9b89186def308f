"""What the service refuses, and what to do about it. Every message is one sentence for the person who gets it."""

from __future__ import annotations


class ServiceError(Exception):
    """Root of the family: the request was refused and nothing was taken in."""


class UnknownMonitorError(ServiceError):
    """No monitor of that name (HTTP 404)."""


class UnknownAlarmError(ServiceError):
    """No alarm of that number (HTTP 404)."""


class BadRequestError(ServiceError):
    """A value that cannot be right, whatever the state (HTTP 422)."""


class ConflictError(ServiceError):
    """The same id or key with another body, or a step that does not fit the monitor's state (HTTP 409)."""


class BackPressureError(ServiceError):
    """Too much is queued up already; come back after `retry_after` seconds (HTTP 429)."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ElsewhereError(ServiceError):
    """Another process holds the monitor (HTTP 503 with Retry-After, or a redirect to `address` where it is known)."""

    def __init__(self, message: str, address: str, retry_after: float) -> None:
        super().__init__(message)
        self.address = address
        self.retry_after = retry_after


class UnavailableError(ServiceError):
    """The database did not take it: full, gone or busy; nothing was accepted, so send it again (HTTP 503)."""

    def __init__(self, message: str, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ClosedError(ServiceError):
    """The service is shutting down (HTTP 503)."""
