"""Which errors are the user's to mend, and the sentence for each."""

from __future__ import annotations


def one_sentence(error: Exception) -> str | None:
    """The message of a mistake we foresaw; None for a defect of ours, which keeps its traceback."""
    from driftjudge.monitor.errors import MonitorError
    from driftjudge.report.errors import ReportError
    from driftjudge.stats.errors import StatisticsError
    from driftjudge.tables.errors import TableError

    if isinstance(error, MonitorError | StatisticsError | TableError | ReportError):
        return str(error)
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {(error.strerror or 'could not be opened').lower()}"
    return None
