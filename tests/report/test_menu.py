"""The picture of a plan's cost menu."""

from __future__ import annotations

from dataclasses import replace

import pytest

from driftjudge.report._embed import render
from driftjudge.report._theme import DARK, LIGHT
from driftjudge.report.charts import Menu, MenuPoint, menu_chart
from driftjudge.report.errors import ReportError

MENU = Menu(
    system=[MenuPoint(0.2, 0.5, 0.4, 0.6, "0.02"), MenuPoint(0.3, 0.95, 0.9, 0.99, "0.1", chosen=True)],
    judge=[MenuPoint(0.25, 0.6, 0.5, 0.7, "1/50"), MenuPoint(0.3, 0.97, 0.92, 1.0, "1/20", chosen=True)],
    detect=0.9,
    spend=0.4,
    system_words="drop of 0.2 within 1,000 items, by budget",
    judge_words="judge shift of 0.05 within 2,000, by anchor rate",
)


def test_choices_limits_and_what_the_lines_mean_are_written_in_the_picture() -> None:
    text = render(menu_chart(MENU, subtitle=["a table"]), ".svg").decode()
    for words in ("0.02", "1/50", "wanted: 90%", "spend at most 0.4", MENU.system_words, MENU.judge_words, "a table"):
        assert words in text, words


@pytest.mark.parametrize(("dark", "colours"), [(False, LIGHT), (True, DARK)])
def test_the_system_is_orange_and_the_judge_blue_in_both_modes(dark: bool, colours: object) -> None:
    spec = menu_chart(MENU, dark=dark).to_dict()
    lines = [layer["mark"]["color"] for layer in spec["layer"] if layer["mark"]["type"] == "line"]
    assert lines == [getattr(colours, "judge"), getattr(colours, "system")]  # noqa: B009  # either palette


def test_what_is_recommended_is_ringed() -> None:
    spec = menu_chart(MENU).to_dict()
    rings = [layer["data"]["values"] for layer in spec["layer"] if layer["mark"].get("size") == 220]
    assert rings == [[{"cost": 0.3, "rate": 0.97}], [{"cost": 0.3, "rate": 0.95}]]


def test_those_who_cannot_see_it_are_told_every_figure() -> None:
    told = menu_chart(MENU).to_dict()["description"]
    assert "95% at a cost of 0.30 (0.1)" in told
    assert "Wanted: 90% at a cost of at most 0.4." in told


def test_an_empty_menu_is_refused() -> None:
    with pytest.raises(ReportError, match="the menu holds no choices"):
        menu_chart(replace(MENU, judge=[]))
