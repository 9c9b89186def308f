"""JSON lines for machines to read: one object per line, and never a secret or the text of an item in it."""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from datetime import UTC, datetime
from typing import IO, Any

LOGGER = "driftjudge"

FIELDS = ("request_id", "method", "route", "status", "milliseconds", "actor", "monitor", "act", "items", "incident")
"""What a record may carry besides its message; anything else stays out of the log."""

SECRETS = re.compile(r"(dj_[0-9a-z]{8,32}_)[0-9A-Za-z_-]+|(?i:(bearer|basic)\s+)\S+|(://[^/\s:@]*:)[^@/\s]+@")

LONGEST_MESSAGE = 2_000


def redacted(text: str) -> str:
    """The text with whatever looks like a key or a password taken out.

    >>> redacted("dj_0123456789abcdef_s3cr3t and postgresql://me:hidden@db/x, Authorization: Bearer abc")
    'dj_0123456789abcdef_*** and postgresql://me:***@db/x, Authorization: Bearer ***'
    """

    def hide(match: re.Match[str]) -> str:
        if match[1]:
            return f"{match[1]}***"
        return f"{match[0].split()[0]} ***" if match[2] else f"{match[3]}***@"

    return SECRETS.sub(hide, text)


class JsonLines(logging.Formatter):
    """One JSON object per record. Of an exception only its kind and where it was raised: messages may quote items."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redacted(record.getMessage())[:LONGEST_MESSAGE],
        }
        for name in FIELDS:
            if (value := getattr(record, name, None)) is not None:
                line[name] = redacted(value)[:LONGEST_MESSAGE] if isinstance(value, str) else value
        if record.exc_info and record.exc_info[1] is not None:
            line.update(told_without_values(record.exc_info[1]))
        return json.dumps(line, ensure_ascii=True, separators=(",", ":"))


def told_without_values(error: BaseException) -> dict[str, Any]:
    """An exception's kind and the places it passed, innermost last."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames[-12:]]
    return {"error": type(error).__qualname__, "places": places}


def set_up(level: str = "info", stream: IO[str] | None = None) -> logging.Handler:
    """Send the service's records, and uvicorn's, as JSON lines to standard error (or `stream`)."""
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(JsonLines())
    for name in (LOGGER, "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level.upper())
        logger.propagate = False
    return handler
