"""Receivers on loopback that record what they get and misbehave to order."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller


@dataclass(frozen=True)
class Received:
    """One request that came in, and how it was answered."""

    path: str
    headers: dict[str, str]
    body: bytes
    answer: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """Answers by a script, one word per request, and takes everything once the script is over.

    Words: a status code, `429 <seconds>`, `hang`, `cut`.
    """

    script: list[str] = field(default_factory=list)
    requests: list[Received] = field(default_factory=list)
    url: str = ""
    released: threading.Event = field(default_factory=threading.Event)
    """Set to let a hanging answer go."""

    @property
    def accepted(self) -> list[Received]:
        return [request for request in self.requests if request.answer == "202"]


@contextmanager
def http_receiver(script: Sequence[str] = (), port: int = 0) -> Iterator[Receiver]:
    """A receiver of webhooks; the script is followed from its first request."""
    receiver = Receiver(list(script))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            word = receiver.script.pop(0) if receiver.script else "202"
            receiver.requests.append(Received(self.path, dict(self.headers), body, word))
            if word == "hang":
                receiver.released.wait(30)
            if word in ("hang", "cut"):
                self.close_connection = True
                return
            status, _, seconds = word.partition(" ")
            self.send_response(int(status))
            if seconds:
                self.send_header("Retry-After", seconds)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield receiver
    finally:
        receiver.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Mailbox:
    """A mail server's script and what it took."""

    script: list[str] = field(default_factory=list)
    messages: list[EmailMessage] = field(default_factory=list)
    attempts: int = 0
    port: int = 0

    async def handle_DATA(self, _server: object, _session: object, envelope: Any) -> str:  # noqa: N802
        self.attempts += 1
        word = self.script.pop(0) if self.script else "250 taken"
        if word == "hang":
            await asyncio.sleep(30)
        if word.startswith("250"):
            message = BytesParser(policy=default).parsebytes(envelope.content)
            assert isinstance(message, EmailMessage)
            self.messages.append(message)
        return word


@contextmanager
def mail_receiver(script: Sequence[str] = ()) -> Iterator[Mailbox]:
    """A mail server on loopback."""
    mailbox = Mailbox(list(script))
    with socket.socket() as probe:  # the controller cannot choose a port by itself
        probe.bind(("127.0.0.1", 0))
        mailbox.port = probe.getsockname()[1]
    controller = Controller(mailbox, hostname="127.0.0.1", port=mailbox.port)
    controller.start()
    try:
        yield mailbox
    finally:
        controller.stop()
