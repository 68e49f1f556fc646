"""The contents of a file without the arrays, as JSON, and its validation.

A header comes from anyone. Each entry is checked for its type before it is used, and none
of them names a class, a module or a path that would be followed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from calipers.metric.file.container import DamagedError
from calipers.metric.file.contents import KINDS, Contents
from calipers.metric.file.encoder import encoder_problem
from calipers.metric.file.values import is_names, is_object, is_scalars, is_text, is_texts

FORMAT = 2
"""Rises when older programs would misread what newer ones write. Format 1 was never released."""

LONGEST = 16 << 20
"""Most characters that a header may have."""

_ABSENT = object()


class OtherFormatError(Exception):
    """The header is of another format.

    Parameters
    ----------
    version : int
        The format.
    written_by : str
        Version of Calipers that wrote it.
    """

    def __init__(self, version: int, written_by: str) -> None:
        super().__init__(version, written_by)
        self.version, self.written_by = version, written_by


def to_text(contents: Contents) -> str:
    """Return the header of the contents."""
    return json.dumps(
        {
            "format": FORMAT,
            "kind": contents.kind,
            "calipers": contents.written_by,
            "learner": contents.learner,
            "recipe": contents.recipe,
            "parameters": contents.parameters,
            "resolved": contents.resolved,
            "facts": contents.facts,
            "notes": contents.notes,
            "feature_names": contents.feature_names,
            "classes": contents.classes,
            "label": contents.label,
            "encoder": contents.encoder,
        },
        allow_nan=False,
    )


def parse(text: str) -> dict[str, Any]:
    """Return a header of this format; its entries are not checked yet.

    Raises
    ------
    DamagedError
        It is no header.
    OtherFormatError
        It is of another format.
    """
    if len(text) > LONGEST:
        raise DamagedError(f"its header has {len(text):,} characters of at most {LONGEST:,}")
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise DamagedError("its header is not JSON") from wrong
    if not isinstance(header, dict):
        raise DamagedError("its header is not a JSON object")
    version = header.get("format")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise DamagedError("its header names no format")
    if version != FORMAT:
        raise OtherFormatError(version, str(header.get("calipers", "?"))[:20])
    return header


def entries_of(header: dict[str, Any]) -> dict[str, Any]:
    """Check the entries and return them as `Contents` names them.

    Raises
    ------
    DamagedError
        An entry is missing or of another type.
    """

    def entry(key: str, what: str, fits: Callable[[Any], bool], *, null: bool = False) -> Any:
        value = header.get(key, _ABSENT)
        if (value is None and null) or (value is not _ABSENT and fits(value)):
            return value
        raise DamagedError(f"{key!r} in its header is not {what}")

    return {
        "kind": entry("kind", f"one of {', '.join(KINDS)}", lambda kind: kind in KINDS),
        "written_by": entry("calipers", "a text", is_text),
        "learner": entry("learner", "a text", is_text),
        "recipe": entry("recipe", "an object of JSON values", is_object, null=True),
        "parameters": entry("parameters", "an object of JSON values", is_object),
        "resolved": entry("resolved", "an object of JSON values", is_object),
        "facts": entry("facts", "an object of JSON values", is_object),
        "notes": entry("notes", "a list of texts", is_texts),
        "feature_names": entry("feature_names", "a list of distinct names", is_names, null=True),
        "classes": entry("classes", "a list of texts and numbers", is_scalars, null=True),
        "label": entry("label", "a text", is_text, null=True),
        "encoder": _encoder(entry("encoder", "a list", lambda value: True, null=True)),
    }


def _encoder(columns: Any) -> Any:
    problem = None if columns is None else encoder_problem(columns)
    if problem is not None:
        raise DamagedError(problem)
    return columns
