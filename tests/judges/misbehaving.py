"""A real server on loopback that speaks OpenAI's chat protocol, and misbehaves on demand.

    with MisbehavingServer() as server:
        server.next(status(429, retry_after=0), hang())    # for the next requests, in order
        server.default = answer({"tone": 3})               # for all others
        ... make_judge({"model": "m", "base_url": server.url}, ...)
        server.seen                                        # every request, with its headers and body

A behaviour is a function from the request to bytes on the wire (or to what the connection does instead).
"""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Seen:
    """A request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def user(self) -> str:
        """The text of the user's message."""
        return str(self.body["messages"][-1]["content"])


@dataclass(frozen=True)
class Reaction:
    """What the server does: waits, writes, perhaps hangs up."""

    wire: bytes = b""
    delay: float = 0.0
    hang: bool = False
    hang_up: bool = False
    drip: float = 0.0
    """Seconds between single bytes."""


Behaviour = Callable[[Seen], Reaction]


def http(status: int, body: bytes, headers: Mapping[str, str] | None = None) -> bytes:
    """An HTTP answer."""
    lines = [f"HTTP/1.1 {status} Whatever", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def completion(
    seen: Seen,
    text: str | None,
    *,
    finish: str = "stop",
    refusal: str | None = None,
    model: str | None = None,
    usage: tuple[int, int] | None = (300, 40),
    logprobs: Sequence[Mapping[str, Any]] | None = None,
) -> bytes:
    """A chat completion."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    choice: dict[str, Any] = {"index": 0, "finish_reason": finish, "message": message}
    if logprobs is not None:
        choice["logprobs"] = {"content": list(logprobs)}
    found: dict[str, Any] = {"id": "c", "object": "chat.completion", "created": 1, "choices": [choice]}
    found["model"] = model or seen.body.get("model", "")
    if usage is not None:
        found["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return http(200, json.dumps(found).encode())


def answer(scores: Mapping[str, Any], *, delay: float = 0.0, **more: Any) -> Behaviour:
    """The scores as a JSON object."""
    return lambda seen: Reaction(completion(seen, json.dumps(dict(scores)), **more), delay)


def answer_by(score: Callable[[Seen], Mapping[str, Any]]) -> Behaviour:
    """Scores that depend on the request."""
    return lambda seen: Reaction(completion(seen, json.dumps(dict(score(seen)))))


def prose(text: str = "I would say it is rather good.", finish: str = "stop") -> Behaviour:
    """Words instead of JSON."""
    return lambda seen: Reaction(completion(seen, text, finish=finish))


def refusal(text: str = "I cannot help with that.") -> Behaviour:
    """The model declines, in the field made for it."""
    return lambda seen: Reaction(completion(seen, None, refusal=text))


def content_filter() -> Behaviour:
    """The answer is filtered away."""
    return lambda seen: Reaction(completion(seen, "", finish="content_filter"))


def status(number: int, message: str = "no", *, retry_after: float | None = None, **error: str) -> Behaviour:
    """An error status."""
    headers = {} if retry_after is None else {"Retry-After": f"{retry_after:g}"}
    body = json.dumps({"error": {"message": message, "type": "error", **error}}).encode()
    return lambda _: Reaction(http(number, body, headers))


def raw(wire: bytes, *, hang_up: bool = True) -> Behaviour:
    """Any bytes, then the end of the connection."""
    return lambda _: Reaction(wire, hang_up=hang_up)


def hang() -> Behaviour:
    """Never an answer."""
    return lambda _: Reaction(hang=True)


def drip(scores: Mapping[str, Any], seconds: float) -> Behaviour:
    """A right answer, one byte at a time: no single wait is long."""
    return lambda seen: Reaction(completion(seen, json.dumps(dict(scores))), drip=seconds)


def cut() -> Behaviour:
    """The connection is closed instead of an answer."""
    return lambda _: Reaction(hang_up=True)


def cut_midway() -> Behaviour:
    """The connection is closed in the middle of an answer."""
    return lambda seen: Reaction(completion(seen, '{"tone": 3}')[:-20], hang_up=True)


@dataclass
class MisbehavingServer:
    """The server, in a thread of its own."""

    default: Behaviour = field(default_factory=lambda: answer({"tone": 3}))
    models: Behaviour | None = None
    """What GET /models gets; None for a list of models."""
    seen: list[Seen] = field(default_factory=list)
    """Requests for completions, in order of arrival."""
    most_at_once: int = 0
    tls: ssl.SSLContext | None = None
    _script: deque[Behaviour] = field(default_factory=deque)
    _open: int = 0

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,), daemon=True)
        self._thread.start()
        if not started.wait(30):
            raise RuntimeError("the server did not start")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)

    @property
    def url(self) -> str:
        """The base URL."""
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}/v1"

    def next(self, *behaviours: Behaviour) -> None:
        """What the next requests get, one each."""
        self._script.extend(behaviours)

    def _run(self, started: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve(started))
        finally:
            self._loop.close()

    async def _serve(self, started: threading.Event) -> None:
        self._stop = asyncio.Event()
        self._connections: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=self.tls)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await self._stop.wait()
        server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while (seen := await _request(reader)) is not None:
                if not await self._react(seen, writer):
                    break
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _react(self, seen: Seen, writer: asyncio.StreamWriter) -> bool:
        """Behave; whether the connection stays open."""
        if seen.method == "GET":
            reaction = self.models(seen) if self.models else Reaction(http(200, b'{"object": "list", "data": []}'))
        else:
            self.seen.append(seen)
            behaviour = self._script.popleft() if self._script else self.default
            reaction = behaviour(seen)
        self._open += 1
        self.most_at_once = max(self.most_at_once, self._open)
        try:
            if reaction.delay:
                await asyncio.sleep(reaction.delay)
            if reaction.hang:
                await self._stop.wait()
        finally:
            self._open -= 1
        if reaction.drip:
            for byte in reaction.wire:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(reaction.drip)
        else:
            writer.write(reaction.wire)
            await writer.drain()
        return not reaction.hang_up


async def _request(reader: asyncio.StreamReader) -> Seen | None:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Seen(method, path, headers, json.loads(body) if body else {})
