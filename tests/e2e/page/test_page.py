"""The page in a real browser, on a real service, with real streams running through it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from driftjudge.lab.scenarios import Condition, Scenario, stage
from driftjudge.monitor import MonitorConfig
from driftjudge.service.client import Client
from driftjudge.service.showcase import Show, play, running_service
from driftjudge.tables import load_replica
from tests.e2e.page.browser import chromium

PHONE = {"width": 360, "height": 740}
DESK = {"width": 1100, "height": 800}


def show_of(client: Client, name: str, condition: Condition) -> Show:
    table = load_replica("helpsteer2")
    config = MonitorConfig(rubrics=table.rubrics, strata=table.stratum_names, seed=7)
    show = Show(client, name, table, stage(table, config, Scenario(condition=condition, repeat_noise=0.03)), batch=50)
    show.set_up()
    return show


def played(client: Client, name: str, condition: Condition) -> None:
    verdict = play(show_of(client, name, condition), rate=1e6, on_progress=lambda _: None, until_final=True)
    assert verdict.kind == condition, verdict.text


@dataclass
class Watched:
    """A page, and everything it did that it should not."""

    page: Page
    base: str
    faults: list[str] = field(default_factory=list)

    def open(self, path: str) -> None:
        answer = self.page.goto(self.base + path)
        assert answer is not None
        assert answer.ok, f"{path}: {answer.status}"

    def check(self) -> None:
        """Sound for everybody: no error, no request elsewhere, nothing cut off, no serious accessibility finding."""
        assert self.faults == []
        wide = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{self.page.url} is {wide} pixels too wide"
        found = Axe().run(self.page).response["violations"]
        serious = [f"{v['id']}: {v['help']}" for v in found if v["impact"] in ("serious", "critical")]
        assert serious == [], self.page.url


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with running_service() as url:
        with Client(url) as client:
            played(client, "judged", "judge")
            played(client, "regressed", "system")
            client.create_monitor("fresh", MonitorConfig(rubrics=("tone", "facts"), strata=("chat",)))
        yield url


Visit = Callable[..., Watched]


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    contexts = []

    def opened(base: str, size: dict[str, int] = DESK, scheme: str = "light") -> Watched:
        context = browser.new_context(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]  # Playwright's own
        contexts.append(context)
        watched = Watched(context.new_page(), base)
        host = urlsplit(base).netloc
        watched.page.on(
            "console", lambda m: watched.faults.append(f"console: {m.text}") if m.type in ("error", "warning") else None
        )
        watched.page.on("pageerror", lambda error: watched.faults.append(f"script: {error}"))
        watched.page.on(
            "request", lambda r: watched.faults.append(f"left: {r.url}") if urlsplit(r.url).netloc != host else None
        )
        watched.page.on(
            "response", lambda r: watched.faults.append(f"{r.status}: {r.url}") if r.status >= 400 else None
        )
        return watched

    yield opened
    for context in contexts:
        context.close()


EVERY_VIEW = (
    "/",
    "/monitors/judged",
    "/monitors/regressed",
    "/monitors/fresh",
    "/monitors/regressed/acknowledge",
    "/monitors/judged/reanchor",
    "/alerts",
    "/runbooks",
    "/runbooks/judge",
)


@pytest.mark.parametrize(("size", "scheme"), [(DESK, "light"), (DESK, "dark"), (PHONE, "light"), (PHONE, "dark")])
def test_every_view_is_sound_wide_and_narrow_light_and_dark(
    service: str, visit: Visit, size: dict[str, int], scheme: str
) -> None:
    watched = visit(service, size, scheme)
    for path in EVERY_VIEW:
        watched.open(path)
        for image in watched.page.locator("img.chart").all():
            image.scroll_into_view_if_needed()
            expect(image).to_have_js_property("complete", True)
            assert image.evaluate("i => i.naturalWidth") > 0
            assert (image.get_attribute("alt") or "").endswith(".")
        watched.check()


def test_the_monitor_page_answers_what_who_how_sure_since_when_and_what_now(service: str, visit: Visit) -> None:
    watched = visit(service)
    watched.open("/monitors/judged")
    main = watched.page.locator("main")
    expect(main.locator("h1")).to_contain_text("The judge moved")
    expect(main).to_contain_text("probability at most 0.1")
    expect(main).to_contain_text("Do not roll back")
    expect(main).to_contain_text("What the evidence says")
    expect(main.locator(".story li").first).to_contain_text(re.compile(r"item \d+"))
    main.get_by_text("Where judge and humans disagree most").click()
    expect(main.locator("#disagreements tbody tr")).to_have_count(20)


def test_an_empty_service_teaches_what_to_send(visit: Visit) -> None:
    with running_service() as url:
        watched = visit(url)
        watched.open("/")
        command = watched.page.locator("pre").first.inner_text()
        assert f"curl -X POST {url}/api/v1/monitors" in command
        watched.check()
        body = re.search(r"-d '(.*)'", command)
        assert body is not None
        answer = watched.page.request.post(
            f"{url}/api/v1/monitors", data=body[1], headers={"Content-Type": "application/json"}
        )
        assert answer.status == 201, answer.text()
        watched.open("/monitors/shop")
        expect(watched.page.locator("h1")).to_contain_text("does not watch yet")
        watched.check()


def test_the_page_follows_a_running_stream_without_a_reload(service: str, visit: Visit) -> None:
    with Client(service) as client:
        show = show_of(client, "running", "judge")
        watched = visit(service)
        watched.open("/monitors/running")
        watched.page.evaluate("window.sameDocument = true")
        overview = visit(service)
        overview.open("/")
        expect(watched.page.locator("h1")).to_contain_text("Nothing drifted")
        expect(watched.page.locator("body")).to_have_attribute("data-opened", "yes")
        expect(overview.page.locator("body")).to_have_attribute("data-opened", "yes")
        play(show, rate=1e6, on_progress=lambda _: None, until_final=True)
        expect(watched.page.locator("h1")).to_contain_text("The judge moved", timeout=15_000)
        expect(watched.page.locator("#announcer")).to_contain_text("The judge moved")
        expect(overview.page.locator('[data-name="running"]')).to_contain_text("The judge drifted", timeout=15_000)
        assert watched.page.evaluate("window.sameDocument")
        watched.check()


def tab_to(page: Page, text: str) -> None:
    for _ in range(60):
        page.keyboard.press("Tab")
        if text in page.evaluate("[document.activeElement.innerText, '#' + document.activeElement.id].join(' ')"):
            return
    pytest.fail(f"{text!r} cannot be reached with the Tab key")


def test_an_alarm_is_acknowledged_and_closed_with_the_keyboard_alone(service: str, visit: Visit) -> None:
    with Client(service) as client:
        played(client, "noted", "system")
    watched = visit(service)
    page = watched.page
    watched.open("/")
    tab_to(page, "noted")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("Your system got worse")
    tab_to(page, "Acknowledge")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("The anchors go on as they are")
    tab_to(page, "#note")
    page.keyboard.type("release 7 rolled back")
    tab_to(page, "Acknowledge")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("Nothing drifted")
    expect(page.locator(".story")).to_contain_text("release 7 rolled back")
    tab_to(page, "Close this alarm")
    page.keyboard.press("Enter")
    expect(page.locator(".alarm")).to_contain_text("closed")
    watched.check()


def test_re_anchoring_says_what_it_will_do_keeps_what_was_typed_and_opens_an_epoch(service: str, visit: Visit) -> None:
    with Client(service) as client:
        show = show_of(client, "replaced", "judge")
        play(show, rate=1e6, on_progress=lambda _: None, until_final=True)
    table, block = show.table, show.staged.block
    harsh, rubrics = table.judge("harsh"), ",".join(table.rubrics)
    anchors = show.staged.monitor.anchors
    assert anchors is not None
    rows = [i for i in range(700) if table.ids[i] not in anchors.ids]
    calibration = [f"id,stratum,{rubrics}"]
    calibration += [f"{table.ids[i]},{table.strata[i]},{','.join(map(str, harsh[i]))}" for i in rows]
    place = {one: row for row, one in enumerate(table.ids)}
    passes = [f"anchor,pass,{rubrics}"]
    passes += [f"{one},{n},{','.join(map(str, harsh[place[one]]))}" for n in (1, 2, 3) for one in anchors.ids]
    watched = visit(service)
    page = watched.page
    watched.open("/monitors/replaced")
    page.get_by_role("link", name="Re-anchor").click()
    expect(page.locator("main")).to_contain_text("It cannot be undone")
    page.get_by_label("In-control items").fill("\n".join(calibration))
    page.get_by_label("Baseline passes").fill("\n".join(passes[:-1]))
    page.get_by_role("button", name="Re-anchor").click()
    expect(page.get_by_role("alert")).to_contain_text("pass '3' lacks 1 anchors")
    assert len(page.get_by_label("In-control items").input_value().splitlines()) == len(calibration)
    page.get_by_label("Baseline passes").fill("\n".join(passes))
    watched.faults.clear()  # the refused form was a 422, as it should
    page.get_by_role("button", name="Re-anchor").click()
    expect(page.locator("header.verdict")).to_contain_text("epoch 2")
    expect(page.locator("h1")).to_contain_text("Nothing drifted")
    assert len(block) >= show.sent
    watched.check()


def test_a_key_is_asked_for_once_there_is_one_and_its_role_is_respected(visit: Visit) -> None:
    with running_service() as url:
        with Client(url) as client:
            client.create_monitor("shop", MonitorConfig(rubrics=("tone",), strata=("chat",)))
            admin = client.create_key("first", "admin").key
        with Client(url, admin) as client:
            reader = client.create_key("reader", "read").key
            key_id = client.create_key("gone", "read").id
        watched = visit(url)
        page = watched.page
        watched.open("/monitors/shop")
        expect(page.locator("h1")).to_have_text("Log in")
        watched.check()
        page.get_by_label("API key").fill("dj_wrong")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("alert")).to_contain_text("unknown or was revoked")
        watched.faults.clear()
        page.get_by_label("API key").fill(reader)
        page.keyboard.press("Enter")
        expect(page).to_have_url(f"{url}/monitors/shop")
        expect(page.locator("h1")).to_contain_text("shop does not watch yet")
        watched.check()
        assert page.goto(f"{url}/monitors/shop/reanchor").status == 403  # type: ignore[union-attr]
        expect(page.locator("main")).to_contain_text("role 'admin'")
        assert reader not in page.content()
        page.get_by_role("button", name="Log out").click()
        expect(page.locator("h1")).to_have_text("Log in")
        assert key_id


def test_a_form_of_another_site_is_not_taken(service: str, visit: Visit) -> None:
    watched = visit(service)
    watched.open("/monitors/regressed")
    answer = watched.page.request.post(
        f"{service}/monitors/regressed/acknowledge", form={"note": "x", "token": "forged"}
    )
    assert answer.status == 403
    watched.open("/monitors/regressed")
    expect(watched.page.locator("h1")).to_contain_text("Your system got worse")


@contextmanager
def without_scripts(browser: Browser, base: str) -> Iterator[Page]:
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(base)
        yield page
    finally:
        context.close()


def test_everything_can_be_read_without_scripts(service: str, browser: Browser) -> None:
    with without_scripts(browser, f"{service}/monitors/judged") as page:
        assert "The judge moved" in page.locator("h1").inner_text()
        assert page.locator("img.chart").count() == 4
