"""A proxy on loopback that counts what a judge is asked, so that nobody has to believe the client's own books."""

from __future__ import annotations

import http.client
import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit


class CountingProxy:
    """Forwards completions to `base_url` and remembers every prompt, in order of arrival."""

    def __init__(self, base_url: str) -> None:
        self._target = urlsplit(base_url)
        self._changed = threading.Condition()
        self.prompts: list[str] = []
        self.answered = 0
        """Answers that were handed back in full."""
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                proxy._arrived(json.loads(body))
                status, answer = proxy._forward(self.path, body)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)
                proxy._handed_back()

            def log_message(self, format: str, *args: object) -> None:
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # killed clients hang up

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def base_url(self) -> str:
        """What a judge's settings want."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def asked(self) -> int:
        """Requests so far."""
        return len(self.prompts)

    def counts(self, since: int = 0) -> Counter[str]:
        """How often each prompt was sent."""
        return Counter(self.prompts[since:])

    def wait_for(self, asked: int, seconds: float = 300.0) -> None:
        """Wait until so many requests have arrived."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.asked >= asked, seconds):
                raise AssertionError(f"{self.asked} requests arrived in {seconds} s, not {asked}")

    def wait_until_quiet(self, seconds: float = 300.0) -> None:
        """Wait until nothing is under way: the model still works on what a killed client had asked."""
        with self._changed:
            self._changed.wait_for(lambda: self._open == 0, seconds)

    _open = 0

    def _arrived(self, body: dict[str, object]) -> None:
        with self._changed:
            self.prompts.append(json.dumps(body["messages"]))
            self._open += 1
            self._changed.notify_all()

    def _handed_back(self) -> None:
        self.answered += 1

    def _forward(self, path: str, body: bytes) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(str(self._target.hostname), self._target.port, timeout=300)
        try:
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()
            with self._changed:
                self._open -= 1
                self._changed.notify_all()
