"""Changes as server-sent events: one reader of the service, bounded queues for the listeners."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable

from starlette.concurrency import run_in_threadpool

from driftjudge.service.access import UnauthorisedError
from driftjudge.service.api.given import change_shape
from driftjudge.service.errors import BackPressureError, ClosedError
from driftjudge.service.runtime import Service
from driftjudge.service.values import Change
from driftjudge.service.wire.shapes import dumped
from driftjudge.store.errors import StoreError

MOST_QUEUED = 1_000
"""Changes a slow listener may lag behind; beyond that its stream ends and it resumes from Last-Event-ID."""

RETRY_MILLISECONDS = 2_000

Filter = Callable[[Change], bool]
Check = Callable[[], object]
"""Raises UnauthorisedError once whoever opened a stream may not listen any more."""


class Listener:
    """One open stream."""

    def __init__(self, wants: Filter) -> None:
        self.wants = wants
        self.queue: asyncio.Queue[Change | None] = asyncio.Queue(MOST_QUEUED)
        self.ended = False

    def put(self, change: Change | None) -> None:
        """Hand over a change; a full queue ends the stream, because skipping silently would be a lie."""
        if self.ended or (change is not None and not self.wants(change)):
            return
        try:
            self.queue.put_nowait(change)
        except asyncio.QueueFull:
            self.ended = True


class Streams:
    """Listens to the service in one thread, and hands what it hears to every open stream."""

    def __init__(self, service: Service, *, most: int, heartbeat_seconds: float) -> None:
        self._service, self._most, self._heartbeat = service, most, heartbeat_seconds
        self._listeners: set[Listener] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.on_count: Callable[[int], None] = lambda _: None

    def start(self) -> None:
        """Begin to listen; called in the event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._listen, name="driftjudge-streams", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """End every stream, so that a shutdown need not wait for them; may be called from a signal handler."""
        self._stopping.set()
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._tell, None)

    def close(self) -> None:
        """End every stream and wait for the thread."""
        self.end()
        if self._thread is not None:
            self._thread.join(timeout=10.0)

    def _listen(self) -> None:
        while not self._stopping.is_set():
            with self._service.subscribe() as subscription:
                while not self._stopping.is_set() and not subscription.dropped:
                    change = subscription.get(timeout=0.5)
                    if change is not None:
                        self._from_thread(change)
            if not self._stopping.is_set():
                self._from_thread(None)  # something was missed: let every listener resume from the store

    def _from_thread(self, change: Change | None) -> None:
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(self._tell, change)
        except RuntimeError:  # the loop was closed under us: nobody is left to tell
            self._stopping.set()

    def _tell(self, change: Change | None) -> None:
        for listener in self._listeners:
            if change is None:
                listener.ended = True
                if not listener.queue.full():
                    listener.queue.put_nowait(None)
            else:
                listener.put(change)

    def open(self, wants: Filter, last: int | None, still: Check) -> AsyncIterator[str]:
        """A new stream: what was missed since `last`, then whatever comes.

        `still` is asked at every heartbeat, in a thread: a stream must not outlive the key that opened it.
        """
        if self._stopping.is_set():
            raise ClosedError("the service is shutting down; open the stream again in a moment")
        if len(self._listeners) >= self._most:
            raise BackPressureError(f"{self._most} streams are open already; close one or come back later", 30.0)
        return self._lines(Listener(wants), last, still)

    async def _lines(self, listener: Listener, last: int | None, still: Check) -> AsyncIterator[str]:
        self._listeners.add(listener)  # here and not before: a stream that is never read must not stay
        self.on_count(len(self._listeners))
        try:
            yield f"retry: {RETRY_MILLISECONDS}\n\n"
            sent: deque[int] = deque(maxlen=2 * MOST_QUEUED)
            while last is not None and not listener.ended:
                missed = await run_in_threadpool(self._service.changes, after=last)
                for change in missed:
                    last = max(last, change.id or 0)
                    sent.append(last)
                    if listener.wants(change):
                        yield told(change)
                if not missed:
                    break
            loop = asyncio.get_running_loop()
            checked = loop.time()
            while not (listener.ended and listener.queue.empty()):
                if loop.time() - checked >= self._heartbeat:  # a busy stream is never silent: its clock decides
                    if not await run_in_threadpool(_allowed, still):
                        break
                    checked = loop.time()
                try:
                    heard = await asyncio.wait_for(listener.queue.get(), self._heartbeat)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                if heard is None:
                    break
                if heard.id is None or heard.id not in sent:
                    yield told(heard)
        finally:
            self._listeners.discard(listener)
            self.on_count(len(self._listeners))


def _allowed(still: Check) -> bool:
    try:
        still()
    except UnauthorisedError:
        return False
    except StoreError:  # nobody can tell now: what was so at the last heartbeat holds until the next
        return True
    return True


def told(change: Change) -> str:
    """A change as an event on the wire; JSON has no line breaks, so one data line is enough."""
    number = "" if change.id is None else f"id: {change.id}\n"
    return f"{number}event: {change.kind}\ndata: {dumped(change_shape(change))}\n\n"
