"""driftjudge.toml: what init writes, and what is refused."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from driftjudge.judges.errors import JudgeError, PromptError
from driftjudge.monitor.errors import ConfigError
from driftjudge.project.bench import Bench
from driftjudge.project.config import load_config, parse_config
from driftjudge.project.errors import ProjectError
from driftjudge.project.starter import starter_text, write_starter
from tests.project.folders import write_folder


def changed(folder: Path, before: str, after: str) -> Path:
    path = write_folder(folder) / "driftjudge.toml"
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), encoding="utf-8")
    return folder


def test_what_init_writes_can_be_read(tmp_path: Path) -> None:
    write_starter(tmp_path, starter_text("big", "small", "http://127.0.0.1:1/v1"))
    config = load_config(tmp_path)
    assert (config.strong.model, config.cheap and config.cheap.model) == ("big", "small")
    assert config.strong.base_url == "http://127.0.0.1:1/v1"
    assert config.limits.max_dollars == 20.0


def test_the_defaults_that_init_shows_are_the_defaults() -> None:
    """Every commented line that is no example may be uncommented without a change."""
    text = starter_text()
    shown, count = re.subn(r"^# (\w+ = (?!.*# e\.g\.).*)$", r"\1", text, flags=re.MULTILINE)
    assert count > 15
    folder = Path()
    before, after = (parse_config(tomllib.loads(one), folder) for one in (text, shown))
    assert after == replace(before, strong=after.strong, cheap=after.cheap)
    assert repr(after.strong) == repr(before.strong)
    assert repr(after.cheap) == repr(before.cheap)


def test_the_examples_that_init_shows_are_settings_too() -> None:
    shown = re.sub(r"^# (\w+ = .*# e\.g\..*)$", r"\1", starter_text(), flags=re.MULTILINE)
    config = parse_config(tomllib.loads(shown), Path())
    assert config.items.strata == ("coding", "creative")
    assert config.limits.max_calls == 100_000


def test_init_does_not_write_over_a_project(tmp_path: Path) -> None:
    write_starter(tmp_path, starter_text())
    with pytest.raises(ProjectError, match="exists already"):
        write_starter(tmp_path, starter_text("other"))
    write_starter(tmp_path, starter_text("other"), force=True)
    assert load_config(tmp_path).strong.model == "other"


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("[rubrics]", "[rubriks]", r"unknown key 'rubriks' in driftjudge.toml; did you mean 'rubrics'\?"),
        ("concurrency = 4", "concurency = 4", r"unknown key 'concurency' in \[limits\]; did you mean 'concurrency'\?"),
        ("budget = 1.0", "buget = 1.0", r"unknown key 'buget' in \[monitor\]; did you mean 'budget'\?"),
        ("passes = 4", "pases = 4", r"unknown key 'pases' in \[calibration\]; did you mean 'passes'\?"),
        ('fields = ["prompt", "response"]', "feilds = []", r"unknown key 'feilds' in \[items\]; did you mean 'fields'"),
        ("[judges.cheap]", "[judges.cheep]", r"unknown key 'cheep' in \[judges\]; did you mean 'cheap'\?"),
        ('model = "strong"', 'modle = "strong"', r"\[judges.strong\]: unknown setting 'modle'; did you mean 'model'\?"),
        ("[judges.strong]", "[judges.cheap2]", r"unknown key 'cheap2' in \[judges\]; did you mean 'cheap'"),
        ("passes = 4", "passes = 0", r"passes in \[calibration\] is 0"),
        ("passes = 4", "passes = true", r"passes in \[calibration\] is True"),
        ("passes = 4", 'correction = "cubic"', r"correction in \[calibration\] is 'cubic'; choose one of best"),
        ("passes = 4", "resolution = 2", r"resolution in \[calibration\] is 2"),
        ("concurrency = 4", "concurrency = 0", "concurrency lies between 1 and 1024"),
        ("concurrency = 4", 'max_dollars = "10"', r"max_dollars in \[limits\] is '10'; give a number"),
        ("concurrency = 4", "max_calls = -1", r"max_calls in \[limits\] is -1"),
        ("budget = 1.0", "budget = 1.5", "budget is 1.5"),
        ("budget = 1.0", 'strata = ["x"]', r"strata stands in \[monitor\]; it belongs to \[items\]"),
        ('tone = "friendly"', "tone = 3", "the rubric 'tone' in driftjudge.toml is 3"),
        (
            'tone = "friendly"',
            '"good tone" = "x"',
            "The rubric name 'good tone' cannot be a field.*call it 'good_tone'",
        ),
        ('tone = "friendly"', "", r"driftjudge.toml has no \[rubrics\]"),
        ('"response"]', '"response"]\nstrata = ["x", "y"]', "several strata but not the column"),
        ('"response"]', '"response"]\nlongest = 0', r"longest in \[items\] is 0"),
        ("[rubrics]", "[rubrics", "is not valid TOML"),
        ("[rubrics]", 'limits = "none"\n[rubrics]', r"limits in driftjudge.toml is 'none'; write a section"),
    ],
)
def test_a_mistake_in_the_settings_is_one_sentence(tmp_path: Path, before: str, after: str, sentence: str) -> None:
    if before == "[rubrics]" and "limits" in after:
        folder = write_folder(tmp_path)
        path = folder / "driftjudge.toml"
        text = path.read_text(encoding="utf-8").replace("[limits]\nconcurrency = 4\nattempts = 1\n", "")
        path.write_text(after.removesuffix("[rubrics]") + text, encoding="utf-8")
    else:
        changed(tmp_path, before, after)
    with pytest.raises((ProjectError, JudgeError, ConfigError), match=sentence):
        load_config(tmp_path)


def test_a_folder_without_settings_says_how_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="driftjudge init"):
        load_config(tmp_path)


def test_a_template_without_a_needed_field_is_refused(tmp_path: Path) -> None:
    config = load_config(write_folder(tmp_path, strong='template = "Only {prompt}"'))
    with pytest.raises(PromptError, match=r"lacks the field \{response\}"):
        Bench(config, ("strong",))


def test_a_prompt_whose_fields_the_items_do_not_have_is_refused(tmp_path: Path) -> None:
    config = load_config(write_folder(tmp_path, strong='prompt = "v1-summ"'))
    with pytest.raises(ProjectError, match=r"prompt of \[judges.strong\] shows the field 'post'"):
        Bench(config, ("strong",))


def test_columns_may_have_other_names_than_the_prompts_fields(tmp_path: Path) -> None:
    changed(tmp_path, '["prompt", "response"]', '{ prompt = "question", response = "answer" }')
    shape = load_config(tmp_path).items
    item = shape.item({"id": 7, "question": "q", "answer": "a"}, "row 1")
    assert (item.id, dict(item.fields), item.stratum) == ("7", {"prompt": "q", "response": "a"}, "all")
