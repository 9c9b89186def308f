"""Which errors are the user's to mend, and the sentence for each."""

from __future__ import annotations

import sys
from collections.abc import Iterator


def one_sentence(error: Exception) -> str | None:
    """The message of a mistake we foresaw; None for a defect of ours, which keeps its traceback."""
    from driftjudge.monitor.errors import MonitorError
    from driftjudge.report.errors import ReportError
    from driftjudge.stats.errors import StatisticsError
    from driftjudge.tables.errors import TableError

    if isinstance(error, MonitorError | StatisticsError | TableError | ReportError):
        return str(error)
    if any(isinstance(error, family) for family in _loaded_families()):
        return str(error)
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {(error.strerror or 'could not be opened').lower()}"
    return None


def _loaded_families() -> Iterator[type[Exception]]:
    """Error families of packages that only some commands load: what is not loaded cannot have raised anything."""
    for module, family in (
        ("driftjudge.judges.errors", "JudgeError"),
        ("driftjudge.project.errors", "ProjectError"),
        ("driftjudge.service.errors", "ServiceError"),
        ("driftjudge.service.alerts.errors", "AlertError"),
        ("driftjudge.store.errors", "StoreError"),
    ):
        if module in sys.modules:
            yield getattr(sys.modules[module], family)
