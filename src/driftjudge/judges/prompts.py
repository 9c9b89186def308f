"""The prompt registry: the paper's four scoring prompts (appendix E) in our own words, and prompts of your own.

The instructions, the fields, the scale and the strict tie-break are the paper's; the wording is not, so scores taken
with these prompts are not the paper's scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from string import Formatter
from types import MappingProxyType

from driftjudge.judges.errors import ItemError, PromptError
from driftjudge.judges.nearest import suggestion
from driftjudge.judges.rubrics import Rubric, Scale

INSTRUCTION_FIELDS = ("rubrics", "low", "high")
EXAMPLES = "examples"
"""The field of a user template that few-shot examples go into; without it they stand before the item."""


@dataclass(frozen=True)
class Prompt:
    """What a judge is told: instructions with the rubrics and the scale, and a template for the item's texts."""

    version: str
    instructions: str
    template: str
    fields: tuple[str, ...]
    """The texts of an item that the judge must see."""

    def __post_init__(self) -> None:
        what = f"prompt '{self.version}'"
        used = field_names(self.instructions, f"The instructions of {what}")
        if "rubrics" not in used:
            raise PromptError(f"The instructions of {what} lack the field {{rubrics}}; say there what to score.")
        _refuse_unknown(used, INSTRUCTION_FIELDS, f"The instructions of {what}")
        used = field_names(self.template, f"The template of {what}")
        lacking = [name for name in self.fields if name not in used]
        if lacking:
            raise PromptError(
                f"The template of {what} lacks the field {{{lacking[0]}}}; add it where that text belongs."
            )
        _refuse_unknown(used, (*self.fields, EXAMPLES), f"The template of {what}")

    def with_texts(self, instructions: str | None, template: str | None, fields: Sequence[str] | None) -> Prompt:
        """This prompt with texts of one's own in place of some of its own."""
        if instructions is None and template is None and fields is None:
            return self
        return replace(
            self,
            version=f"{self.version} (edited)",
            instructions=instructions if instructions is not None else self.instructions,
            template=template if template is not None else self.template,
            fields=tuple(fields) if fields is not None else self.fields,
        )

    def system_text(self, rubrics: Sequence[Rubric], scale: Scale) -> str:
        """The instructions for these rubrics and this scale."""
        lines = "\n".join(f"- {one.name}: {one.text}" if one.text else f"- {one.name}" for one in rubrics)
        return self.instructions.format(rubrics=lines, low=f"{scale.low:g}", high=f"{scale.high:g}")

    def user_text(self, texts: Mapping[str, str], item: str, shots: str = "") -> str:
        """The item's texts in the template, taken literally: braces in them mean nothing."""
        lacking = [name for name in self.fields if not isinstance(texts.get(name), str)]
        if lacking:
            there = ", ".join(texts) or "none"
            raise ItemError(
                f"Item '{item}' has no text '{lacking[0]}', which prompt '{self.version}' shows to the judge; its "
                "texts are: "
                f"{there}."
            )
        values = {name: texts[name] for name in self.fields}
        if EXAMPLES in field_names(self.template, "The template"):
            return self.template.format_map({**values, EXAMPLES: shots})
        return shots + self.template.format_map(values)


@lru_cache(maxsize=256)
def field_names(template: str, what: str) -> tuple[str, ...]:
    """The plain {names} in a template; anything cleverer is refused, because item texts meet it.

    >>> field_names("Q: {question} A: {answer}", "The template")
    ('question', 'answer')
    """
    names: list[str] = []
    try:
        for _, name, spec, conversion in Formatter().parse(template):
            if name is None:
                continue
            if not name.isidentifier() or spec or conversion:
                raise PromptError(
                    f"{what} holds '{{{name}}}', which is no plain field; write {{{{ and }}}} for braces."
                )
            names.append(name)
    except ValueError as error:
        raise PromptError(f"{what} has a stray brace ({error}); write {{{{ and }}}} for braces.") from None
    return tuple(dict.fromkeys(names))


def _refuse_unknown(used: Iterable[str], known: Sequence[str], what: str) -> None:
    for name in used:
        if name not in known:
            raise PromptError(f"{what} has the unknown field {{{name}}}{suggestion(name, known)}.")


_ONLY_JSON = "Answer with a JSON object and nothing else: every rubric's name, and its score.\nRubrics:\n{rubrics}"
_BASELINE = (
    "You grade strictly. You see {what}, and you score it on every rubric below with a whole number from {{low}} to "
    "{{high}}, where {{low}} is the worst and {{high}} the best. "
)
_STRICT = (
    "You grade with exactness and doubt. You see {what}, and you score it on every rubric below with a whole number "
    "from "
    "{{low}} to {{high}}, where {{low}} is the worst and {{high}} the best. Be harsh: {{high}} is for work without a "
    "flaw, "
    "each mistake, gap or claim without support that you find costs points, and where you waver between two "
    "neighbouring "
    "scores, give the lower one, always. "
)
_ANSWER = "a PROMPT and the RESPONSE that an assistant gave to it"
_SUMMARY = "a POST and a SUMMARY of it"


def _registered(version: str, policy: str, what: str, fields: tuple[str, str]) -> Prompt:
    instructions = policy.format(what=what) + _ONLY_JSON
    template = "\n\n".join(f"{name.upper()}:\n{{{name}}}" for name in fields)
    return Prompt(version, instructions, template, fields)


PROMPTS: Mapping[str, Prompt] = MappingProxyType(
    {
        one.version: one
        for one in (
            _registered("v1", _BASELINE, _ANSWER, ("prompt", "response")),
            _registered("v2-strict", _STRICT, _ANSWER, ("prompt", "response")),
            _registered("v1-summ", _BASELINE, _SUMMARY, ("post", "summary")),
            _registered("v2-strict-summ", _STRICT, _SUMMARY, ("post", "summary")),
        )
    }
)
"""The registered versions by name."""


def find_prompt(version: str) -> Prompt:
    """A registered prompt."""
    try:
        return PROMPTS[version]
    except KeyError:
        raise PromptError(
            f"There is no prompt version '{version}'; the known ones are: {', '.join(PROMPTS)}."
        ) from None
