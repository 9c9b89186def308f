"""Acts on the page, asked for as a browser does, of a real service: what is done, and what is said of it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import httpx2
import pytest
from fastapi import FastAPI

from driftjudge.service.alerts.desk import AlertDesk
from driftjudge.service.alerts.settings import NO_ALERTS
from driftjudge.service.api.app import create_app
from driftjudge.service.runtime import Service
from driftjudge.service.settings import ServiceSettings
from driftjudge.service.values import AnchorIn
from tests.service.worlds import GOOD, NAME, RUBRICS, STRATA, calibration, config, passes, service_in, start

HERE = "http://127.0.0.1:8321"
ANCHORS = ("z", "b", "a")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with service_in(tmp_path) as running:
        yield running


def _app(service: Service, public_url: str = "") -> FastAPI:
    return create_app(service, ServiceSettings(public_url=public_url), desk=AlertDesk(service.store, NO_ALERTS))


def _get(app: FastAPI, path: str) -> httpx2.Response:
    async def ask() -> httpx2.Response:
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=HERE) as http:
            return await http.get(path)

    return asyncio.run(ask())


def _send(app: FastAPI, form: str, path: str, fields: dict[str, str]) -> httpx2.Response:
    """Open the page with the form, and send it."""

    async def ask() -> httpx2.Response:
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=HERE) as http:
            found = re.search(r'name="token" value="([^"]+)"', (await http.get(form)).text)
            assert found is not None
            body = urlencode({"token": found[1], **fields})
            return await http.post(path, content=body, headers={"Content-Type": "application/x-www-form-urlencoded"})

    return asyncio.run(ask())


def test_the_cookie_is_secure_where_people_come_over_https(service: Service) -> None:
    assert "secure" not in _get(_app(service), "/").headers["set-cookie"].lower()
    behind = _app(service, public_url="https://drift.example.org")
    assert "; secure" in _get(behind, "/").headers["set-cookie"].lower()


@pytest.mark.parametrize("number", [7, 2**63, 10**40])
def test_an_alarm_of_no_number_we_have_is_not_found(service: Service, number: int) -> None:
    start(service)
    form = f"/monitors/{NAME}/acknowledge"
    answer = _send(_app(service), form, f"/monitors/{NAME}/alarms/{number}/close", {})
    assert answer.status_code == 404, answer.text


def _reanchored(service: Service, rows: int = 400, score: float = 0.75) -> httpx2.Response:
    columns = ",".join(RUBRICS)
    items = [f"c{i},{STRATA[i % 2]},{score},{score}" for i in range(rows)]
    scores = [f"{anchor},{number},0.25,0.25" for number in (1, 2, 3) for anchor in sorted(ANCHORS)]
    fields = {
        "calibration": "\n".join([f"id,stratum,{columns}", *items]),
        "passes": "\n".join([f"anchor,pass,{columns}", *scores]),
    }
    path = f"/monitors/{NAME}/reanchor"
    return _send(_app(service), path, path, fields)


def _anchored(service: Service) -> None:
    service.create_monitor(NAME, config())
    service.set_anchors(NAME, [AnchorIn(one, GOOD, None, STRATA[0]) for one in ANCHORS], passes(3), resolution=0.2)
    service.freeze_anchors(NAME)
    service.calibrate(NAME, calibration())


def test_re_anchoring_keeps_the_order_and_the_resolution_of_the_anchors(service: Service) -> None:
    _anchored(service)
    before, frozen = service.frozen_anchors(NAME), service.monitor(NAME).info.frozen
    assert _reanchored(service).status_code == 303
    assert service.frozen_anchors(NAME) == before
    assert service.monitor(NAME).info.frozen == frozen
    assert service.verdict(NAME).epoch == 2


def test_where_only_the_second_step_is_refused_the_page_says_what_was_done(service: Service) -> None:
    _anchored(service)
    answer = _reanchored(service, score=0.0)
    assert answer.status_code == 422
    assert "Nothing was changed" not in answer.text
    assert "The new passes are stored, but the monitor goes on with the old judge" in answer.text
    assert service.verdict(NAME).epoch == 1
    assert _reanchored(service).status_code == 303
