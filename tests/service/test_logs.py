"""Log lines are JSON objects that hold neither a secret nor the text of an item."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from driftjudge.service import logs


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    written = io.StringIO()
    before = {name: list(logging.getLogger(name).handlers) for name in (logs.LOGGER, "uvicorn")}
    logs.set_up("info", written)
    yield written
    for name, handlers in before.items():
        logger = logging.getLogger(name)
        logger.handlers[:] = handlers
        logger.propagate = True
        logger.setLevel(logging.NOTSET)


def _lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_record_is_one_json_object_with_the_fields_it_may_carry(stream: io.StringIO) -> None:
    logging.getLogger("driftjudge.requests").info("answered", extra={"status": 200, "texts": "the item's text"})
    (line,) = _lines(stream)
    assert line["message"] == "answered"
    assert line["status"] == 200
    assert line["level"] == "info"
    assert line["at"].endswith("+00:00")
    assert "the item's text" not in stream.getvalue()


def test_an_exception_is_told_without_its_message(stream: io.StringIO) -> None:
    try:
        raise ValueError("item 'how do I cure my rash' is odd")
    except ValueError:
        logging.getLogger("driftjudge.api").exception("request failed")
    (line,) = _lines(stream)
    assert line["error"] == "ValueError"
    assert line["places"][-1].startswith("test_logs.py:")
    assert "rash" not in stream.getvalue()


def test_keys_and_passwords_are_taken_out(stream: io.StringIO) -> None:
    key = "dj_0123456789ab_" + "s" * 43
    logging.getLogger("driftjudge").warning("used %s on postgresql://me:hidden@db/x", key)
    assert "s" * 43 not in stream.getvalue()
    assert "hidden" not in stream.getvalue()
    assert "dj_0123456789ab_***" in stream.getvalue()


def test_what_is_below_the_level_stays_out(stream: io.StringIO) -> None:
    logging.getLogger("driftjudge").debug("detail")
    assert stream.getvalue() == ""
