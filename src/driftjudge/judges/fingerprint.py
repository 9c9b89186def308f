"""Who a judge is, in readable parts and as one hash that is stored with every score and is part of every cache key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

FORMAT = "1"
"""Raised whenever the same settings would be put to the model, or its answers read, in another way."""


@dataclass(frozen=True)
class Identity:
    """Everything that may change a score: provider, model, rendered prompt, rubric texts, scale, sampling settings."""

    parts: Mapping[str, str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", MappingProxyType({"format": FORMAT, **self.parts}))

    @property
    def fingerprint(self) -> str:
        """A hash of all parts.

        >>> Identity({"model": "a"}).fingerprint == Identity({"model": "b"}).fingerprint
        False
        """
        text = json.dumps(dict(self.parts), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def changes(self, other: Identity) -> tuple[str, ...]:
        """The names of the parts in which two judges differ."""
        names = dict.fromkeys([*self.parts, *other.parts])
        return tuple(name for name in names if self.parts.get(name) != other.parts.get(name))
