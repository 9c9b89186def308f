"""The OpenAPI document is complete, and whatever is made up from it never meets a 500."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    negative_data_rejection,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.service.api.world import World, running, watching

KEY = "an-admins-key-from-the-environment"
AUTHORIZED = {"Authorization": f"Bearer {KEY}"}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
EXAMPLES = 8
TAGS = ("monitors", "anchors and calibration", "stream", "reading", "alarms", "access", "probes")


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with running(tmp_path_factory.mktemp("keyed"), environment_key=KEY) as world:
        world.http.headers.update(AUTHORIZED)
        watching(world)
        yield world


@pytest.mark.parametrize(
    ("tag", "mode"),
    [
        (tag, mode)
        for tag in TAGS
        for mode in GenerationMode
        if not (tag == "probes" and mode == GenerationMode.NEGATIVE)  # without parameters nothing can be wrong
    ],
    ids=lambda value: getattr(value, "value", value),
)
def test_nothing_made_up_from_the_document_meets_a_500(keyed: World, tag: str, mode: GenerationMode) -> None:
    schema = schemathesis.openapi.from_url(f"{keyed.url}/api/v1/openapi.json").include(tag=tag)
    results: list[Any] = list(schema.get_all_operations())
    operations = [result.ok() for result in results]
    assert operations
    for operation in operations:
        # Half of the paths a document makes up lead nowhere: let all others lead to a monitor that watches.
        known = {"name": "bot"} if "{name}" in operation.path and operation.method != "delete" else None

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(mode, path_parameters=known))
        def fuzz(case: Any) -> None:
            case.call_and_validate(headers=AUTHORIZED, checks=CHECKS, timeout=30)

        fuzz()


def _document(world: World) -> dict[str, Any]:
    document: dict[str, Any] = world.http.get("/api/v1/openapi.json").json()
    return document


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield path, method, operation


def test_every_operation_describes_itself_and_its_errors(keyed: World) -> None:
    for path, method, operation in _operations(_document(keyed)):
        where = f"{method} {path}"
        assert operation["description"], where
        assert operation["tags"], where
        assert "500" in operation["responses"], where
        guarded = path.startswith(("/api/", "/metrics"))
        assert ("401" in operation["responses"]) == guarded == ("security" in operation), where
        for code, response in operation["responses"].items():
            if int(code) >= 400 and not (path == "/readyz" and code == "503"):
                assert list(response["content"]) == ["application/problem+json"], f"{where} {code}"


def test_every_body_comes_with_an_example_that_is_taken_for_valid(keyed: World) -> None:
    document = _document(keyed)
    bodies = 0
    for path, method, operation in _operations(document):
        if "requestBody" not in operation:
            continue
        bodies += 1
        reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        shape = document["components"]["schemas"][reference.rpartition("/")[2]]
        assert shape["examples"], f"{method} {path}"
        for example in shape["examples"]:
            name = "bot" if method != "delete" else "nobody"
            address = path.replace("{name}", name).replace("{alarm}", "1")
            response = keyed.http.request(method, address, json=example)
            assert "body" not in response.json().get("detail", "").partition(":")[0], response.text
    assert bodies >= 10


def test_every_field_that_comes_in_is_described_or_speaks_for_itself(keyed: World) -> None:
    shape = _document(keyed)["components"]["schemas"]["ConfigShape"]["properties"]
    assert shape["budget"]["description"].startswith("Share of items the strong judge sees")
    assert {"rubrics", "strata", "preset", "alpha_system", "seed"} <= set(shape)
