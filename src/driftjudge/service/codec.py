"""Dataclasses to JSON-able values and back by their annotations, for what is kept in the database."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def to_json(value: Any) -> Any:
    """Lists for tuples, mappings for dataclasses.

    >>> from driftjudge.service.values import ItemOut
    >>> from_json(ItemOut, to_json(ItemOut("i", 1, 1, True, ("a",)))) == ItemOut("i", 1, 1, True, ("a",))
    True
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [to_json(one) for one in value]
    return value


def from_json(kind: type[T], value: Any) -> T:
    """The value of this kind that `to_json` wrote. Fields that are missing take their defaults."""
    made: T = _read(kind, value)
    return made


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _read(kind: Any, value: Any) -> Any:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _read_union(get_args(kind), value)
    if origin is tuple and isinstance(value, list | tuple):
        inner = get_args(kind)
        if len(inner) == 2 and inner[1] is Ellipsis:
            return tuple(_read(inner[0], one) for one in value)
        return tuple(_read(each, one) for each, one in zip(inner, value, strict=True))
    if isinstance(kind, type) and is_dataclass(kind) and isinstance(value, Mapping):
        hints = _hints(kind)
        return kind(**{name: _read(hints[name], one) for name, one in value.items() if name in hints})
    return value


def _read_union(members: tuple[Any, ...], value: Any) -> Any:
    if value is None:
        return None
    for member in members:
        if isinstance(value, Mapping) and isinstance(member, type) and is_dataclass(member):
            return _read(member, value)
        if isinstance(value, list) and get_origin(member) is tuple:
            return _read(member, value)
    return value
