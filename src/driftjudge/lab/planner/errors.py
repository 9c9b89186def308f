"""The planner's own errors."""

from __future__ import annotations

from driftjudge.monitor.errors import ConfigError


class PlanError(ConfigError):
    """A target that makes no sense, or a table that cannot be planned from; the message says which and what to do."""
