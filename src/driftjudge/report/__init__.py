"""What people look at: charts, pictures and the self-contained HTML report. Needs the extra `report`.

Importing this package is cheap; Altair and vl-convert are loaded by the first chart.
"""

from driftjudge.report.charts import (
    Drawing,
    cells_chart,
    chart_html,
    race_chart,
    save_picture,
    shift_chart,
    spending_chart,
)
from driftjudge.report.errors import ReportError
from driftjudge.report.html import write_report

__all__ = [
    "Drawing",
    "ReportError",
    "cells_chart",
    "chart_html",
    "race_chart",
    "save_picture",
    "shift_chart",
    "spending_chart",
    "write_report",
]
