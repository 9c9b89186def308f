"""An endpoint that is asked: one request to one model, and what came back, whoever the provider is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from driftjudge.judges.expected import Token

_KEY_LIKE = re.compile(
    r"\b(?:sk|pk|key|AIza)[-_][-_A-Za-z0-9*.]{8,}|\bAIza[-_A-Za-z0-9]{8,}|\bBearer\s+\S+", re.IGNORECASE
)
_SHOWN = 160


@dataclass(frozen=True)
class Reply:
    """What a model answered."""

    text: str
    model: str = ""
    input_tokens: int | None = None
    """None where the endpoint did not say; nobody knows then what the call cost."""
    output_tokens: int | None = None
    refusal: str | None = None
    """Why nothing was answered, where the endpoint's filter or the model declined."""
    cut: bool = False
    """True where the answer reached the limit of tokens."""
    tokens: tuple[Token, ...] | None = None
    """The answer's tokens with their alternatives, where they were asked for and given."""


class TransportTroubleError(Exception):
    """The request did not come through; it says nothing about the judge and may be made again."""

    def __init__(self, detail: str, *, retry_after: float | None = None, unbilled: bool = False) -> None:
        super().__init__(detail)
        self.detail = detail
        self.retry_after = retry_after
        self.unbilled = unbilled


class RefusalError(Exception):
    """The endpoint declined to have this item judged."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class Endpoint(Protocol):
    """A model with its instructions; raises the errors above, and `EndpointError` where it refuses us altogether."""

    async def ask(self, user: str) -> Reply:
        """Make one request: never more than one, whatever comes back."""

    async def aclose(self) -> None:
        """Close the connections; they are opened again when asked again."""


def without_keys(text: str, key: str | None) -> str:
    """A text of the endpoint's that may be shown: on one line, short, and without anything that looks like a key.

    >>> without_keys("Incorrect API key provided: sk-proj-12345678.", None)
    'Incorrect API key provided: [key]'
    """
    line = " ".join(text.split())
    if key:
        line = line.replace(key, "[key]")
    line = _KEY_LIKE.sub("[key]", line)
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
