"""The pages' addresses: who may see them, which forms are ours, and which act they ask for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol
from urllib.parse import parse_qs, quote

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool

from driftjudge.monitor.errors import MonitorError
from driftjudge.service.access import Access, Principal
from driftjudge.service.alerts.delivery import Outcome
from driftjudge.service.alerts.desk import SinkStatus
from driftjudge.service.api.streams import Streams
from driftjudge.service.errors import BadRequestError, ServiceError
from driftjudge.service.page import runbooks, uploads, views
from driftjudge.service.page.door import Door, NeedsLogin, Visit
from driftjudge.service.page.pictures import CHARTS, WIDTHS, Pictures, draw
from driftjudge.service.page.session import Sessions
from driftjudge.service.page.templating import page, static
from driftjudge.service.runtime import Service
from driftjudge.service.values import Change

POLICY = (
    "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
}
A_YEAR = "public, max-age=31536000, immutable"
LONGEST_FORM = 9_000_000


class AlertDesk(Protocol):
    """What the page needs of the alerts."""

    def status(self) -> Sequence[SinkStatus]:
        """Every sink."""

    def test(self, sink: str) -> Outcome:
        """Send a test message now."""


class _HalfwayError(ServiceError):
    """The first of two steps was taken and the second refused."""


def page_router(
    service: Service,
    access: Access,
    *,
    alerts: AlertDesk,
    streams: Streams,
    clock: Callable[[], float],
    session_secret: str | None = None,
    secure: bool = False,
) -> APIRouter:
    """Every page. They are not part of the API's description: people use them, programs use the API."""
    door = Door(access, Sessions(clock, session_secret), secure=secure)
    return _Pages(service, access, alerts, streams, clock, door).router()


class _Pages:
    def __init__(
        self,
        service: Service,
        access: Access,
        alerts: AlertDesk,
        streams: Streams,
        clock: Callable[[], float],
        door: Door,
    ) -> None:
        self.service = service
        self.alerts = alerts
        self.streams = streams
        self.clock = clock
        self.access = access
        self.door = door
        self.pictures = Pictures()

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        for path, method, handler in (
            ("/", "GET", self.overview),
            ("/login", "GET", self.login_form),
            ("/login", "POST", self.login),
            ("/logout", "POST", self.logout),
            ("/alerts", "GET", self.alert_sinks),
            ("/alerts/{sink}/test", "POST", self.test_sink),
            ("/runbooks", "GET", self.runbook_list),
            ("/runbooks/{subject}", "GET", self.runbook),
            ("/static/{name}", "GET", self.static),
            ("/live", "GET", self.live),
            ("/monitors/{name}", "GET", self.monitor),
            ("/monitors/{name}/acknowledge", "GET", self.acknowledge_form),
            ("/monitors/{name}/acknowledge", "POST", self.acknowledge),
            ("/monitors/{name}/reanchor", "GET", self.reanchor_form),
            ("/monitors/{name}/reanchor", "POST", self.reanchor),
            ("/monitors/{name}/alarms/{alarm}/close", "POST", self.close_alarm),
            ("/monitors/{name}/{chart}.svg", "GET", self.picture),
        ):
            router.add_api_route(path, handler, methods=[method], response_class=HTMLResponse)
        return router

    # Looking.

    def overview(self, request: Request, after: str = "") -> Response:
        """All monitors at a glance."""

        def show(visit: Visit) -> Response:
            shown = views.overview(self.service, visit.principal, after[:200])
            return self._html("overview.html", visit, request, here="monitors", **shown)

        return self._for(request, show)

    def monitor(self, request: Request, name: str) -> Response:
        """One monitor."""

        def show(visit: Visit) -> Response:
            visit.must("read", name)
            shown = views.monitor(self.service, visit.principal, name)
            return self._html("monitor.html", visit, request, here="monitor", **shown)

        return self._for(request, show)

    def picture(
        self, request: Request, name: str, chart: str, mode: str = "light", width: str = "wide", v: str = ""
    ) -> Response:
        """One chart of a monitor."""

        def show(visit: Visit) -> Response:
            visit.must("read", name)
            if chart not in CHARTS or width not in WIDTHS or mode not in ("light", "dark"):
                raise BadRequestError("there is no such picture; open the monitor's page instead")
            key = (name, chart, mode, width, v[:80])

            def make() -> bytes:
                evidence, trace = self.service.evidence(name), self.service.trace(name)
                return draw(chart, evidence, trace, dark=mode == "dark", width=WIDTHS[width])

            svg = self.pictures.get(key, make)
            # An SVG opened by itself is a page of its own: it gets nothing but its inline styles.
            headers = {
                **HEADERS,
                "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
                "Cache-Control": "private, max-age=3600",
            }
            return Response(svg, media_type="image/svg+xml", headers=headers)

        return self._for(request, show)

    def runbook_list(self, request: Request) -> Response:
        """All runbooks."""

        def show(visit: Visit) -> Response:
            items = "".join(
                f'<li><a href="/runbooks/{subject}">{runbooks.heading(subject)}</a></li>'
                for subject in runbooks.SUBJECTS
            )
            body = Markup(f"<h1>Runbooks</h1><ul>{items}</ul>")  # our own texts
            return self._html("runbook.html", visit, request, here="runbooks", heading="Runbooks", body=body)

        return self._for(request, show)

    def runbook(self, request: Request, subject: str) -> Response:
        """One runbook."""

        def show(visit: Visit) -> Response:
            body = runbooks.rendered(subject)
            if body is None:
                return self._problem(visit, request, 404, "There is no such runbook", "The list has all of them.")
            return self._html(
                "runbook.html", visit, request, here="runbooks", heading=runbooks.heading(subject), body=Markup(body)
            )

        return self._for(request, show)

    def alert_sinks(self, request: Request) -> Response:
        """Who is told, and whether they can be reached."""

        def show(visit: Visit) -> Response:
            visit.must("read")
            return self._sinks(visit, request)

        return self._for(request, show)

    def static(self, name: str) -> Response:
        """Styles, script and icon; anybody may have them."""
        found = static(name)
        if found is None:
            return Response(status_code=404, headers=HEADERS)
        return Response(found[0], media_type=found[1], headers={**HEADERS, "Cache-Control": A_YEAR})

    async def live(self, request: Request, monitor: str = "") -> Response:
        """Tells an open page when to look again."""
        try:
            visit = await run_in_threadpool(self.door.visit, request)
        except NeedsLogin:
            return Response(status_code=401, headers=HEADERS)

        def wanted(change: Change) -> bool:
            return monitor in ("", change.monitor) and visit.principal.may("read", change.monitor)

        try:
            lines = self.streams.open(wanted, None, lambda: self.door.check(request))
        except ServiceError as error:
            return Response(str(error), status_code=503, media_type="text/plain", headers=HEADERS)
        return StreamingResponse(lines, media_type="text/event-stream", headers=HEADERS)

    # Acting.

    def login_form(self, request: Request, next: str = "/") -> Response:
        """Where a key is asked for."""
        return self._login(request, next, "")

    async def login(self, request: Request) -> Response:
        """Exchange a key for a session."""
        form = await _form(request)
        session = self.door.stranger(request)
        if session is None or not self.door.sessions.is_ours(session, form.get("token", "")):
            return self._login(request, "/", "The form was too old; try again.")
        try:
            key = form.get("key", "").strip() or None
            principal = await run_in_threadpool(self.access.authenticate, key, self.door.address(request))
        except ServiceError as error:
            return self._login(request, form.get("next", "/"), f"{str(error)[:1].upper()}{str(error)[1:]}.", status=401)
        answer = RedirectResponse(_local(form.get("next", "/")), status_code=303, headers=HEADERS)
        return self.door.admit(answer, request, principal)

    async def logout(self, request: Request) -> Response:
        """Forget the session."""

        def act(_visit: Visit, _form: dict[str, str]) -> Response:
            return self.door.dismiss(RedirectResponse("/login", status_code=303, headers=HEADERS))

        return await self._act(request, act)

    def acknowledge_form(self, request: Request, name: str) -> Response:
        """What acknowledging will do."""

        def show(visit: Visit) -> Response:
            visit.must("admin", name)
            shown = views.acknowledge(self.service.monitor(name))
            return self._html("confirm.html", visit, request, here="", name=name, problem="", **shown)

        return self._for(request, show)

    async def acknowledge(self, request: Request, name: str) -> Response:
        """Do it."""

        def act(visit: Visit, form: dict[str, str]) -> Response:
            visit.must("admin", name)
            try:
                self.service.acknowledge(name, note=form.get("note", "")[:500], by=visit.principal.actor)
            except (ServiceError, MonitorError) as error:
                shown = views.acknowledge(self.service.monitor(name))
                return self._again(visit, request, name, shown, error, form)
            return _back(name)

        return await self._act(request, act)

    def reanchor_form(self, request: Request, name: str) -> Response:
        """What re-anchoring will do, and what it needs."""

        def show(visit: Visit) -> Response:
            visit.must("admin", name)
            return self._html("confirm.html", visit, request, here="", name=name, problem="", **self._reanchor(name))

        return self._for(request, show)

    async def reanchor(self, request: Request, name: str) -> Response:
        """Do it."""

        def act(visit: Visit, form: dict[str, str]) -> Response:
            visit.must("admin", name)
            try:
                self._do_reanchor(name, form, visit.principal.actor)
            except (ServiceError, MonitorError) as error:
                return self._again(visit, request, name, self._reanchor(name), error, form)
            return _back(name)

        return await self._act(request, act)

    async def close_alarm(self, request: Request, name: str, alarm: int) -> Response:
        """End an acknowledged alarm."""

        def act(visit: Visit, _form: dict[str, str]) -> Response:
            visit.must("admin", name)
            self.service.close_alarm(name, alarm, by=visit.principal.actor)
            return _back(name)

        return await self._act(request, act)

    async def test_sink(self, request: Request, sink: str) -> Response:
        """Send a test message."""

        def act(visit: Visit, _form: dict[str, str]) -> Response:
            visit.must("admin")
            outcome = self.alerts.test(sink)
            said = f"The test message reached {sink}." if outcome.accepted else f"Not delivered: {outcome.error}."
            return self._sinks(visit, request, said=said, failed=not outcome.accepted)

        return await self._act(request, act)

    # Shared.

    def _reanchor(self, name: str) -> dict[str, Any]:
        detail = self.service.monitor(name)
        return views.reanchor(detail, judges_here=detail.settings.judging.strong is not None)

    def _do_reanchor(self, name: str, form: dict[str, str], by: str) -> None:
        detail = self.service.monitor(name)
        rubrics = detail.config.rubrics
        items = uploads.calibration_rows(form.get("calibration", ""), rubrics)
        if detail.settings.judging.strong is None:
            anchors, resolution = self.service.frozen_anchors(name)
            passes = uploads.pass_rows(form.get("passes", ""), rubrics, [anchor.id for anchor in anchors])
            self.service.set_anchors(name, anchors, passes, resolution=resolution, by=by)
            try:
                self.service.reanchor(name, items, by=by)
            except (ServiceError, MonitorError) as error:
                raise _HalfwayError(
                    f"The new passes are stored, but the monitor goes on with the old judge: {error}. Correct the form "
                    "and send it again; its passes will replace them."
                ) from error
        else:
            self.service.reanchor(name, items, by=by)

    def _again(
        self, visit: Visit, request: Request, name: str, shown: dict[str, Any], error: Exception, form: dict[str, str]
    ) -> Response:
        """The form with what was wrong, and with what was filled in: nothing typed is lost."""
        shown["fields"] = [replace(field, value=form.get(field.name, "")) for field in shown["fields"]]
        problem = str(error) if isinstance(error, _HalfwayError) else f"Nothing was changed: {error}."
        return self._html("confirm.html", visit, request, status=422, here="", name=name, problem=problem, **shown)

    def _sinks(self, visit: Visit, request: Request, said: str = "", failed: bool = False) -> Response:
        return self._html(
            "alerts.html", visit, request, here="alerts", sinks=self.alerts.status(), said=said, failed=failed
        )

    def _login(self, request: Request, next_url: str, problem: str, status: int = 200) -> Response:
        session = self.door.stranger(request) or self.door.sessions.begin(None)
        text = page(
            "login.html", here="login", visitor=None, token=self.door.sessions.token(session), problem=problem,
            next=_local(next_url),
        )  # fmt: skip
        answer = HTMLResponse(text, status_code=status, headers=HEADERS)
        return self.door.remember(answer, request, session)

    def _for(self, request: Request, show: Callable[[Visit], Response]) -> Response:
        """Show something to somebody who may see it, or the way in."""
        try:
            visit = self.door.visit(request)
        except NeedsLogin:
            return RedirectResponse(f"/login?next={quote(_here(request))}", status_code=303, headers=HEADERS)
        return self.door.remember(self._kept(visit, request, lambda: show(visit)), request, visit.session)

    async def _act(self, request: Request, act: Callable[[Visit, dict[str, str]], Response]) -> Response:
        """Do something for somebody who may, if one of our own forms asked for it."""
        try:
            visit = await run_in_threadpool(self.door.visit, request)
        except NeedsLogin:
            return RedirectResponse("/login", status_code=303, headers=HEADERS)
        form = await _form(request)
        if not self.door.sessions.is_ours(visit.session, form.get("token", "")):
            return self._problem(
                visit, request, 403, "The form was not taken", "It was too old or not ours; open the page again."
            )
        return await run_in_threadpool(self._kept, visit, request, lambda: act(visit, form))

    def _kept(self, visit: Visit, request: Request, make: Callable[[], Response]) -> Response:
        """What was made, or the page that says in one sentence why it could not be."""
        from driftjudge.service.api.problems import status_of

        try:
            return make()
        except (ServiceError, MonitorError) as error:
            status = status_of(error)
            heading = {403: "This is not yours to see", 404: "There is no such thing here"}.get(
                status, "That did not work"
            )
            return self._problem(visit, request, status, heading, f"{str(error)[:1].upper()}{str(error)[1:]}.")

    def _problem(self, visit: Visit, request: Request, status: int, heading: str, sentence: str) -> Response:
        return self._html("problem.html", visit, request, status=status, here="", heading=heading, sentence=sentence)

    def _html(self, template: str, visit: Visit, request: Request, *, status: int = 200, **values: Any) -> Response:
        principal: Principal = visit.principal
        logged_in = principal.actor != "loopback"
        text = page(
            template,
            visitor=principal if logged_in else None,
            admin=principal.may("admin"),
            token=self.door.sessions.token(visit.session),
            now=self.clock(),
            address=str(request.base_url).rstrip("/"),
            key_header="-H 'Authorization: Bearer '$DRIFTJUDGE_KEY " if logged_in else "",
            **values,
        )
        return HTMLResponse(text, status_code=status, headers=HEADERS)


async def _form(request: Request) -> dict[str, str]:
    """The fields of an urlencoded form, within bounds."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LONGEST_FORM:
            return {}
    try:
        fields = parse_qs(bytes(body).decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=20)
    except ValueError:  # more fields than any form of ours has
        return {}
    return {name: values[0] for name, values in fields.items()}


def _local(url: str) -> str:
    """An address of our own, whatever the form says."""
    return url if url.startswith("/") and not url.startswith(("//", "/\\")) and url.isprintable() else "/"


def _here(request: Request) -> str:
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


def _back(name: str) -> Response:
    return RedirectResponse(f"/monitors/{quote(name, safe='')}", status_code=303, headers=HEADERS)
