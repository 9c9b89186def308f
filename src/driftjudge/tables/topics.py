"""Topics for prompts that carry none: HelpSteer2 has no topic column, and the paper names six without saying how.

A few words decide, the first rule that holds wins, and the rules cost nothing and give the same answer everywhere.
That is all a stratum needs to be: observable, and fixed beforehand. Whoever has better topics passes them to the
loader.
"""

from __future__ import annotations

import re

TOPICS = ("coding", "creative", "factual_qa", "math", "other", "reasoning")
"""The paper's six."""

_LONGEST = 4000
"""Characters that are looked at; what a prompt is about stands at its beginning."""

_WORDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "coding",
        (
            r"python|javascript|typescript|java|c\+\+|c#|rust|golang|sql|html|css|bash|regex|php|django|react",
            r"source code|codebase|compile[rd]?|debug(?:ging)?|api endpoint|stack trace|algorithm",
            r"write (?:a|some) (?:code|script|function|program|query)",
        ),
    ),
    (
        "math",
        (
            r"calculate|compute|solve for|equation|integral|derivative|theorem|probability of|algebra|geometry",
            r"arithmetic|square root|percent(?:age)? of|how much is",
        ),
    ),
    (
        "creative",
        (
            r"poem|haiku|song|lyrics|short story|story about|screenplay|novel|fiction|dialogue between|role-?play",
            r"slogan|tagline|joke|rap|limerick|plot|fan ?fic(?:tion)?|imagine|brainstorm|come up with",
            r"write (?:me )?an? (?:story|scene|letter|speech|blog|essay|ad|tweet|caption|script|monologue)",
        ),
    ),
    (
        "reasoning",
        (
            r"why|explain|compare|contrast|analy[sz]e|argue|evaluate|pros and cons|trade-?offs?|reason(?:s|ing)?",
            r"riddle|puzzle|logic(?:al)?|step[- ]by[- ]step|should i|what if|implications?|differences? between",
        ),
    ),
    (
        "factual_qa",
        (
            r"what|who|whom|whose|when|where|which|how (?:many|much|old|long|far|do|does|did|is|are|can)|is it true",
            r"define|definition|list|name (?:the|some|a few)|tell me about|summari[sz]e|describe",
        ),
    ),
)
_SIGNS = {"coding": r"|```", "math": r"|\d\s*[-+*/^×÷=]\s*\d"}
"""What is no word and decides as well."""


def _rule(topic: str, words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)" + _SIGNS.get(topic, ""), re.IGNORECASE)


_RULES = tuple((topic, _rule(topic, words)) for topic, words in _WORDS)


def topic_of(prompt: str) -> str:
    """The topic of a prompt.

    >>> [topic_of(text) for text in ("Write a haiku about rain", "Who wrote Hamlet?", "Fix this Python code", "hello")]
    ['creative', 'factual_qa', 'coding', 'other']
    """
    beginning = prompt[:_LONGEST]
    return next((topic for topic, words in _RULES if words.search(beginning)), "other")
