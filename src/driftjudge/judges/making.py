"""From settings to a judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from driftjudge.judges.llm import LLMJudge
from driftjudge.judges.rubrics import Rubric, Scale, as_rubrics
from driftjudge.judges.settings import JudgeSettings


def make_judge(
    settings: JudgeSettings | Mapping[str, object],
    rubrics: Iterable[str | Rubric] | Mapping[str, str],
    scale: Scale | None = None,
) -> LLMJudge:
    """A judge from its settings, the rubrics (names, or names with texts) and the scale (0-4 unless given).

    Everything that can be wrong without asking the endpoint is refused here: settings, prompt, rubrics, a missing key,
    a client that is not installed.
    """
    if not isinstance(settings, JudgeSettings):
        settings = JudgeSettings.from_mapping(settings)
    return LLMJudge(settings, as_rubrics(rubrics), scale or Scale())
