"""A judge that is a language model: prompt in, one JSON object out, scores in [0, 1]."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Self
from urllib.parse import urlsplit

from driftjudge.judges.chat import ChatEndpoint
from driftjudge.judges.endpoint import Endpoint, RefusalError, Reply, TransportTroubleError
from driftjudge.judges.errors import EndpointError, ItemError, RubricError, SettingsError
from driftjudge.judges.expected import expected_scores
from driftjudge.judges.fingerprint import Identity
from driftjudge.judges.prices import find_price
from driftjudge.judges.prompts import Prompt, find_prompt
from driftjudge.judges.protocol import Estimate, Item, Judgement, Usage
from driftjudge.judges.providers import require_extra
from driftjudge.judges.replies import read_answer
from driftjudge.judges.rubrics import Rubric, Scale, answer_schema
from driftjudge.judges.sdk import SdkEndpoint
from driftjudge.judges.settings import Example, JudgeSettings
from driftjudge.monitor.scores import Failure

BYTES_PER_TOKEN = 4
"""Of English text, about; the bound for the ceiling counts every byte as a token."""
OVERHEAD = 64
"""Tokens that a chat protocol puts around two messages, generously; the schema is counted apart."""


class LLMJudge:
    """Asks a model for all rubrics in one request; see `make_judge`."""

    cacheable = True

    def __init__(self, settings: JudgeSettings, rubrics: Sequence[Rubric], scale: Scale) -> None:
        self.settings = settings
        self.scale = scale
        self._rubrics = tuple(rubrics)
        prompt = find_prompt(settings.prompt)
        self.prompt: Prompt = prompt.with_texts(settings.instructions, settings.template, settings.fields)
        if settings.expected_scores:
            self._check_expected()
        self._shots = _shots(settings.examples, self.prompt, self._rubrics, scale)
        self._system = self.prompt.system_text(self._rubrics, scale)
        schema = answer_schema(self._rubrics, scale)
        self._fixed_bytes = len((self._system + self._shots + self.prompt.template + json.dumps(schema)).encode())
        self.identity = self._identify()
        self._fingerprint = self.identity.fingerprint
        self.price = find_price(settings)
        self._endpoint = _endpoint(settings, self._system, schema)
        self._users = 0

    def __repr__(self) -> str:
        return (
            f"LLMJudge({self.settings.provider}:{self.settings.model}, {self.prompt.version}, {self._fingerprint[:8]})"
        )

    @property
    def rubrics(self) -> tuple[str, ...]:
        """What it scores, in order."""
        return tuple(rubric.name for rubric in self._rubrics)

    @property
    def fingerprint(self) -> str:
        """The hash of `identity`."""
        return self._fingerprint

    def estimate(self, item: Item) -> Estimate:
        """What the call will consume; refuses an item that lacks a text or is too long."""
        texts = self.prompt.user_text(item.fields, item.id)
        size = self._fixed_bytes + len(texts.encode("utf-8", "surrogatepass"))
        likely = size // BYTES_PER_TOKEN + OVERHEAD
        if likely > self.settings.max_input_tokens:
            raise ItemError(
                f"Item '{item.id}' is too long for {self.settings.model}: about {likely} tokens with the prompt, over "
                f"max_input_tokens = {self.settings.max_input_tokens}; shorten it or raise the limit."
            )
        answer = min(self.settings.max_tokens, OVERHEAD + 16 * len(self._rubrics))
        if self.price is None:
            return Estimate(likely + answer, None, None)
        at_most = self.price.of(size + OVERHEAD, self.settings.max_tokens)
        return Estimate(likely + answer, self.price.of(likely, answer), at_most)

    async def score(self, item: Item) -> Judgement:
        """One request; transport failures, refusals and answers that are no scores come back as failures."""
        self.estimate(item)
        user = self.prompt.user_text(item.fields, item.id, self._shots)
        try:
            reply = await self._endpoint.ask(user)
        except TransportTroubleError as trouble:
            return Judgement(
                Failure("transport", trouble.detail),
                self._fingerprint,
                Usage(dollars=0.0 if trouble.unbilled else None),
                retry_after=trouble.retry_after,
                unbilled=trouble.unbilled,
            )
        except RefusalError as refusal:
            return Judgement(Failure("refusal", refusal.detail), self._fingerprint, Usage(dollars=0.0), unbilled=True)
        usage = self._usage(reply)
        return Judgement(self._scores(reply), self._fingerprint, usage, model=reply.model)

    async def check(self) -> None:
        """Ask the endpoint, at no cost, whether it is there and takes our key; raises `EndpointError` if not."""
        if isinstance(self._endpoint, ChatEndpoint):
            await self._endpoint.check()

    async def __aenter__(self) -> Self:
        self._users += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        self._users -= 1
        if self._users == 0:
            await self.aclose()

    async def aclose(self) -> None:
        """Give the connections back."""
        await self._endpoint.aclose()

    def _usage(self, reply: Reply) -> Usage:
        if reply.input_tokens is None or reply.output_tokens is None:
            return Usage(dollars=None)
        dollars = self.price.of(reply.input_tokens, reply.output_tokens) if self.price else None
        return Usage(reply.input_tokens, reply.output_tokens, dollars)

    def _scores(self, reply: Reply) -> tuple[float, ...] | Failure:
        if reply.refusal is not None:
            return Failure("refusal", reply.refusal)
        answer = read_answer(reply.text, self._rubrics, self.scale)
        if isinstance(answer, Failure):
            if reply.cut and answer.reason == "unparsable":
                return Failure("unparsable", f"cut off at max_tokens = {self.settings.max_tokens}")
            return answer
        if self.settings.expected_scores:
            if reply.tokens is None:
                error = EndpointError(
                    f"The endpoint of {self.settings.model} gives no token log-probabilities, which expected_scores "
                    "needs; "
                    "set it to false."
                )
                error.billed = True
                raise error
            means = expected_scores(reply.tokens, self._rubrics, self.scale)
            if means is None:
                return Failure("unparsable", "no digit of the scale among the answer's likely tokens")
            answer = means
        return tuple(self.scale.to_unit(value) for value in answer)

    def _check_expected(self) -> None:
        if self.settings.provider != "openai":
            raise SettingsError(
                "expected_scores needs token log-probabilities, which only provider 'openai' is asked for."
            )
        if not self.scale.integer or self.scale.low < 0 or self.scale.high > 9:
            raise RubricError(f"expected_scores needs a scale of single digits, such as 0-4, got {self.scale}.")

    def _identify(self) -> Identity:
        given = self.settings
        sampling = {
            name: getattr(given, name) for name in ("temperature", "top_p", "seed", "max_tokens", "expected_scores")
        }
        return Identity(
            {
                "provider": given.provider,
                "endpoint": given.endpoint or _address(given.base_url),
                "model": given.model,
                "prompt": self.prompt.version,
                "instructions": self._system,
                "template": self.prompt.template,
                "examples": self._shots,
                "rubrics": json.dumps({rubric.name: rubric.text for rubric in self._rubrics}),
                "scale": str(self.scale),
                "sampling": json.dumps(sampling),
                "extra_body": json.dumps(dict(given.extra_body), sort_keys=True, default=str),
            }
        )


def _endpoint(settings: JudgeSettings, system: str, schema: Mapping[str, object]) -> Endpoint:
    require_extra(settings.provider)
    kind = ChatEndpoint if settings.provider == "openai" else SdkEndpoint
    return kind(settings, settings.read_key(), system, schema)


def _address(base_url: str | None) -> str:
    if base_url is None:
        return ""
    parts = urlsplit(base_url)
    return f"{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path.rstrip('/')}"


def _shots(examples: Sequence[Example], prompt: Prompt, rubrics: Sequence[Rubric], scale: Scale) -> str:
    """The few-shot examples as text: each item in the template, and the answer it should get."""
    blocks: list[str] = []
    for number, example in enumerate(examples, start=1):
        texts = prompt.user_text(example.texts, f"example {number}")
        blocks.append(f"EXAMPLE {number}\n\n{texts}\n\nSCORES:\n{_answer(number, example.scores, rubrics, scale)}\n\n")
    return "".join(blocks) + "NOW SCORE THIS\n\n" if blocks else ""


def _answer(number: int, scores: Mapping[str, float], rubrics: Sequence[Rubric], scale: Scale) -> str:
    names = [rubric.name for rubric in rubrics]
    if set(scores) != set(names):
        raise SettingsError(
            f"Example {number} has scores for {', '.join(scores) or 'nothing'}; give: {', '.join(names)}."
        )
    bad = next((name for name in names if not scale.holds(scores[name])), None)
    if bad is not None:
        raise SettingsError(f"Example {number} scores '{bad}' {scores[bad]:g}, which is not on the scale {scale}.")
    return json.dumps({name: int(scores[name]) if scale.integer else scores[name] for name in names})
