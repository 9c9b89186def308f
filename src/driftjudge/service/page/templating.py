"""The templates: escaped by default, strict about names, loaded from the package."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from driftjudge.report import _words
from driftjudge.service.page import words


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("driftjudge.service.page", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "age": words.age,
        "moment": words.moment,
        "figure": _words.figure,
        "signed": _words.signed,
        "listed": _words.listed,
    }
    environment.globals |= {
        "interval": _words.interval,
        "standing": words.standing,
        "tone": words.tone,
        "progress": words.progress,
        "condition_words": words.CONDITIONS,
        "asset": asset_url,
    }
    return environment


def page(template: str, **values: Any) -> str:
    """A page as text."""
    return _environment().get_template(template).render(**values)


@cache
def static(name: str) -> tuple[bytes, str] | None:
    """A static file and its media type; None for a name we do not serve."""
    homes = {
        "report.css": ("driftjudge.report", "assets", "text/css"),
        "page.css": ("driftjudge.service.page", "static", "text/css"),
        "page.js": ("driftjudge.service.page", "static", "text/javascript"),
        "icon.svg": ("driftjudge.service.page", "static", "image/svg+xml"),
    }
    if name not in homes:
        return None
    package, folder, media = homes[name]
    return resources.files(package).joinpath(folder, name).read_bytes(), media


@cache
def asset_url(name: str) -> str:
    """Where a static file is; another address with every change of it, so that it may be kept for long."""
    found = static(name)
    assert found is not None, name
    return f"/static/{name}?v={hashlib.sha256(found[0]).hexdigest()[:12]}"
