"""Who may do what: API keys with roles, kept as hashes, and nobody but this machine where there is no key."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from driftjudge.service.errors import BackPressureError, BadRequestError, ConflictError, ServiceError
from driftjudge.store import Store, audit, keys
from driftjudge.store.keys import ApiKey

Role = Literal["ingest", "read", "admin"]

GRANTS: Mapping[Role, frozenset[Role]] = {
    "admin": frozenset(("admin", "read", "ingest")),
    "read": frozenset(("read",)),
    "ingest": frozenset(("ingest",)),
}

MOST_KEYS = 1_000
"""Keys in force, and keys remembered."""
LONGEST_KEY = 200
LONGEST_LABEL = 80


class UnauthorisedError(ServiceError):
    """No key, or none that opens anything."""


class ForbiddenError(ServiceError):
    """A key that does not open this."""


class UnknownKeyError(ServiceError):
    """No key of that id."""


@dataclass(frozen=True)
class Principal:
    """Who is asking, as far as access goes."""

    actor: str
    """For the audit trail: `key:<id>`, `environment` or `loopback`."""
    role: Role
    monitors: tuple[str, ...] | None = None
    """The monitors it may touch; None for all."""

    def may(self, role: Role, monitor: str | None = None) -> bool:
        """Whether it may act in that role, on that monitor (None: on the service as a whole)."""
        if role not in GRANTS[self.role]:
            return False
        return self.monitors is None or (monitor is not None and monitor in self.monitors)


LOOPBACK = Principal("loopback", "admin")


class Access:
    """Keys and what they open. Its methods touch the store, except `recall`."""

    def __init__(
        self,
        store: Store,
        *,
        environment_key: str | None = None,
        open_on_loopback: bool = True,
        remember_seconds: float = 5.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`remember_seconds`: for how long a revocation by another process may go unnoticed here."""
        self._store = store
        self._environment = _digest(environment_key) if environment_key else None
        self._open = open_on_loopback
        self._remember = remember_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._known: OrderedDict[str, tuple[Principal, float]] = OrderedDict()
        self._keyed, self._looked_at = False, -math.inf
        self.failures = Failures(clock=clock)

    @property
    def locked(self) -> bool:
        """Whether a key is needed: always, except on loopback while nobody has made one."""
        if self._environment is not None or not self._open:
            return True
        now = self._clock()
        if now >= self._looked_at + self._remember:
            self._keyed, self._looked_at = self._any_key(), now
        return self._keyed

    @property
    def has_key(self) -> bool:
        """Whether any key opens anything."""
        return self._environment is not None or self._any_key()

    def _any_key(self) -> bool:
        with self._store.read() as tx:
            return keys.any_in_force(tx)

    def recall(self, token: str | None) -> Principal | None:
        """Whom a key belongs to if that was established moments ago; never touches the store."""
        if token is None:
            fresh = self._clock() < self._looked_at + self._remember
            return LOOPBACK if fresh and not self.locked else None
        with self._lock:
            found = self._known.get(_digest(token))
            return found[0] if found is not None and self._clock() < found[1] else None

    def authenticate(self, token: str | None, address: str) -> Principal:
        """Whom the key belongs to; without one, this machine as long as no key was ever needed."""
        if token is None:
            if self.locked:
                raise UnauthorisedError("no API key was given; send it as: Authorization: Bearer dj_...")
            return LOOPBACK
        if (principal := self.recall(token)) is not None:
            return principal
        if _digest(token) not in self._known:  # who came in before is not kept out by a neighbour's wrong keys
            self.failures.check(address)
        principal = self._look_up(token)
        if principal is None:
            self.failures.add(address)
            raise UnauthorisedError("this API key is unknown or was revoked; ask an administrator for a new one")
        with self._lock:
            self._known[_digest(token)] = principal, self._clock() + self._remember
            while len(self._known) > MOST_KEYS:
                self._known.popitem(last=False)
        return principal

    def renewed(self, principal: Principal) -> Principal:
        """The principal as it stands now, for sessions that began with a key: refused once the key is revoked."""
        if not principal.actor.startswith("key:"):
            gone = self.locked if principal == LOOPBACK else self._environment is None
            if gone:
                raise UnauthorisedError("this session no longer opens anything; log in with an API key")
            return principal
        with self._store.read() as tx:
            key = keys.get(tx, principal.actor.removeprefix("key:"))
        if key is None or key.revoked_at is not None:
            raise UnauthorisedError("the API key of this session was revoked; log in with another one")
        return _principal(key)

    def _look_up(self, token: str) -> Principal | None:
        if self._environment is not None and hmac.compare_digest(_digest(token), self._environment):
            return Principal("environment", "admin")
        with self._store.read() as tx:
            key = keys.check(tx, token[:LONGEST_KEY])
        return None if key is None else _principal(key)

    # Administration: every act is written down in the transaction that performs it.

    def create(self, *, label: str, role: Role, monitors: Sequence[str] | None = None, by: str) -> tuple[ApiKey, str]:
        """A new key: what is kept of it, and its text, which is shown this once."""
        if role not in get_args(Role):
            raise BadRequestError(f"the role is {role!r}; choose ingest, read or admin")
        if not label or len(label) > LONGEST_LABEL or not label.isprintable():
            raise BadRequestError(
                f"the label is {label[:LONGEST_LABEL]!r}; give 1 to {LONGEST_LABEL} printable characters"
            )
        first = not self.locked
        if first and (role != "admin" or monitors is not None):
            raise ConflictError(
                "the first key must be an admin key for all monitors: from then on nothing works without a key"
            )
        named = None if monitors is None else tuple(dict.fromkeys(monitors))
        at = self._clock()
        with self._store.begin() as tx:
            if len(keys.in_force(tx)) >= MOST_KEYS:
                raise ConflictError(f"there are {MOST_KEYS} keys already; revoke some first")
            key, text = keys.create(tx, name=label, roles=(role,), monitors=named, at=at)
            detail = {"key": key.id, "label": label, "role": role, "monitors": named}
            audit.note(tx, actor=by, action="key_created", detail=detail, at=at)
        self._keyed = True
        return key, text

    def rows(self) -> list[ApiKey]:
        """The keys as they are kept, newest first."""
        with self._store.read() as tx:
            return keys.listed(tx)

    def revoke(self, key_id: str, *, by: str) -> None:
        """Take a key back; the last administrator's key stays while nobody else could administer."""
        at = self._clock()
        with self._store.begin() as tx:
            key = keys.get(tx, key_id)
            if key is None:
                raise UnknownKeyError(f"no key has the id {key_id!r}; list them with GET /api/v1/keys")
            if key.revoked_at is not None:
                return
            others = [other for other in keys.in_force(tx) if other.id != key_id and _administers(other)]
            if _administers(key) and not others and self._environment is None:
                raise ConflictError("this is the last admin key; create another one before you revoke it")
            keys.revoke(tx, key_id, at=at)
            audit.note(tx, actor=by, action="key_revoked", detail={"key": key_id, "label": key.name}, at=at)
        with self._lock:
            self._known.clear()


class Failures:
    """Counts wrong keys by address, so that guessing is slow and cheap to refuse."""

    def __init__(
        self, *, most: int = 10, seconds: float = 60.0, addresses: int = 4_096, clock: Callable[[], float] = time.time
    ) -> None:
        self._most, self._seconds, self._addresses, self._clock = most, seconds, addresses, clock
        self._lock = threading.Lock()
        self._counts: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def check(self, address: str) -> None:
        """Refuse an address that failed too often of late."""
        with self._lock:
            count, until = self._counts.get(_network(address), (0, 0.0))
            wait = until - self._clock()
        if count >= self._most and wait > 0.0:
            raise BackPressureError(
                f"{count} wrong API keys came from this address; wait {wait:.0f} seconds", max(1.0, wait)
            )

    def add(self, address: str) -> None:
        """One more wrong key."""
        network, now = _network(address), self._clock()
        with self._lock:
            count, until = self._counts.pop(network, (0, 0.0))
            self._counts[network] = (count + 1 if now < until else 1), now + self._seconds
            while len(self._counts) > self._addresses:
                self._counts.popitem(last=False)


def _network(address: str) -> str:
    """The address, or for IPv6 the network a single subscriber has."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return address


def _administers(key: ApiKey) -> bool:
    return "admin" in key.roles and key.monitors is None and key.revoked_at is None


def _principal(key: ApiKey) -> Principal:
    role: Role = "admin" if "admin" in key.roles else "read" if "read" in key.roles else "ingest"
    return Principal(f"key:{key.id}", role, key.monitors)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
