"""A real service on a real SQLite file behind a real server on loopback, and the monitors its tests begin with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
from fastapi import FastAPI

from driftjudge.service.access import Access
from driftjudge.service.background import Background
from driftjudge.service.runtime import Service
from driftjudge.service.serving import GracefulServer

RUBRICS = ["helpfulness", "correctness"]
STRATA = ["coding", "creative"]
CONFIG = {"rubrics": RUBRICS, "strata": STRATA, "seed": 7}
API = "/api/v1"


@dataclass(frozen=True)
class World:
    """What a test can reach."""

    url: str
    service: Service
    access: Access
    app: FastAPI
    http: httpx2.Client
    server: GracefulServer

    def call(self, method: str, path: str, body: Any = None, *, status: int = 200, **options: Any) -> Any:
        """Send a request, insist on the status, and read the answer."""
        response = self.http.request(method, API + path, json=body, **options)
        assert response.status_code == status, response.text
        return response.json() if response.content else None

    def problem(self, method: str, path: str, body: Any = None, *, status: int, **options: Any) -> dict[str, Any]:
        """Send a request that must be refused, and insist on the one shape of every error."""
        return checked_problem(self.http.request(method, API + path, json=body, **options), status)


def checked_problem(response: httpx2.Response, status: int) -> dict[str, Any]:
    """The problem of an answer, which says what to do."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    assert problem["status"] == status
    assert problem["type"].startswith("urn:driftjudge:problem:")
    assert problem["title"]
    assert problem["detail"]
    assert "Traceback" not in response.text
    return problem


@contextmanager
def running(folder: Path, **settings: Any) -> Iterator[World]:
    """A world on a free port of this machine."""
    with (
        Background(str(folder / "service.db"), **settings) as made,
        httpx2.Client(base_url=made.url, timeout=30.0) as http,
    ):
        yield World(made.url, made.service, made.access, made.app, http, made.server)


def scores(rng: np.random.Generator, level: float = 0.75) -> list[float]:
    """Scores of one item, on a grid around a level."""
    grid = np.clip(level + rng.choice([-0.25, 0.0, 0.25], size=len(RUBRICS)), 0.0, 1.0)
    return [float(score) for score in grid]


def anchor_set(count: int = 40, passes: int = 4) -> list[dict[str, Any]]:
    """Anchors on which the judge repeats itself."""
    rng = np.random.default_rng(3)
    anchors = []
    for number in range(count):
        usual = scores(rng)
        anchors.append({"id": f"a{number}", "human": scores(rng), "passes": [usual] * passes})
    return anchors


def calibration(count: int = 400) -> list[dict[str, Any]]:
    """Healthy items."""
    rng = np.random.default_rng(4)
    return [{"id": f"c{n}", "stratum": STRATA[n % 2], "scores": scores(rng)} for n in range(count)]


def batch(first: int, count: int, level: float = 0.75) -> list[dict[str, Any]]:
    """Items of the stream with both judges' scores."""
    rng = np.random.default_rng([5, first])
    made = []
    for number in range(first, first + count):
        row = scores(rng, level)
        made.append({"id": f"i{number}", "stratum": STRATA[number % 2], "cheap": row, "strong": row})
    return made


def draft(world: World, name: str = "bot", **config: Any) -> str:
    """A monitor that was created and nothing more."""
    world.call("POST", "/monitors", {"name": name, "config": {**CONFIG, **config}}, status=201)
    return name


def watching(world: World, name: str = "bot", *, anchors: Sequence[Any] | None = None, **config: Any) -> str:
    """A monitor that watches, with anchors unless an empty set is given."""
    draft(world, name, **config)
    chosen = anchor_set() if anchors is None else list(anchors)
    if chosen:
        world.call("PUT", f"/monitors/{name}/anchors", {"anchors": chosen})
        world.call("POST", f"/monitors/{name}/anchors/freeze")
    world.call("POST", f"/monitors/{name}/calibration", {"items": calibration()})
    return name
