"""A typed client of the service: every call is sent until it was answered, and happens once."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar

import httpx2
from pydantic import BaseModel, ValidationError

from driftjudge.monitor.config import MonitorConfig
from driftjudge.monitor.scores import Failure
from driftjudge.service.wire import access, items, monitors, reading
from driftjudge.service.wire.shapes import ProblemShape

Shape = TypeVar("Shape", bound=BaseModel)
Scores = Sequence[float] | Mapping[str, float] | Failure
"""In rubric order, or by rubric, or why there are none."""

RETRIED = frozenset((429, 502, 503, 504))
LONGEST_PAUSE = 30.0


class ClientError(Exception):
    """The service could not be reached, or did not answer like one."""


class ProblemError(ClientError):
    """The service refused; `detail` says why and what to do."""

    def __init__(self, problem: ProblemShape) -> None:
        super().__init__(problem.detail)
        self.status, self.title, self.detail = problem.status, problem.title, problem.detail
        self.errors = problem.errors or []


class Client:
    """Talks to one service. Use it in a `with` block, from one thread at a time.

    A request that is not answered (no connection, 429, 502, 503, 504) is sent again under the same Idempotency-Key, so
    that it happens at most once however often it is sent.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = 35.0,
        attempts: int = 6,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`attempts`: how often a request is sent before the last error is raised."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = httpx2.Client(base_url=url.rstrip("/") + "/api/v1/", headers=headers, timeout=timeout)
        self._attempts, self._sleep = attempts, sleep

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Give up the connections."""
        self._http.close()

    # Setting up.

    def create_monitor(
        self,
        name: str,
        config: MonitorConfig | Mapping[str, Any],
        settings: Mapping[str, Any] | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> monitors.MonitorShape:
        """Create a monitor."""
        plain = config.to_json() if isinstance(config, MonitorConfig) else dict(config)
        body = {"name": name, "config": {k: v for k, v in plain.items() if v is not None}, "settings": settings or {}}
        return self._post(monitors.MonitorShape, "monitors", body, idempotency_key)

    def upload_anchors(
        self,
        name: str,
        anchors: Sequence[Mapping[str, Any]],
        *,
        resolution: float | None = None,
        idempotency_key: str | None = None,
    ) -> monitors.MonitorShape:
        """Upload the anchor set: id, human, passes and texts of each."""
        body = {"anchors": [dict(anchor) for anchor in anchors], "resolution": resolution}
        return self._send(monitors.MonitorShape, "PUT", f"monitors/{name}/anchors", body, idempotency_key)

    def freeze_anchors(self, name: str, *, idempotency_key: str | None = None) -> monitors.MonitorShape:
        """Freeze it."""
        return self._post(monitors.MonitorShape, f"monitors/{name}/anchors/freeze", None, idempotency_key)

    def calibrate(
        self,
        name: str,
        items: Sequence[Mapping[str, Any]],
        *,
        skip_low_bars: bool = False,
        idempotency_key: str | None = None,
    ) -> monitors.MonitorShape:
        """Give the monitor its bars, from items of a healthy time, and start it."""
        body = {"items": [dict(item) for item in items], "skip_low_bars": skip_low_bars}
        return self._post(monitors.MonitorShape, f"monitors/{name}/calibration", body, idempotency_key)

    def reanchor(
        self,
        name: str,
        items: Sequence[Mapping[str, Any]],
        *,
        skip_low_bars: bool = False,
        idempotency_key: str | None = None,
    ) -> monitors.MonitorShape:
        """Accept the current judge, with bars from these items and the anchors uploaded since."""
        body = {"items": [dict(item) for item in items], "skip_low_bars": skip_low_bars}
        return self._post(monitors.MonitorShape, f"monitors/{name}/reanchor", body, idempotency_key)

    # The stream.

    def send(
        self,
        name: str,
        item_id: str,
        stratum: str,
        cheap: Scores | None = None,
        *,
        texts: Mapping[str, str] | None = None,
        strong: Scores | None = None,
    ) -> items.ItemShape:
        """Send one item; it is durable when this returns."""
        return self._post(items.ItemShape, f"monitors/{name}/items", new_item(item_id, stratum, cheap, texts, strong))

    def send_many(
        self, name: str, batch: Sequence[Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> list[items.ItemShape]:
        """Send a batch (see `new_item`), all or none."""
        body = {"items": [dict(item) for item in batch]}
        return self._post(items.ItemsShape, f"monitors/{name}/items/batch", body, idempotency_key).items

    def record_strong(
        self, name: str, scores: Mapping[str, Scores], *, fingerprint: str = "", idempotency_key: str | None = None
    ) -> items.RecordedShape:
        """Strong scores of items that were asked for, by item id."""
        rows = [{"id": one, "scores": _plain(row), "fingerprint": fingerprint} for one, row in scores.items()]
        return self._post(items.RecordedShape, f"monitors/{name}/scores", {"scores": rows}, idempotency_key)

    def record_anchors(
        self,
        name: str,
        scores: Sequence[tuple[str, Scores]],
        *,
        fingerprint: str = "",
        idempotency_key: str | None = None,
    ) -> items.RecordedShape:
        """Re-scores of anchors that were asked for: one anchor may have been asked for more than once."""
        rows = [{"id": one, "scores": _plain(row), "fingerprint": fingerprint} for one, row in scores]
        return self._post(items.RecordedShape, f"monitors/{name}/rescores", {"scores": rows}, idempotency_key)

    def wanted(self, name: str) -> items.WantedShape:
        """What the monitor waits for."""
        return self._get(items.WantedShape, f"monitors/{name}/wanted")

    # Reading.

    def monitor(self, name: str) -> monitors.MonitorDetailShape:
        """One monitor."""
        return self._get(monitors.MonitorDetailShape, f"monitors/{name}")

    def monitors(self) -> Iterator[monitors.MonitorShape]:
        """All monitors, page by page."""
        after: str | None = ""
        while after is not None:
            page = self._get(monitors.MonitorPage, "monitors", {"after": after})
            yield from page.monitors
            after = page.next

    def verdict(self, name: str) -> reading.VerdictShape:
        """Who drifted."""
        return self._get(reading.VerdictShape, f"monitors/{name}/verdict")

    def evidence(self, name: str) -> reading.EvidenceShape:
        """Everything behind the verdict."""
        return self._get(reading.EvidenceShape, f"monitors/{name}/evidence")

    def trace(self, name: str) -> reading.TraceShape:
        """The evidence over time."""
        return self._get(reading.TraceShape, f"monitors/{name}/trace")

    def costs(self, name: str) -> reading.CostsShape:
        """What was spent."""
        return self._get(reading.CostsShape, f"monitors/{name}/costs")

    def anchors(self, name: str, *, offset: int = 0, limit: int = 100) -> reading.AnchorsShape:
        """How the judge stands to the humans and to itself."""
        return self._get(reading.AnchorsShape, f"monitors/{name}/anchors", {"offset": offset, "limit": limit})

    def events(self, name: str, *, after: int = 0) -> Iterator[reading.EventShape]:
        """The log from there on, page by page."""
        following: int | None = after
        while following is not None:
            page = self._get(reading.EventPage, f"monitors/{name}/events", {"after": following, "limit": 1_000})
            yield from page.events
            following = page.next

    def alarms(self, name: str) -> list[reading.AlarmShape]:
        """The newest alarms."""
        return self._get(reading.AlarmPage, f"monitors/{name}/alarms").alarms

    def changes(self, name: str | None = None, *, after: int | None = None) -> Iterator[reading.ChangeShape]:
        """Changes as they happen, for as long as you iterate; resumes by itself where a connection broke."""
        path = "changes" if name is None else f"monitors/{name}/changes"
        failed = 0
        while True:
            headers = {} if after is None else {"Last-Event-ID": str(after)}
            try:
                with self._http.sse(path, headers=headers, timeout=httpx2.Timeout(35.0)) as source:
                    _check(source.response)
                    for event in source:
                        if event.data:
                            failed = 0
                            change = reading.ChangeShape.model_validate_json(event.data)
                            after = change.id if change.id is not None else after
                            yield change
            except httpx2.TransportError as error:
                failed += 1
                if failed >= self._attempts:
                    raise ClientError(f"the stream broke off {failed} times ({error}); is the service up?") from error
            self._sleep(_pause(failed, None))

    # After an alarm.

    def acknowledge(
        self,
        name: str,
        *,
        note: str = "",
        items: Sequence[Mapping[str, Any]] = (),
        idempotency_key: str | None = None,
    ) -> reading.AlarmShape:
        """Take note of a final system verdict; with items, their level becomes the bar."""
        body = {"note": note, "items": [dict(item) for item in items]}
        return self._post(reading.AlarmShape, f"monitors/{name}/acknowledge", body, idempotency_key)

    def close_alarm(
        self, name: str, alarm: int, *, note: str = "", idempotency_key: str | None = None
    ) -> reading.AlarmShape:
        """Close an alarm that was acknowledged."""
        return self._post(reading.AlarmShape, f"monitors/{name}/alarms/{alarm}/close", {"note": note}, idempotency_key)

    # Access.

    def create_key(self, label: str, role: str, monitors: Sequence[str] | None = None) -> access.CreatedKey:
        """A new API key; its text is shown this once. Not sent again when unanswered: look at the list instead."""
        body = {"label": label, "role": role, "monitors": None if monitors is None else list(monitors)}
        return _read(access.CreatedKey, self._request("POST", "keys", body, {}, None, attempts=1))

    def me(self) -> access.Me:
        """Who this client is to the service."""
        return self._get(access.Me, "me")

    # Inner workings.

    def _get(self, shape: type[Shape], path: str, query: Mapping[str, Any] | None = None) -> Shape:
        return _read(shape, self._request("GET", path, None, {}, query))

    def _post(self, shape: type[Shape], path: str, body: Any, idempotency_key: str | None = None) -> Shape:
        return self._send(shape, "POST", path, body, idempotency_key)

    def _send(self, shape: type[Shape], method: str, path: str, body: Any, idempotency_key: str | None) -> Shape:
        headers = {"Idempotency-Key": idempotency_key or str(uuid.uuid4())}
        return _read(shape, self._request(method, path, body, headers, None))

    def _request(
        self,
        method: str,
        path: str,
        body: Any,
        headers: Mapping[str, str],
        query: Mapping[str, Any] | None,
        attempts: int | None = None,
    ) -> httpx2.Response:
        most = self._attempts if attempts is None else attempts
        for attempt in range(1, most + 1):
            try:
                response = self._http.request(method, path, json=body, headers=headers, params=query)
            except httpx2.TransportError as error:
                if attempt == most:
                    raise ClientError(
                        f"the service at {self._http.base_url} did not answer ({type(error).__name__}); is it up?"
                    ) from error
                self._sleep(_pause(attempt, None))
                continue
            if response.status_code not in RETRIED or attempt == most:
                break
            self._sleep(_pause(attempt, response.headers.get("Retry-After")))
        _check(response)
        return response


def new_item(
    item_id: str,
    stratum: str,
    cheap: Scores | None = None,
    texts: Mapping[str, str] | None = None,
    strong: Scores | None = None,
) -> dict[str, Any]:
    """An item for `Client.send_many`."""
    item: dict[str, Any] = {"id": item_id, "stratum": stratum}
    if cheap is not None:
        item["cheap"] = _plain(cheap)
    if texts is not None:
        item["texts"] = dict(texts)
    if strong is not None:
        item["strong"] = _plain(strong)
    return item


def _plain(scores: Scores) -> Any:
    if isinstance(scores, Failure):
        return {"failure": scores.reason, "detail": scores.detail}
    if isinstance(scores, Mapping):
        return {rubric: float(score) for rubric, score in scores.items()}
    return [float(score) for score in scores]


def _pause(attempt: int, wanted: str | None) -> float:
    """How long to wait: what the service asks for, or twice as long each time, with some jitter."""
    if wanted is not None and wanted.isdecimal():
        return min(LONGEST_PAUSE, float(wanted))
    longest: float = min(LONGEST_PAUSE, 0.2 * 2.0**attempt)
    return longest * random.uniform(0.5, 1.0)


def _check(response: httpx2.Response) -> None:
    if response.is_success:
        return
    response.read()
    try:
        problem = ProblemShape.model_validate_json(response.content)
    except ValidationError as error:
        raise ClientError(
            f"{response.url} answered {response.status_code} and not like a driftjudge service; check the address"
        ) from error
    raise ProblemError(problem)


def _read(shape: type[Shape], response: httpx2.Response) -> Shape:
    try:
        return shape.model_validate_json(response.content)
    except ValidationError as error:
        raise ClientError(f"{response.url} did not answer like a driftjudge service; check the address") from error
