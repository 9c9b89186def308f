"""Who scores: judges that are language models, tables or functions, and the runner that pays for them.

Public names load on first use: the clients behind them take seconds to import, and `driftjudge --help` must not wait.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from driftjudge.judges.budget import Budget
    from driftjudge.judges.cache import ScoreCache, content_hash
    from driftjudge.judges.errors import (
        BudgetError,
        CacheError,
        EndpointError,
        ItemError,
        JudgeError,
        MissingExtraError,
        MissingKeyError,
        PromptError,
        RubricError,
        SettingsError,
    )
    from driftjudge.judges.fingerprint import Identity
    from driftjudge.judges.ledger import Ledger, Spending
    from driftjudge.judges.limits import Limits, Retry
    from driftjudge.judges.llm import LLMJudge
    from driftjudge.judges.making import make_judge
    from driftjudge.judges.other_judges import CallableJudge, TableJudge
    from driftjudge.judges.prompts import PROMPTS, Prompt, find_prompt
    from driftjudge.judges.protocol import Estimate, Item, Judge, Judgement, Usage
    from driftjudge.judges.rubrics import Rubric, Scale, as_rubrics
    from driftjudge.judges.runner import Forecast, JudgeRunner
    from driftjudge.judges.settings import JudgeSettings

_HOMES = {
    "budget": ("Budget",),
    "cache": ("ScoreCache", "content_hash"),
    "errors": (
        "BudgetError",
        "CacheError",
        "EndpointError",
        "ItemError",
        "JudgeError",
        "MissingExtraError",
        "MissingKeyError",
        "PromptError",
        "RubricError",
        "SettingsError",
    ),
    "fingerprint": ("Identity",),
    "ledger": ("Ledger", "Spending"),
    "limits": ("Limits", "Retry"),
    "llm": ("LLMJudge",),
    "making": ("make_judge",),
    "other_judges": ("CallableJudge", "TableJudge"),
    "prompts": ("PROMPTS", "Prompt", "find_prompt"),
    "protocol": ("Estimate", "Item", "Judge", "Judgement", "Usage"),
    "rubrics": ("Rubric", "Scale", "as_rubrics"),
    "runner": ("Forecast", "JudgeRunner"),
    "settings": ("JudgeSettings",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "PROMPTS",
    "Budget",
    "BudgetError",
    "CacheError",
    "CallableJudge",
    "EndpointError",
    "Estimate",
    "Forecast",
    "Identity",
    "Item",
    "ItemError",
    "Judge",
    "JudgeError",
    "JudgeRunner",
    "JudgeSettings",
    "Judgement",
    "LLMJudge",
    "Ledger",
    "Limits",
    "MissingExtraError",
    "MissingKeyError",
    "Prompt",
    "PromptError",
    "Retry",
    "Rubric",
    "RubricError",
    "Scale",
    "ScoreCache",
    "SettingsError",
    "Spending",
    "TableJudge",
    "Usage",
    "as_rubrics",
    "content_hash",
    "find_prompt",
    "make_judge",
]


def __getattr__(name: str) -> object:
    """Load a public name when it is first used."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'driftjudge.judges' has no attribute {name!r}")
    return getattr(import_module(f"driftjudge.judges.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
