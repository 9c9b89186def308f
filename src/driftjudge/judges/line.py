"""The line to an endpoint: POST requests over kept connections, on asyncio streams and h11.

A judge's client spends its time waiting, until 64 calls wait at once: then the general-purpose clients are the
bottleneck (measured per call, one core: 2 ms through the OpenAI SDK, 0.7 ms through httpx2, see
`benchmarks/judges.py`). This one does a single thing. Behind a proxy, which it does not speak to, httpx2 takes over.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import h11
import httpx2

LARGEST_ANSWER = 8 * 2**20
IDLE_SECONDS = 4.0
"""Servers close connections that were idle for longer, some after 5 seconds; a call on a closed one is a call lost."""
_CHUNK = 2**16
_NOT_OURS = ("host", "content-length", "connection", "accept-encoding", "transfer-encoding", "x-stainless-")
"""Headers that belong to the transfer (we read plain bodies only) or tell about a client that we are not."""


class BrokenLineError(Exception):
    """No answer came back; `sent` says whether the endpoint may have seen the request."""

    def __init__(self, detail: str, *, sent: bool) -> None:
        super().__init__(detail)
        self.detail = detail
        self.sent = sent


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes


class Line(Protocol):
    """One URL that is posted to."""

    async def post(self, body: bytes) -> Answer:
        """One request; raises `BrokenLineError` where no whole answer comes back."""

    async def aclose(self) -> None:
        """Close the connections."""


def open_line(url: str, headers: Mapping[str, str], timeout: float) -> Line:
    """A line to a URL, with the headers of every request."""
    parts = urlsplit(url)
    headers = {name: value for name, value in headers.items() if not name.lower().startswith(_NOT_OURS)}
    proxied = parts.scheme in getproxies() and not proxy_bypass(parts.hostname or "")
    return ProxiedLine(url, headers, timeout) if proxied else DirectLine(url, headers)


class DirectLine:
    """Connections that are opened as they are needed and used again, the last one first."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        self._host = parts.hostname
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._ssl = httpx2.create_ssl_context() if parts.scheme == "https" else None
        self._target = parts.path or "/"
        self._headers = [("Host", parts.netloc), *headers.items()]
        self._free: deque[_Connection] = deque()

    async def post(self, body: bytes) -> Answer:
        """One request on a free connection or a new one."""
        connection = self._take() or await self._open()
        head = h11.Request(
            method="POST", target=self._target, headers=[*self._headers, ("Content-Length", str(len(body)))]
        )
        try:
            answer = await connection.exchange(head, body)
        except BaseException:
            connection.close()
            raise
        if connection.reusable:
            self._free.append(connection)
        else:
            connection.close()
        return answer

    async def aclose(self) -> None:
        """Close the connections that are free."""
        while self._free:
            await self._free.pop().aclose()

    def _take(self) -> _Connection | None:
        while self._free:
            connection = self._free.pop()
            if connection.usable:
                return connection
            connection.close()
        return None

    async def _open(self) -> _Connection:
        try:
            reader, writer = await asyncio.open_connection(self._host, self._port, ssl=self._ssl)
        except ssl.SSLError as error:
            raise BrokenLineError(f"no secure connection ({error.reason})", sent=False) from None
        except OSError as error:
            raise BrokenLineError(f"no connection ({error.strerror or type(error).__name__})", sent=False) from None
        return _Connection(reader, writer)


class _Connection:
    """One connection, for one exchange after another."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._protocol = h11.Connection(h11.CLIENT)
        self._used = time.monotonic()

    @property
    def usable(self) -> bool:
        """Whether the server has, as far as we know, left it open."""
        fresh = time.monotonic() - self._used < IDLE_SECONDS
        return fresh and not self._reader.at_eof() and not self._writer.is_closing()

    @property
    def reusable(self) -> bool:
        """Whether another exchange may follow."""
        return self._protocol.our_state is h11.IDLE

    async def exchange(self, head: h11.Request, body: bytes) -> Answer:
        """Send a request and read its answer."""
        protocol = self._protocol
        try:
            self._writer.write(
                (protocol.send(head) or b"")
                + (protocol.send(h11.Data(data=body)) or b"")
                + (protocol.send(h11.EndOfMessage()) or b"")
            )
            await self._writer.drain()
            answer = await self._answer()
            if protocol.our_state is h11.DONE and protocol.their_state is h11.DONE:
                protocol.start_next_cycle()
        except OSError as error:
            raise BrokenLineError(
                f"the connection broke ({error.strerror or type(error).__name__})", sent=True
            ) from None
        except h11.RemoteProtocolError:
            raise BrokenLineError("the connection broke off in the middle of an answer", sent=True) from None
        self._used = time.monotonic()
        return answer

    async def _answer(self) -> Answer:
        response: h11.Response | None = None
        parts: list[bytes] = []
        size = 0
        while True:
            event = self._protocol.next_event()
            if event is h11.NEED_DATA:
                self._protocol.receive_data(await self._reader.read(_CHUNK))
            elif isinstance(event, h11.Response):
                response = event
            elif isinstance(event, h11.Data):
                parts.append(bytes(event.data))
                size += len(event.data)
                if size > LARGEST_ANSWER:
                    raise BrokenLineError(f"an answer of more than {LARGEST_ANSWER} bytes", sent=True)
            elif isinstance(event, h11.EndOfMessage) and response is not None:
                headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers]
                return Answer(response.status_code, headers, b"".join(parts))
            elif isinstance(event, h11.ConnectionClosed):
                raise BrokenLineError("the connection was closed without an answer", sent=True)

    def close(self) -> None:
        """Close, without waiting for the other side."""
        self._writer.close()

    async def aclose(self) -> None:
        """Close, and see it closed."""
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except OSError:
            return


class ProxiedLine:
    """The same through the proxy that the environment names."""

    def __init__(self, url: str, headers: Mapping[str, str], timeout: float) -> None:
        self._url = url
        self._headers = dict(headers)
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=1024)
        self._client = httpx2.AsyncClient(timeout=timeout, limits=limits)

    async def post(self, body: bytes) -> Answer:
        """One request."""
        try:
            response = await self._client.post(self._url, content=body, headers=self._headers)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
            raise BrokenLineError(f"no connection ({type(error).__name__})", sent=False) from None
        except httpx2.HTTPError as error:
            raise BrokenLineError(f"the connection broke ({type(error).__name__})", sent=True) from None
        return Answer(response.status_code, list(response.headers.items()), response.content)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()
