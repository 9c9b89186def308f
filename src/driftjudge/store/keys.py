"""API keys: shown once, kept as a hash. The secret of `dj_<id>_<secret>` has 256 random bits: a plain hash will do."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, exists, insert, select, update

from driftjudge.store.tables import api_keys as table

ROLES = ("ingest", "read", "admin")
MOST_KEYS = 10_000


@dataclass(frozen=True)
class ApiKey:
    """A key without its secret."""

    id: str
    name: str
    roles: tuple[str, ...]
    monitors: tuple[str, ...] | None
    """Which monitors it is good for; None for all."""
    created_at: float
    revoked_at: float | None


def create(
    tx: Connection, *, name: str, roles: Sequence[str], monitors: Sequence[str] | None = None, at: float
) -> tuple[ApiKey, str]:
    """A new key, and the one time its text can be seen."""
    unknown = [role for role in roles if role not in ROLES]
    if unknown or not roles:
        raise ValueError(f"roles are some of {', '.join(ROLES)}, got {', '.join(map(repr, roles)) or 'none'}")
    key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    named = None if monitors is None else json.dumps(list(monitors))
    row = {"id": key_id, "name": name, "hash": _hash(secret), "roles": json.dumps(list(roles)), "monitors": named}
    tx.execute(insert(table).values(**row, created_at=at))
    made = ApiKey(key_id, name, tuple(roles), None if monitors is None else tuple(monitors), at, None)
    return made, f"dj_{key_id}_{secret}"


def check(tx: Connection, text: str) -> ApiKey | None:
    """The key of this text; None for one that is unknown, wrong or revoked. Takes as long for a wrong secret."""
    prefix, _, rest = text.partition("_")
    key_id, _, secret = rest.partition("_")
    row = tx.execute(select(table).where(table.c.id == key_id)).first() if prefix == "dj" else None
    same = hmac.compare_digest(_hash(secret), b"\0" * 32 if row is None else bytes(row.hash))
    if row is None or not same or row.revoked_at is not None:
        return None
    return _key(row)


def revoke(tx: Connection, key_id: str, *, at: float) -> bool:
    """From now on it opens nothing; False where there is no such key in force."""
    mine = (table.c.id == key_id) & table.c.revoked_at.is_(None)
    return tx.execute(update(table).where(mine).values(revoked_at=at)).rowcount == 1


def get(tx: Connection, key_id: str) -> ApiKey | None:
    """The key of an id, in force or not."""
    row = tx.execute(select(table).where(table.c.id == key_id)).first()
    return None if row is None else _key(row)


def any_in_force(tx: Connection) -> bool:
    """Whether a key opens anything, however many were revoked."""
    return bool(tx.execute(select(exists().where(table.c.revoked_at.is_(None)))).scalar())


def in_force(tx: Connection) -> list[ApiKey]:
    """The keys that open something."""
    return [_key(row) for row in tx.execute(select(table).where(table.c.revoked_at.is_(None)).limit(MOST_KEYS))]


def listed(tx: Connection) -> list[ApiKey]:
    """All keys, newest first."""
    return [
        _key(row) for row in tx.execute(select(table).order_by(table.c.created_at.desc(), table.c.id).limit(MOST_KEYS))
    ]


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode(errors="surrogatepass")).digest()


def _key(row: Any) -> ApiKey:
    monitors = None if row.monitors is None else tuple(json.loads(row.monitors))
    return ApiKey(row.id, row.name, tuple(json.loads(row.roles)), monitors, row.created_at, row.revoked_at)
