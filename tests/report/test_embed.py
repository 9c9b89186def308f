from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from driftjudge.report import (
    Drawing,
    ReportError,
    cells_chart,
    chart_html,
    race_chart,
    save_picture,
    shift_chart,
    spending_chart,
)
from driftjudge.report._embed import render, script_json
from tests.report.pages import Page
from tests.report.samples import Sample, crowded, sample


def charts(shown: Sample, *, dark: bool) -> list[Any]:
    return [
        race_chart(shown.trace, shown.evidence, change_at=shown.change_at, dark=dark),
        cells_chart(shown.evidence, dark=dark),
        shift_chart(shown.evidence, dark=dark),
        spending_chart(shown.trace, shown.evidence, dark=dark),
    ]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("make", [lambda: sample("judge"), crowded], ids=["judge", "crowded"])
def test_every_chart_becomes_a_picture_of_its_size_with_something_in_it(make: Any, dark: bool) -> None:
    for chart in charts(make(), dark=dark):
        png = render(chart, ".png")
        assert png.startswith(b"\x89PNG")
        width, height = struct.unpack(">II", png[16:24])
        assert 1440 < width < 2100  # 720 pixels and the labels beside them, at twice the density
        assert height > 400
        assert len(png) > 20_000  # a blank picture of this size is a few kilobytes


def test_the_ending_of_the_name_decides_what_is_written(tmp_path: Path) -> None:
    shown = sample("judge")
    chart = race_chart(shown.trace, shown.evidence)
    assert save_picture(chart, tmp_path / "race.png").read_bytes().startswith(b"\x89PNG")
    assert save_picture(chart, str(tmp_path / "race.SVG")).read_text().startswith("<svg")
    assert save_picture(chart, tmp_path / "race.html").read_text().startswith("<!doctype html>")


def test_another_ending_is_refused_with_the_ones_that_work(tmp_path: Path) -> None:
    shown = sample("none")
    with pytest.raises(ReportError, match=r"'race.gif'.*\.png, \.svg, \.html"):
        save_picture(race_chart(shown.trace, shown.evidence), tmp_path / "race.gif")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    shown = sample("none")
    with pytest.raises(ReportError, match=r"nowhere.*No such file"):
        save_picture(race_chart(shown.trace, shown.evidence), tmp_path / "nowhere" / "race.svg")


def test_a_picture_page_is_live_whole_and_titled(tmp_path: Path) -> None:
    shown = sample("judge")
    chart = race_chart(shown.trace, shown.evidence, title="<Who> & when", dark=True)
    page = Page(save_picture(chart, tmp_path / "race.html").read_text())
    assert page.open == []
    assert page.text.count("<Who> & when") == 2  # the window's title and the heading
    assert all(spec["width"] == "container" for spec in page.specifications())
    assert "vegaEmbed" in page.scripts[1]


def test_the_script_comes_once_however_many_charts_a_page_has() -> None:
    shown = sample("judge")
    drawings = [Drawing(f"n{number}", chart, None, "s") for number, chart in enumerate(charts(shown, dark=False))]
    drawn = chart_html(drawings)
    assert list(drawn.figures) == ["n0", "n1", "n2", "n3"]
    assert drawn.script.count("window.vegaEmbed=") == 1
    assert not any("window.vegaEmbed" in figure for figure in drawn.figures.values())


def test_text_in_a_script_cannot_end_it() -> None:
    hostile = "</script><!--\u2028&"
    assert json.loads(script_json(hostile)) == hostile
    assert not set("<>&\u2028") & set(script_json(hostile))


def test_figures_that_are_no_numbers_never_reach_a_page() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json({"x": float("nan")})


@pytest.mark.parametrize("name", ["altair", "vl_convert"])
def test_a_missing_library_is_explained_in_one_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = sample("none")
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ReportError, match=rf'{name} is not installed.*pip install "driftjudge\[report\]"'):
        render(race_chart(shown.trace, shown.evidence), ".svg")


def test_importing_the_package_loads_no_drawing_library() -> None:
    script = "import sys, driftjudge.report; sys.exit(any(name in sys.modules for name in ('altair', 'vl_convert')))"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", script], check=False, env=environment).returncode == 0
