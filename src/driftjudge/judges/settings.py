"""A judge's settings, as a table of a TOML file gives them; checked when they are read, before any call."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Literal, get_args
from urllib.parse import urlsplit

from driftjudge.judges.errors import MissingKeyError, SettingsError
from driftjudge.judges.nearest import suggestion

Provider = Literal["openai", "google", "anthropic"]
PROVIDERS: tuple[str, ...] = get_args(Provider)
KEYS: Mapping[str, str] = MappingProxyType(
    {"openai": "OPENAI_API_KEY", "google": "GEMINI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
)
"""The environment variable that holds the key, unless `api_key_env` names another."""

_NUMBERS = ("temperature", "top_p", "timeout", "price_input", "price_output")
_COUNTS = ("max_tokens", "max_input_tokens", "seed")
_TEXTS = ("provider", "model", "base_url", "endpoint", "api_key_env", "prompt", "instructions", "template")


@dataclass(frozen=True)
class Example:
    """A few-shot example: an item's texts and the scores it should get, on the scale."""

    texts: Mapping[str, str]
    scores: Mapping[str, float]


@dataclass(frozen=True)
class JudgeSettings:
    """How one LLM judge is asked. It names the variable that holds the key, and never holds the key."""

    model: str
    provider: str = "openai"
    """`openai` is every endpoint that speaks its protocol; `google` and `anthropic` need their extras."""
    base_url: str | None = None
    """Where an OpenAI-compatible server is; without it, the provider's own."""
    endpoint: str | None = None
    """A name for the server at `base_url` that stands for its address in the fingerprint, so that it may move."""
    api_key_env: str | None = None
    """The variable that holds the key. A server of one's own is sent no key unless this names one."""
    prompt: str = "v1"
    instructions: str | None = None
    """Replaces the prompt's instructions; holds {rubrics}, and may hold {low} and {high}."""
    template: str | None = None
    """Replaces the prompt's user template; holds the item's fields, and may hold {examples}."""
    fields: tuple[str, ...] | None = None
    """The item's texts that a template of one's own shows."""
    examples: tuple[Example, ...] = ()
    temperature: float | None = 0.0
    """None leaves it out, for models that accept none (in TOML: "default")."""
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int = 256
    """The longest answer; also what the ceiling reserves for it."""
    max_input_tokens: int = 100_000
    """Longer items are refused before they are sent."""
    expected_scores: bool = False
    """Take the mean of the scale under the token probabilities instead of the number that was written."""
    timeout: float = 60.0
    price_input: float | None = None
    """Dollars per million input tokens; without it, the public price list."""
    price_output: float | None = None
    extra_body: Mapping[str, object] = field(default_factory=dict)
    """Further fields of the request, for what an endpoint has and others do not; part of the fingerprint."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "extra_body", MappingProxyType(dict(self.extra_body)))
        if self.provider not in PROVIDERS:
            raise SettingsError(f"There is no provider '{self.provider}'{suggestion(self.provider, PROVIDERS)}.")
        if not self.model.strip():
            raise SettingsError("A judge needs the name of a model; set model.")
        if (self.price_input is None) != (self.price_output is None):
            raise SettingsError("A judge's price has two parts; set both price_input and price_output, or neither.")
        if self.base_url is not None:
            _check_url(self.base_url)
        self._check_numbers()

    def _check_numbers(self) -> None:
        ranges = {
            "temperature": (0.0, 2.0),
            "top_p": (0.0, 1.0),
            "max_tokens": (1, 1_000_000),
            "max_input_tokens": (1, 10_000_000),
            "timeout": (0.001, 3600.0),
            "price_input": (0.0, 1e6),
            "price_output": (0.0, 1e6),
        }
        for name, (low, high) in ranges.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise SettingsError(f"A judge's {name} lies between {low:g} and {high:g}, got {value:g}.")

    @classmethod
    def from_mapping(cls, given: Mapping[str, object], where: str = "the judge") -> JudgeSettings:
        """Settings from a table of a TOML or JSON file; `where` is what error messages call it."""
        known = [one.name for one in fields(cls)]
        for key in given:
            if key not in known:
                if "key" in key.lower() and key != "api_key_env":
                    raise SettingsError(
                        f"{where}: '{key}' is no setting, and keys stay out of files; put it into an environment "
                        "variable "
                        "and name that with api_key_env."
                    )
                raise SettingsError(f"{where}: unknown setting '{key}'{suggestion(key, known)}.")
        if "model" not in given:
            raise SettingsError(f"{where}: the model is missing; set model.")
        try:
            return cls(**{key: _checked(key, value) for key, value in given.items()})  # type: ignore[arg-type]
        except SettingsError as error:
            raise SettingsError(f"{where}: {error}") from None

    @property
    def key_variable(self) -> str | None:
        """The environment variable that holds the key; None where none is sent."""
        if self.api_key_env is not None:
            return self.api_key_env
        return None if self.base_url is not None else KEYS[self.provider]

    def read_key(self) -> str | None:
        """The key, from the environment; never kept in settings, reprs or files."""
        variable = self.key_variable
        if variable is None:
            return None
        key = os.environ.get(variable, "").strip()
        if not key:
            raise MissingKeyError(
                f"The environment variable {variable} holds no API key for {self.provider}:{self.model}; set it, or "
                "name "
                "another with api_key_env."
            )
        return key


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingsError("base_url is an address like http://127.0.0.1:8080/v1; give one with http or https.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise SettingsError(
            "base_url holds more than an address; put the key into an environment variable and name that with "
            "api_key_env."
        )


def _checked(key: str, value: object) -> object:
    """The value of a setting in its own type."""
    if key == "temperature" and value == "default":
        return None
    if key in _TEXTS and not isinstance(value, str):
        raise SettingsError(f"{key} is a text, got {value!r}.")
    if key in _NUMBERS and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise SettingsError(f"{key} is a number, got {value!r}.")
    if key in _COUNTS and (isinstance(value, bool) or not isinstance(value, int)):
        raise SettingsError(f"{key} is a whole number, got {value!r}.")
    if key == "expected_scores" and not isinstance(value, bool):
        raise SettingsError(f"expected_scores is true or false, got {value!r}.")
    if key == "extra_body" and not isinstance(value, Mapping):
        raise SettingsError(f"extra_body is a table, got {value!r}.")
    if key == "fields":
        return _names(value)
    if key == "examples":
        return _examples(value)
    return value


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not all(isinstance(name, str) for name in value):
        raise SettingsError(f"fields is a list of names, got {value!r}.")
    return tuple(value)


def _examples(value: object) -> tuple[Example, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise SettingsError("examples is a list of tables, each with the item's texts and its scores.")
    return tuple(one if isinstance(one, Example) else _example(one) for one in value)


def _example(value: object) -> Example:
    scores = value.get("scores") if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(scores, Mapping):
        raise SettingsError("An example is a table with the item's texts and a table 'scores' of rubric to number.")
    texts = {str(name): text for name, text in value.items() if name != "scores"}
    if not all(isinstance(text, str) for text in texts.values()):
        raise SettingsError("The texts of an example are texts; put numbers into its table 'scores'.")
    if not all(isinstance(score, int | float) and not isinstance(score, bool) for score in scores.values()):
        raise SettingsError("The scores of an example are numbers on the scale.")
    return Example(texts, {str(name): float(score) for name, score in scores.items()})
