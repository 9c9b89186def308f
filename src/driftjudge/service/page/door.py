"""Who comes in: a session with a key behind it, or this machine while no key is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from fastapi import Request
from fastapi.responses import Response

from driftjudge.service.access import LOOPBACK, Access, ForbiddenError, Principal, Role, UnauthorisedError
from driftjudge.service.page.session import COOKIE, LIFETIME, Session, Sessions

Answer = TypeVar("Answer", bound=Response)


class NeedsLogin(Exception):  # noqa: N818  # not an error: the way in is a page
    """Nobody we know: show the way in."""


@dataclass(frozen=True)
class Visit:
    """One request by somebody we know."""

    session: Session
    principal: Principal

    def must(self, role: Role, monitor: str | None = None) -> None:
        """Refuse what this visitor may not do."""
        if not self.principal.may(role, monitor):
            raise ForbiddenError(f"this needs a key with the role {role!r} for it; log in with another one")


class Door:
    """Opens to sessions; sets and clears the cookie."""

    def __init__(self, access: Access, sessions: Sessions, *, secure: bool = False) -> None:
        """`secure`: people come over https, though a proxy may end it before us."""
        self.access = access
        self.sessions = sessions
        self._secure = secure

    def check(self, request: Request) -> None:
        """Refuse a visitor who was let in before and would not be now, for what stays open."""
        try:
            self.visit(request)
        except NeedsLogin as error:
            raise UnauthorisedError("this session no longer opens anything; log in again") from error

    def visit(self, request: Request) -> Visit:
        """Who is here; a revoked key ends its sessions at once."""
        session = self.sessions.read(request.cookies.get(COOKIE))
        try:
            if session is not None and session.principal is not None:
                visit = Visit(session, self.access.renewed(session.principal))
            elif not self.access.locked:
                visit = Visit(session or self.sessions.begin(None), LOOPBACK)
            else:
                raise NeedsLogin
        except UnauthorisedError as error:
            raise NeedsLogin from error
        # Through a proxy everybody comes from this machine: as in the API, nobody gets in that way without a key.
        if visit.principal == LOOPBACK and ("x-forwarded-for" in request.headers or "forwarded" in request.headers):
            raise NeedsLogin
        return visit

    def stranger(self, request: Request) -> Session | None:
        """The session of somebody who is about to log in."""
        return self.sessions.read(request.cookies.get(COOKIE))

    def admit(self, answer: Answer, request: Request, principal: Principal) -> Answer:
        """Begin a new session for whoever just showed a key."""
        return self.remember(answer, request, self.sessions.begin(principal))

    def remember(self, answer: Answer, request: Request, session: Session) -> Answer:
        """Set the cookie where it is not there yet."""
        value = self.sessions.cookie(session)
        if request.cookies.get(COOKIE) != value:
            answer.set_cookie(
                COOKIE, value, max_age=int(LIFETIME), path="/", httponly=True, samesite="strict",
                secure=self._secure or request.url.scheme == "https",
            )  # fmt: skip
        return answer

    def dismiss(self, answer: Answer) -> Answer:
        """Forget the session."""
        answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict", secure=self._secure)
        return answer

    def address(self, request: Request) -> str:
        """Where the visitor comes from, for counting wrong keys."""
        return request.client.host if request.client is not None else "unknown"
