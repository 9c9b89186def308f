"""Endpoints that speak OpenAI's chat protocol, at the speed that many calls at once need.

pydantic-ai writes the request once per judge, around a mark where the item's text goes, and is shown every error that
comes back; the calls in between send that request with the item's text in place. Through its client each call would
cost ten times the work, and 64 calls at once would wait for our processor instead of for the endpoint.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2

from driftjudge.judges.endpoint import Reply, TransportTroubleError, without_keys
from driftjudge.judges.errors import EndpointError
from driftjudge.judges.expected import Token
from driftjudge.judges.line import Answer, BrokenLineError, Line, open_line
from driftjudge.judges.providers import Dialect, key_refused
from driftjudge.judges.settings import JudgeSettings

_MARK = "\u2063the item's texts\u2063"
_CANNED = {
    "id": "none",
    "object": "chat.completion",
    "created": 1,
    "model": "none",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "{}"}}],
}


class _StandIn(httpx2.AsyncBaseTransport):
    """In place of the network: keeps the request it is given, and answers with what it was told to."""

    def __init__(self, answer: httpx2.Response) -> None:
        self.answer = answer
        self.request: httpx2.Request | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Keep and answer."""
        await request.aread()
        self.request = request
        return self.answer


@dataclass(frozen=True)
class _Written:
    """A request as pydantic-ai writes it, cut in two where the item's text goes."""

    url: str
    headers: Mapping[str, str]
    before: bytes
    after: bytes


class ChatEndpoint:
    """A model behind an OpenAI-compatible endpoint."""

    def __init__(self, settings: JudgeSettings, key: str | None, system: str, schema: Mapping[str, object]) -> None:
        self._settings = settings
        self._key = key
        self._system = system
        self._schema = schema
        self._written: _Written | None = None
        self._line: Line | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._writing = asyncio.Lock()

    def __repr__(self) -> str:
        return f"ChatEndpoint({self._settings.model})"

    async def ask(self, user: str) -> Reply:
        """One request."""
        written, line = await self._ready()
        body = written.before + json.dumps(user).encode() + written.after
        try:
            async with asyncio.timeout(self._settings.timeout):
                answer = await line.post(body)
        except TimeoutError:
            raise TransportTroubleError(f"no answer within {self._settings.timeout:g} s") from None
        except BrokenLineError as broken:
            raise TransportTroubleError(broken.detail, unbilled=not broken.sent) from None
        if answer.status != 200:
            return await self._explained(answer)
        return read_completion(answer.body, self._key)

    async def check(self) -> None:
        """See whether the endpoint is there and takes our key, by asking for its list of models, which costs nothing.

        An endpoint without such a list passes.
        """
        base = self._settings.base_url
        if base is None:
            return
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        seconds = self._settings.timeout
        try:
            async with asyncio.timeout(seconds), httpx2.AsyncClient(timeout=seconds) as client:
                status = (await client.get(base.rstrip("/") + "/models", headers=headers)).status_code
        except (TimeoutError, httpx2.HTTPError) as error:
            what = without_keys(str(error), self._key) or type(error).__name__
            raise EndpointError(
                f"Nothing answers at {base} ({what}); start the endpoint or correct base_url."
            ) from None
        if status in (401, 403):
            raise key_refused(self._settings, status)

    async def aclose(self) -> None:
        """Close the connections."""
        line, self._line = self._line, None
        if line is not None:
            await line.aclose()

    async def _ready(self) -> tuple[_Written, Line]:
        """The request, written once, and a line that belongs to this event loop."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._line, self._writing = loop, None, asyncio.Lock()
        if self._written is None:
            self._written = await self._written_once()
        if self._line is None:
            self._line = open_line(self._written.url, self._written.headers, self._settings.timeout)
        return self._written, self._line

    async def _written_once(self) -> _Written:
        """Of many first calls one writes, and the others wait for it."""
        async with self._writing:
            return self._written or await self._write()

    async def _write(self) -> _Written:
        stand_in = _StandIn(httpx2.Response(200, json=_CANNED))
        await self._through(stand_in)
        assert stand_in.request is not None
        before, mark, after = stand_in.request.content.decode().partition(_json_text(stand_in.request.content))
        assert mark
        return _Written(str(stand_in.request.url), dict(stand_in.request.headers), before.encode(), after.encode())

    async def _explained(self, answer: Answer) -> Reply:
        """What an error status means: pydantic-ai is shown the answer, and raises. (Some filters answer this way.)"""
        kept = [
            (name, value)
            for name, value in answer.headers
            if name.lower() not in ("content-length", "content-encoding")
        ]
        if 300 <= answer.status < 400:
            raise EndpointError(
                f"The endpoint at {self._settings.base_url or 'its provider'} sends us elsewhere (status "
                f"{answer.status}); "
                "correct base_url."
            )
        if answer.status < 300:
            raise TransportTroubleError(f"status {answer.status} without an answer")
        return await self._through(_StandIn(httpx2.Response(answer.status, headers=kept, content=answer.body)))

    async def _through(self, stand_in: _StandIn) -> Reply:
        async with httpx2.AsyncClient(transport=stand_in) as client:
            dialect = Dialect(self._settings, self._key, self._system, self._schema, client)
            return await dialect.request(_MARK)


def _json_text(content: bytes) -> str:
    """The mark as it stands in the request, quotes included."""
    return next(text for text in (json.dumps(_MARK), json.dumps(_MARK, ensure_ascii=False)) if text.encode() in content)


def read_completion(body: bytes, key: str | None = None) -> Reply:
    """What a chat completion says; an answer that is none is a fault of the line, not of the judge."""
    try:
        found = json.loads(body)
        choice = found["choices"][0]
        message = choice["message"]
        text = _text(message.get("content"))
        refusal = message.get("refusal")
        finish = choice.get("finish_reason")
        usage = found.get("usage") or {}
        if finish == "content_filter" and not refusal:
            refusal = "the content filter stopped the answer"
        logprobs = (choice.get("logprobs") or {}).get("content")
        return Reply(
            text=text,
            model=str(found.get("model") or ""),
            input_tokens=_count(usage.get("prompt_tokens")),
            output_tokens=_count(usage.get("completion_tokens")),
            refusal=None if not refusal else without_keys(str(refusal), key),
            cut=finish == "length",
            tokens=_tokens(logprobs) if logprobs else None,
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        raise TransportTroubleError("the endpoint's answer is not in its own protocol") from None


def _text(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part.get("type") == "text")


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _tokens(content: Sequence[Mapping[str, Any]]) -> tuple[Token, ...]:
    return tuple(
        Token(str(one["token"]), [(str(other["token"]), float(other["logprob"])) for other in one["top_logprobs"]])
        for one in content
    )
