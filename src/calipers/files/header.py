"""The contents of a file but for the matrices, as JSON, and the check of what is read.

A header comes from anyone. Each entry is checked for its kind before it is used, and none
of them names a class, a module or a path that would be followed.
"""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any

from calipers.files.contents import Contents

FORMAT = 1
"""Rises when older programs would misread what newer ones write."""

LONGEST = 16 << 20
"""Most characters that a header may have."""

_MISSING = object()
_HALF = re.compile("[\ud800-\udfff]")  # of a character, which no file and no terminal takes


class HeaderError(Exception):
    """What is wrong with a header, as the end of a sentence."""


class FutureError(Exception):
    """The header is of a later format; the argument is the version that wrote it."""


def as_text(contents: Contents, checksum: str) -> str:
    """Return the header of ``contents``; ``checksum`` is that of its matrices."""
    return json.dumps(
        {
            "format": FORMAT,
            "calipers": contents.written_by,
            "learner": contents.learner,
            "parameters": contents.parameters,
            "feature_names": contents.feature_names,
            "classes": contents.classes,
            "label": contents.label,
            "facts": contents.facts,
            "notes": contents.notes,
            "sha256": checksum,
        },
        allow_nan=False,
    )


def from_text(text: str) -> tuple[dict[str, Any], str]:
    """Return the entries of a header as `Contents` names them, and the checksum.

    Raises
    ------
    HeaderError
        Something is wrong with it.
    FutureError
        It is of a later format.
    """
    if len(text) > LONGEST:
        raise HeaderError(f"its header has {len(text):,} characters of at most {LONGEST:,}")
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise HeaderError("its header is not JSON") from wrong
    if not isinstance(header, dict):
        raise HeaderError("its header is not a JSON object")
    version = header.get("format", _MISSING)
    if not _is_whole(version) or version < 1:
        raise HeaderError("its header names no format")
    if version > FORMAT:
        raise FutureError(str(header.get("calipers", "?"))[:20])
    entries = {
        "written_by": _entry(header, "calipers", "a text", _is_text),
        "learner": _entry(header, "learner", "a text", _is_text),
        "parameters": _entry(header, "parameters", "an object of plain values", _is_plain_object),
        "feature_names": _entry(header, "feature_names", "a list of names", _is_names, null=True),
        "classes": _entry(header, "classes", "a list of plain values", _is_plain_list, null=True),
        "label": _entry(header, "label", "a text", _is_text, null=True),
        "facts": _entry(header, "facts", "an object of plain values and curves", _is_facts),
        "notes": _entry(header, "notes", "a list of texts", _is_texts),
    }
    return entries, _entry(header, "sha256", "a text", _is_text)


def _entry(header: dict[str, Any], key: str, kind: str, fits: Any, *, null: bool = False) -> Any:
    value = header.get(key, _MISSING)
    if (value is None and null) or (value is not _MISSING and fits(value)):
        return value
    raise HeaderError(f"{key!r} in its header is not {kind}")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not _HALF.search(value)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_names(value: Any) -> bool:
    """Texts that are told apart; a flipped bit may make two of them one."""
    return _is_texts(value) and len(set(value)) == len(value)


def _is_plain(value: Any) -> bool:
    return value is None or _is_text(value) or _is_number(value)


def _is_number(value: Any) -> bool:
    if isinstance(value, int):
        return abs(value) < 2**63
    return isinstance(value, float) and isfinite(value)


def _is_plain_list(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_plain, value))


def _is_plain_object(value: Any) -> bool:
    return isinstance(value, dict) and all(
        _is_text(key) and _is_plain(part) for key, part in value.items()
    )


def _is_facts(value: Any) -> bool:
    return isinstance(value, dict) and all(
        _is_text(key)
        and (_is_plain(fact) or (isinstance(fact, list) and all(map(_is_number, fact))))
        for key, fact in value.items()
    )
