"""Who is looking at the page: a signed cookie that remembers a login, and a token that only our own forms know.

The cookie holds no key, only who logged in and until when, under an HMAC. Whoever it names is looked up again on every
request, so a revoked key ends its sessions.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

from driftjudge.service.access import Principal, Role

COOKIE = "driftjudge_session"
LIFETIME = 12 * 3_600.0
"""Seconds until a login must be repeated."""
MOST_COOKIE = 8_000


@dataclass(frozen=True)
class Session:
    """A visitor: logged in, or still a stranger."""

    id: str
    principal: Principal | None
    expires: float


class Sessions:
    """Makes and reads cookies. With one secret for all, several processes accept each other's."""

    def __init__(self, clock: Callable[[], float], secret: str | None = None) -> None:
        self._clock = clock
        self._secret = secret.encode() if secret else secrets.token_bytes(32)

    def begin(self, principal: Principal | None) -> Session:
        """A new session; also used at login, so that a session known before it is worth nothing after."""
        return Session(secrets.token_urlsafe(24), principal, self._clock() + LIFETIME)

    def cookie(self, session: Session) -> str:
        """The cookie's value."""
        who = session.principal
        body = {"i": session.id, "e": session.expires}
        if who is not None:
            body |= {"a": who.actor, "r": who.role, "m": None if who.monitors is None else list(who.monitors)}
        text = base64.urlsafe_b64encode(json.dumps(body, separators=(",", ":")).encode()).decode().rstrip("=")
        return f"{text}.{self._sign('session', text)}"

    def read(self, cookie: str | None) -> Session | None:
        """The session of a cookie; None for a missing, forged, broken or expired one."""
        if not cookie or len(cookie) > MOST_COOKIE:
            return None
        text, _, signature = cookie.rpartition(".")
        if not hmac.compare_digest(self._sign("session", text).encode(), signature.encode()):
            return None
        body = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        if self._clock() >= body["e"]:
            return None
        principal = None
        if "a" in body and body["r"] in get_args(Role):
            monitors = None if body["m"] is None else tuple(body["m"])
            principal = Principal(body["a"], body["r"], monitors)
        return Session(body["i"], principal, body["e"])

    def token(self, session: Session) -> str:
        """What a form of this session must carry."""
        return self._sign("form", session.id)

    def is_ours(self, session: Session, token: str) -> bool:
        """Whether a form came from this session's own pages."""
        return hmac.compare_digest(self.token(session).encode(), token.encode())

    def _sign(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose}:{text}".encode(), hashlib.sha256).hexdigest()
