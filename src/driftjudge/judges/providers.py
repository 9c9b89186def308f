"""The only module that knows pydantic-ai: it writes requests in a provider's dialect and says what its errors mean.

Models are asked through `Model.request`, below the agents: one call is one request, and nothing is retried or validated
behind our back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from driftjudge.judges.endpoint import RefusalError, Reply, TransportTroubleError, without_keys
from driftjudge.judges.errors import EndpointError, MissingExtraError
from driftjudge.judges.settings import JudgeSettings

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

TOP_LOGPROBS = 20
"""As many alternatives as the protocol allows."""
_PACKAGES = {"openai": "openai", "google": "google.genai", "anthropic": "anthropic"}


def require_extra(provider: str) -> None:
    """Refuse a provider whose client is not installed, in one sentence and before anything is asked."""
    for package in ("pydantic_ai", _PACKAGES[provider]):
        try:
            found = find_spec(package) is not None
        except ModuleNotFoundError:
            found = False
        if not found:
            extra = "judges" if provider == "openai" else provider
            raise MissingExtraError(
                f"Judges of the provider '{provider}' need the package {package}, which is not installed; run: "
                f'pip install "driftjudge[{extra}]".'
            )


class Dialect:
    """One model of one provider, over an HTTP client of ours that may be a stand-in."""

    def __init__(
        self,
        settings: JudgeSettings,
        key: str | None,
        system: str,
        schema: Mapping[str, object],
        client: httpx2.AsyncClient,
    ) -> None:
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition

        self._settings = settings
        self._key = key
        self._system = system
        self._model = _model(settings, key, client)
        answer = OutputObjectDefinition(json_schema=dict(schema), name="scores", strict=True)
        self._parameters = ModelRequestParameters(output_mode="native", output_object=answer)
        self._sampling = _sampling(settings)

    async def request(self, user: str) -> Reply:
        """One request, its errors told in our words."""
        from pydantic_ai import exceptions
        from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart

        messages = ModelRequest(parts=[SystemPromptPart(self._system), UserPromptPart(user)])
        try:
            # The client's own timeouts start anew with every byte; this one does not.
            async with asyncio.timeout(self._settings.timeout):
                response = await self._model.request([messages], self._sampling, self._parameters)
        except TimeoutError:
            raise TransportTroubleError(f"no answer within {self._settings.timeout:g} s") from None
        except exceptions.ModelAPIError as error:
            raise self._trouble(error) from None
        except exceptions.ContentFilterError as error:
            raise RefusalError(without_keys(str(error), self._key)) from None
        except exceptions.UnexpectedModelBehavior:
            raise TransportTroubleError("the endpoint's answer is not in its own protocol") from None
        return _reply(response)

    def _trouble(self, error: Any) -> Exception:
        """What an error of pydantic-ai means for us."""
        from pydantic_ai import exceptions

        who = f"{self._settings.provider}:{self._settings.model}"
        where = self._settings.base_url or "its provider"
        status = getattr(error, "status_code", None)
        said = without_keys(_message(error), self._key)
        if isinstance(error, exceptions.ModelAuthenticationError):
            return key_refused(self._settings, status)
        if isinstance(error, exceptions.ModelNotFoundError):
            return EndpointError(
                f"The endpoint at {where} knows no model '{self._settings.model}' ({said}); check model and base_url."
            )
        if isinstance(error, exceptions.ModelQuotaExceededError):
            return EndpointError(f"The account behind {who} has no credit left ({said}); top it up.")
        if isinstance(error, exceptions.ModelContextWindowExceededError):
            return RefusalError("the item is longer than the model's context window")
        if isinstance(error, exceptions.ModelRequestRejectedError) and status not in (408, 409, 425):
            if _filtered(error):
                return RefusalError(said)
            return EndpointError(f"The endpoint at {where} refuses requests to {who} ({said}); check its settings.")
        if status is not None:
            return TransportTroubleError(f"status {status}: {said}", retry_after=error.retry_after, unbilled=True)
        phase = getattr(error, "phase", None)
        return TransportTroubleError(said, retry_after=error.retry_after, unbilled=phase in ("pool", "connect"))


def key_refused(settings: JudgeSettings, status: object) -> EndpointError:
    """The sentence for a key that is not accepted; without what the endpoint said, because that may quote the key."""
    who = f"{settings.provider}:{settings.model}"
    where = settings.base_url or "its provider"
    variable = settings.key_variable
    fix = f"check the key in {variable}" if variable else "name the variable that holds its key with api_key_env"
    return EndpointError(f"The endpoint at {where} does not accept our key for {who} (status {status}); {fix}.")


def _sampling(given: JudgeSettings) -> ModelSettings:
    chosen: dict[str, object] = {"max_tokens": given.max_tokens, "timeout": given.timeout}
    for name in ("temperature", "top_p", "seed"):
        if (value := getattr(given, name)) is not None:
            chosen[name] = value
    if given.expected_scores:
        chosen |= {"openai_logprobs": True, "openai_top_logprobs": TOP_LOGPROBS}
    if given.extra_body:
        chosen["extra_body"] = dict(given.extra_body)
    if given.provider == "anthropic":
        chosen["max_retries"] = 0
    return cast("ModelSettings", chosen)


def _model(settings: JudgeSettings, key: str | None, client: httpx2.AsyncClient) -> Model[Any]:
    """The provider's model over our HTTP client, with a client that retries nothing."""
    base, secret = settings.base_url, key or "unset"
    provider: Any
    if settings.provider == "google":
        once = import_module("google.genai.types").HttpRetryOptions(attempts=1)
        kind = import_module("pydantic_ai.providers.google").GoogleProvider
        provider = kind(api_key=secret, http_client=client, base_url=base, retry_options=once)
        return cast(
            "Model[Any]", import_module("pydantic_ai.models.google").GoogleModel(settings.model, provider=provider)
        )
    if settings.provider == "anthropic":
        kind = import_module("pydantic_ai.providers.anthropic").AnthropicProvider
        provider = kind(api_key=secret, http_client=client, base_url=base)
        model = import_module("pydantic_ai.models.anthropic").AnthropicModel(settings.model, provider=provider)
        return cast("Model[Any]", model)
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    sdk = AsyncOpenAI(api_key=secret, base_url=base, http_client=cast("Any", client), max_retries=0)
    if base is None:
        return OpenAIChatModel(settings.model, provider=OpenAIProvider(openai_client=sdk))
    return OpenAIChatModel(settings.model, provider=OpenAICompatibleProvider("endpoint", openai_client=sdk))


def _reply(response: ModelResponse) -> Reply:
    from pydantic_ai.messages import TextPart

    details = response.provider_details or {}
    refusal: str | None = None
    if response.finish_reason == "content_filter":
        refusal = str(details.get("refusal") or "the content filter stopped the answer")
    usage = response.usage
    counted = bool(usage.input_tokens or usage.output_tokens)
    return Reply(
        text="".join(part.content for part in response.parts if isinstance(part, TextPart)),
        model=response.model_name or "",
        input_tokens=usage.input_tokens if counted else None,
        output_tokens=usage.output_tokens if counted else None,
        refusal=refusal,
        cut=response.finish_reason == "length",
    )


def _message(error: Any) -> str:
    """What the endpoint said, without what pydantic-ai wrote around it."""
    body = getattr(error, "body", None)
    for inner in (body, body.get("error") if isinstance(body, Mapping) else None):
        if isinstance(inner, Mapping) and isinstance(inner.get("message"), str):
            return cast("str", inner["message"])
    return str(error)


def _filtered(error: Any) -> bool:
    """Whether a rejected request was rejected for its content."""
    marks = f"{getattr(error, 'provider_error_code', '')} {getattr(error, 'provider_error_type', '')}".lower()
    return any(mark in marks for mark in ("content_filter", "content_policy", "safety", "moderation"))
