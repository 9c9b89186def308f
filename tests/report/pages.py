"""A page taken apart for the tests: its tags, its text and the chart specifications inside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "img", "br", "link", "input", "hr"}


class Page(HTMLParser):
    """Start tags with attributes in order; visible text; scripts apart."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")
        if tag == "style":
            self.styles.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        opened = self.open.pop()
        assert opened == tag, f"</{tag}> closes <{opened}>"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif self.open and self.open[-1] == "style":
            self.styles[-1] += data
        else:
            self.text += data

    def all(self, tag: str) -> list[dict[str, str]]:
        """Attributes of every such tag."""
        return [attributes for name, attributes in self.tags if name == tag]

    def specifications(self) -> list[dict[str, Any]]:
        """The light and dark specification of every figure."""
        kinds = [attributes.get("type") for attributes in self.all("script")]
        found = [json.loads(text) for kind, text in zip(kinds, self.scripts, strict=True) if kind == "application/json"]
        return [modes[mode] for modes in found for mode in ("light", "dark")]


def within(spec: Any, key: str) -> Iterator[Any]:
    """Every value under `key`, at any depth."""
    if isinstance(spec, dict):
        for name, value in spec.items():
            if name == key:
                yield value
            yield from within(value, key)
    elif isinstance(spec, list):
        for value in spec:
            yield from within(value, key)
