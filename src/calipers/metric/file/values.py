"""Python values as JSON, and the checks of JSON values that are read."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any, TypeAlias

import numpy as np

Json: TypeAlias = str | int | float | bool | list[Any] | dict[str, Any] | None

_LONGEST_TEXT = 200
_DEEPEST = 8
_MOST_ITEMS = 10_000
_HALF = re.compile("[\ud800-\udfff]")  # of a character, which no file and no terminal takes


class NotPlainError(Exception):
    """A value has no form in JSON other than a description of it."""


def to_json(value: Any, *, depth: int = 0) -> Json:
    """Return the value as JSON has it; what JSON does not have becomes a short text.

    A dataclass or a named tuple becomes an object of its fields with its class as ``type``, an
    array its shape and dtype.

    >>> from fractions import Fraction
    >>> to_json({"ratio": Fraction(1, 3), "sizes": (np.int64(1), 2)})
    {'ratio': '1/3', 'sizes': [1, 2]}
    >>> to_json(np.eye(2))
    {'type': 'ndarray', 'shape': [2, 2], 'dtype': 'float64'}
    """
    try:
        return plain(value, depth=depth)
    except NotPlainError:
        pass
    parts = None if depth > _DEEPEST else _parts(value)
    if isinstance(parts, dict):
        return {text(key): to_json(part, depth=depth + 1) for key, part in parts.items()}
    if isinstance(parts, list) and len(parts) <= _MOST_ITEMS:
        return [to_json(part, depth=depth + 1) for part in parts]
    return text(value)[:_LONGEST_TEXT]


def plain(value: Any, *, depth: int = 0) -> Json:
    """Return the value as JSON has it.

    Raises
    ------
    NotPlainError
        JSON has no such value, it holds an array, or it is very long.
    """
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str):
        return text(value)
    if value is None or is_number(value):
        return value  # type: ignore[no-any-return]
    if isinstance(value, int | float):  # beyond what readers take
        return str(value)[:_LONGEST_TEXT]
    parts = None if depth > _DEEPEST else _parts(value)
    if parts is None or isinstance(value, np.ndarray) or len(parts) > _MOST_ITEMS:
        raise NotPlainError
    if isinstance(parts, dict):
        return {text(key): plain(part, depth=depth + 1) for key, part in parts.items()}
    return [plain(part, depth=depth + 1) for part in parts]


def _parts(value: Any) -> dict[str, Any] | list[Any] | None:
    """What a container holds; None for what is no container."""
    if isinstance(value, np.ndarray):
        return {"type": "ndarray", "shape": list(value.shape), "dtype": str(value.dtype)}
    if is_dataclass(value) and not isinstance(value, type):
        return {
            "type": type(value).__name__,
            **{part.name: getattr(value, part.name) for part in fields(value)},
        }
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {"type": type(value).__name__, **value._asdict()}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return dict(value)
    return list(value) if isinstance(value, list | tuple) else None


def text(value: object) -> str:
    r"""Return the text; halves of characters, which cannot be written, as ``\ud800``."""
    return str(value).encode("utf-8", "backslashreplace").decode()


# Checks of what is read


def is_text(value: Any) -> bool:
    """Whether it is a text that can be shown and written again."""
    return isinstance(value, str) and not _HALF.search(value)


def is_texts(value: Any) -> bool:
    """Whether it is a list of texts."""
    return isinstance(value, list) and all(map(is_text, value))


def is_names(value: Any) -> bool:
    """Whether it is a list of texts that are told apart."""
    return is_texts(value) and len(set(value)) == len(value)


def is_number(value: Any) -> bool:
    """Whether it is a finite number, or an integer of 64 bits."""
    if isinstance(value, int):
        return abs(value) < 2**63
    return isinstance(value, float) and isfinite(value)


def is_scalar(value: Any) -> bool:
    """Whether it is a text, a number, true, false or null."""
    return value is None or is_text(value) or is_number(value)


def is_scalars(value: Any) -> bool:
    """Whether it is a list of scalars."""
    return isinstance(value, list) and all(map(is_scalar, value))


def is_json(value: Any, *, depth: int = 0) -> bool:
    """Whether it is a scalar, or a list or an object of such values that is not nested deeply."""
    if isinstance(value, list):
        return depth <= _DEEPEST + 1 and all(is_json(part, depth=depth + 1) for part in value)
    return is_object(value, depth=depth) if isinstance(value, dict) else is_scalar(value)


def is_object(value: Any, *, depth: int = 0) -> bool:
    """Whether it is an object of JSON values that is not nested deeply."""
    return (
        isinstance(value, dict)
        and depth <= _DEEPEST + 1
        and all(is_text(key) and is_json(part, depth=depth + 1) for key, part in value.items())
    )
