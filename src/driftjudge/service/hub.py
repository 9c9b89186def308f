"""Subscribers: everybody gets every change, in bounded queues; whoever does not keep up is dropped, not waited for."""

from __future__ import annotations

import queue
import threading
from collections import OrderedDict
from contextlib import suppress
from types import TracebackType

from driftjudge.service.errors import BackPressureError
from driftjudge.service.values import Change
from driftjudge.store import Store, outbox

REMEMBERED = 5_000
OVERLAP = 200
"""Ids read again: transactions of several processes may commit in another order than their ids."""


class Subscription:
    """A bounded queue of changes; one that is not emptied in time is dropped (`dropped` turns True)."""

    def __init__(self, hub: Hub, name: str | None, size: int) -> None:
        self._hub, self.name = hub, name
        self._queue: queue.Queue[Change | None] = queue.Queue(size)
        self.dropped = False
        self.closed = False

    def get(self, timeout: float | None = None) -> Change | None:
        """The next change; None when none came in time, or when the subscription ended."""
        if self.closed and self._queue.empty():
            return None
        try:
            return self._queue.get(timeout=timeout)
        except queue.Empty:
            return None

    def offer(self, change: Change) -> bool:
        """Put a change in; False, and the end of it, where there is no room."""
        try:
            self._queue.put_nowait(change)
        except queue.Full:
            self.dropped = self.closed = True
            return False
        return True

    def end(self) -> None:
        """Wake whoever waits."""
        self.closed = True
        with suppress(queue.Full):  # then nobody waits
            self._queue.put_nowait(None)

    def close(self) -> None:
        """End it."""
        self._hub.remove(self)
        self.end()

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Hub:
    """Hands changes to subscribers, once each: those of this process at once, those of others when they are found."""

    def __init__(self, store: Store, most: int, size: int) -> None:
        self._store, self._most, self._size = store, most, size
        self._lock = threading.Lock()
        self._subscriptions: list[Subscription] = []
        self._seen: OrderedDict[int, None] = OrderedDict()
        self._last: int | None = None

    def subscribe(self, name: str | None) -> Subscription:
        """Changes from now on."""
        with self._lock:
            if len(self._subscriptions) >= self._most:
                raise BackPressureError(f"{self._most} subscribers listen already, the limit; come back later", 30.0)
            made = Subscription(self, name, self._size)
            self._subscriptions.append(made)
        return made

    def remove(self, subscription: Subscription) -> None:
        """Forget a subscriber."""
        with self._lock:
            if subscription in self._subscriptions:
                self._subscriptions.remove(subscription)

    def publish(self, change: Change) -> None:
        """Tell everybody, once."""
        with self._lock:
            if change.id is not None:
                if change.id in self._seen:
                    return
                self._seen[change.id] = None
                if len(self._seen) > REMEMBERED:
                    self._seen.popitem(last=False)
            listening = [one for one in self._subscriptions if one.name in (None, change.monitor)]
            gone = [one for one in listening if not one.offer(change)]
            for one in gone:
                self._subscriptions.remove(one)

    def poll(self) -> None:
        """Find what other processes changed."""
        with self._store.read() as tx:
            if self._last is None:
                self._last = outbox.last_id(tx)
                return
            if not self._subscriptions:
                self._last = outbox.last_id(tx)
                return
            found = outbox.messages(tx, after=max(0, self._last - OVERLAP))
        for message in found:
            if message.id > self._last or message.id not in self._seen:
                self.publish(change_of(message))
            self._last = max(self._last, message.id)

    def close(self) -> None:
        """End all subscriptions."""
        with self._lock:
            ending, self._subscriptions = self._subscriptions, []
        for one in ending:
            one.end()


def change_of(message: outbox.Message) -> Change:
    """A row of the outbox as subscribers see it."""
    return Change(message.id, message.monitor, message.kind, message.dedup_key, message.at, message.payload)  # type: ignore[arg-type]
