"""The errors of the report. Every message says what was wrong, with the value, and what to do."""

from __future__ import annotations


class ReportError(ValueError):
    """Root of the family: nothing was drawn and nothing was written."""
