"""The one chart module: whatever the project shows in pictures, reports and pages is drawn from here."""

from driftjudge.report._cells import cells_chart
from driftjudge.report._embed import ChartHtml, Drawing, chart_html, check_picture, save_picture
from driftjudge.report._menu import Menu, MenuPoint, menu_chart
from driftjudge.report._race import race_chart
from driftjudge.report._shift import shift_chart
from driftjudge.report._spending import spending_chart

__all__ = [
    "ChartHtml",
    "Drawing",
    "Menu",
    "MenuPoint",
    "cells_chart",
    "chart_html",
    "check_picture",
    "menu_chart",
    "race_chart",
    "save_picture",
    "shift_chart",
    "spending_chart",
]
